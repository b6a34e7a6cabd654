"""When a file was saved, in the words of a person. No Qt."""

from datetime import datetime


def relative_date(then: datetime, now: datetime) -> str:
    """``today 14:02``, ``yesterday 9:30``, ``3 days ago``, ``12 March 2025``."""
    days = (now.date() - then.date()).days
    clock = f"{then.hour}:{then.minute:02}"
    if days == 0:
        return f"today {clock}"
    if days == 1:
        return f"yesterday {clock}"
    if 0 < days < 7:
        return f"{days} days ago"
    return f"{then.day} {then.strftime('%B')} {then.year}"
