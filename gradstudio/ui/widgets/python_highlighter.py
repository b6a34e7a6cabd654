"""Colours for Python, line by line: a text that is being typed is coloured too, whatever is still missing in it."""

import builtins
import keyword
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from gradstudio.ui.theme import Theme

Share = tuple[int, int, str]
"""Column, length, and the role in `Theme.syntax`."""
PLAIN, IN_SINGLE, IN_DOUBLE = 0, 1, 2
"""What a line begins in: code, or a text between three quotes of a kind that began on a line before."""
LONGEST = 5_000
"""Characters of a line that are coloured; what is behind them is plain."""
_QUOTES: Final = {"'''": IN_SINGLE, '"""': IN_DOUBLE}
_ENDS: Final = {
    IN_SINGLE: re.compile(r"(?:[^\\']|\\.|'(?!''))*'''"),
    IN_DOUBLE: re.compile(r'(?:[^\\"]|\\.|"(?!""))*"""'),
}
_TOKEN: Final = re.compile(
    r"""
    (?P<comment>\#.*)
  | (?P<triple>(?i:[rbuf]{0,2})(?:'''|\"\"\"))
  | (?P<string>(?i:[rbuf]{0,2})(?:'(?:[^\\']|\\.)*(?:'|\\?$)|"(?:[^\\"]|\\.)*(?:"|\\?$)))
  | (?P<name>[^\W\d]\w*)(?P<called>(?=\())?
  | (?P<number>0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?)
  | (?P<operator>[^\w\s])
    """,
    re.VERBOSE,
)
_BUILTINS = frozenset(dir(builtins))


class Change(NamedTuple):
    """Lines from `start` to before `old_end` become those to before `new_end`; never none on one side only."""

    start: int
    old_end: int
    new_end: int


def changed_lines(old: Sequence[str], new: Sequence[str]) -> Change:
    """Which lines are others, when one text follows another; both have lines."""
    shorter = min(len(old), len(new))
    start = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    same = next((k for k in range(shorter - start) if old[-1 - k] != new[-1 - k]), shorter - start)
    old_end, new_end = len(old) - same, len(new) - same
    if old_end == new_end == start or (start < old_end and start < new_end):
        return Change(start, old_end, new_end)
    return Change(start - 1, old_end, new_end) if start else Change(start, old_end + 1, new_end + 1)


def shares(text: str) -> dict[int, list[Share]]:
    """What to colour on each line (from 0) of a text; lines without colours are left out."""
    found, state = {}, PLAIN
    for number, line in enumerate(text.split("\n")):
        told, state = line_shares(line, state)
        if told:
            found[number] = told
    return found


def line_shares(line: str, state: int = PLAIN) -> tuple[list[Share], int]:
    """What to colour on one line that begins in a state, and the state of the next line."""
    told: list[Share] = []
    for start, end, role, after in _parts(line[:LONGEST], state):
        state = after
        if role and end > start:
            told.append((start, end - start, role))
    return told, state


def _parts(line: str, state: int) -> Iterator[tuple[int, int, str, int]]:
    """Start, end and role of every token, and the state behind it."""
    at = 0
    while at < len(line) or state != PLAIN:
        if state != PLAIN:
            closed = _ENDS[state].match(line, at)
            state = PLAIN if closed else state
            yield at, closed.end() if closed else len(line), "string", state
            if closed is None:
                return
            at = closed.end()
            continue
        token = _TOKEN.match(line, at)
        if token is None:
            at += 1
            continue
        kind = token.lastgroup or ""
        if kind == "triple":
            state = _QUOTES[token.group()[-3:]]
        role = "string" if kind == "triple" else _role(kind, token.group())
        yield at, token.end(), role, state
        at = token.end()
    yield at, at, "", state


def _role(kind: str, text: str) -> str:
    if kind not in ("name", "called"):
        return kind
    if keyword.iskeyword(text):
        return "keyword"
    return "call" if kind == "called" or text in _BUILTINS else ""


class PythonHighlighter(QSyntaxHighlighter):
    """Colours one document in a theme, as it is typed.

    Attributes:
        is_paused: what changes now stays plain, until it is highlighted again.
    """

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        """Colour what the document holds and will hold."""
        super().__init__(document)
        self.is_paused = False
        self._formats: dict[str, QTextCharFormat] = {}
        self._make_formats(theme)

    def set_theme(self, theme: Theme) -> None:
        """Colour anew."""
        self._make_formats(theme)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        if self.is_paused:
            self.setCurrentBlockState(PLAIN)  # else the first that is coloured would lead to all behind it
            return
        told, state = line_shares(text, max(PLAIN, self.previousBlockState()))
        for column, length, role in told:
            self.setFormat(column, length, self._formats[role])
        self.setCurrentBlockState(state)

    def _make_formats(self, theme: Theme) -> None:
        for role in ("keyword", "string", "number", "comment", "operator", "call"):
            made = QTextCharFormat()
            made.setForeground(QColor(getattr(theme.syntax, role)))
            made.setFontItalic(role == "comment")
            self._formats[role] = made
