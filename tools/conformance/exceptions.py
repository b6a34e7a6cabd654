"""Exceptions: what is known not to agree, by name, each with its reason; kept in a text file beside this."""

from pathlib import Path

FILE = Path(__file__).with_name("exceptions.txt")


def read(file: Path = FILE) -> dict[str, str]:
    """The reason of each exception, by "section name".

    Raises:
        ValueError: a line is no exception, or has no reason.
    """
    reasons: dict[str, str] = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, bar, reason = (part.strip() for part in text.partition("|"))
        if not bar or not reason or " " not in name:
            raise ValueError(f"{file.name}:{number}: 'section name | reason' is expected")
        reasons[name] = reason
    return reasons
