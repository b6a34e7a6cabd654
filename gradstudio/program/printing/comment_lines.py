"""Comments: notes, titles and what cannot run, as lines that can never be anything but comments."""

from gradstudio.late_pattern import late

INDENT = "    "
_MARKER = late(r"\s*(region:|endregion|\\)")
_COOKIE = late(r"coding[:=]")
_AS_WRITTEN = late(r"(?i)coding[:=][ \t]*utf-?8(?![-\w.])")
"""A script is written in UTF-8, and may say so."""


def comment_lines(text: str) -> list[str]:
    """A note as lines ``# text``; one that would read as a marker gets a leading backslash (semantics §14).

    An empty line of it is a blank line, one of spaces alone an empty comment.
    """
    lines = []
    for line in text.splitlines():
        if not line:
            lines.append("")
        elif _MARKER.match(line):
            lines.append(_comment(f"\\{line}"))
        else:
            lines.append(_comment(line))
    return lines


def paragraphs(text: str) -> list[str]:
    """A note as lines of a script: no blank line at its top, never two in a row, one at its end where it has some."""
    lines: list[str] = []
    for line in comment_lines(text):
        if line or (lines and lines[-1]):
            lines.append(line)
    return [*lines, ""] if text.endswith("\n") and lines and lines[-1] else lines


def region(title: str) -> str:
    """The line that opens a titled group."""
    return _comment("region: " + " ".join(title.split()))


def remark(text: str) -> str:
    """A line about something that is not part of the program."""
    return _comment(" ".join(text.splitlines()))


def declares_encoding(lines: list[str]) -> bool:
    """Whether Python would take a comment among the first two lines for an encoding that the file has not."""
    comments = [line for line in lines[:2] if line.lstrip().startswith("#")]
    return any(len(_COOKIE.findall(line)) > len(_AS_WRITTEN.findall(line)) for line in comments)


def _comment(text: str) -> str:
    shown = text
    if not text.isprintable():
        shown = "".join(c if c.isprintable() or c == "\t" or ord(c) > 0xFFFF or c.isspace() else "\ufffd" for c in text)
    return f"# {shown}".rstrip()
