"""Lines of a text and how far they stand in."""

import re

Lines = list[str]
BLANK = re.compile(r"\s*$")


def indent_of(line: str) -> int:
    """How many columns a line stands in."""
    return len(line) - len(line.lstrip(" "))


def is_blank(line: str) -> bool:
    """Whether nothing stands there."""
    return not line.strip()


def dedent(lines: Lines) -> Lines:
    """Without the indentation that all share, and without blank lines at both ends."""
    told = [line.rstrip() for line in lines]
    while told and not told[0]:
        told.pop(0)
    while told and not told[-1]:
        told.pop()
    least = min((indent_of(line) for line in told if line), default=0)
    return [line[least:] for line in told]


def indented_end(lines: Lines, start: int, least: int = 1) -> int:
    """Where the block that stands in by at least so much ends; blank lines at its end are not of it."""
    end = at = start
    while at < len(lines) and (is_blank(lines[at]) or indent_of(lines[at]) >= least):
        at += 1
        if not is_blank(lines[at - 1]):
            end = at
    return end
