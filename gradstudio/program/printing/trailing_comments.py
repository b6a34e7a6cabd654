"""Beside: a comment behind a statement, where `ruff format` leaves it there; else on a line above."""

import unicodedata

from gradstudio.late_pattern import late
from gradstudio.program.printing.comment_lines import comment_lines, remark
from gradstudio.program.printing.line_wrapping import WIDTH
from gradstudio.program.printing.pretty_printer import columns

GAP = "  "
_TAB = " " * 4
_PRAGMA = late(r"#\s*((?i:noqa)|(isort|type|pyright|pylint|flake8|ruff|ty):)")
"""Comments whose length does not count."""
_BEHIND = late(r"[\])}:]*  (#.*)")
_CLOSED = late(r"\s*\)  (#.*)")


def with_comment(lines: tuple[str, ...], text: str) -> tuple[tuple[str, ...], int]:
    """A statement's lines with its comment, and how many of them now stand above it (0 or 1)."""
    shown = remark(text) if text.strip() else "#"
    if shown == "#":
        return lines, 0
    if _stays(lines, shown):
        return (*lines[:-1], f"{lines[-1]}{GAP}{shown}"), 0
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return (*(indent + line for line in comment_lines(shown[2:])), *lines), 1


def comment_behind(lines: list[str], line: int, column: int) -> str:
    """The comment behind a statement that ends in line `line` (from 0) at a column, its `#` included; "" if none."""
    found = _BEHIND.fullmatch(lines[line], column)
    below = lines[line + 1] if found is None and line + 1 < len(lines) else ""
    found = found or _CLOSED.fullmatch(below)  # the bracket that was put around a long value
    return found[1] if found is not None else ""


def _stays(lines: tuple[str, ...], comment: str) -> bool:
    if len(lines) == 3 and lines[0].endswith("= ("):
        return False  # it would be moved into the brackets around a value that cannot be broken
    wide = columns(lines[-1]) + len(GAP) + _columns(comment)
    return wide <= WIDTH or (_PRAGMA.match(comment) is not None and columns(lines[-1]) <= WIDTH)


def _columns(comment: str) -> int:
    """How many columns a comment takes; rather too many where that depends on who counts."""
    rare = (c for c in comment if ord(c) > 0xFFFF and unicodedata.east_asian_width(c) not in "WF")
    return columns(comment.replace("\t", _TAB)) + sum(1 for _ in rare)
