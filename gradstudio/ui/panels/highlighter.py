"""Colours for Python: a text is tokenised once, lines take their share from it; of another text only what differs."""

import builtins
import io
import keyword
import tokenize
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from gradstudio.ui.theme import Theme

Share = tuple[int, int, str]
"""Column, length, and the role in `Theme.syntax`."""
_BUILTINS = frozenset(dir(builtins))
_LAYOUT = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


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
    """What to colour on each line (from 0); nothing of a text that is no Python."""
    return _shares(text) or {}


def _shares(text: str) -> dict[int, list[Share]] | None:
    found: dict[int, list[Share]] = defaultdict(list)
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    for k, token in enumerate(tokens):
        role = _role(token, tokens[k + 1] if k + 1 < len(tokens) else None)
        if role:
            _spread(found, lines, token, role)
    return found


class PythonHighlighter(QSyntaxHighlighter):
    """Colours one document in a theme; call `tokenise` before the text is set.

    Attributes:
        colours: what to colour on each line.
    """

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        """Nothing is coloured until `tokenise`."""
        super().__init__(document)
        self._lines, self._is_python = [""], True
        self.colours: list[list[Share]] = [[]]
        self._formats: dict[str, QTextCharFormat] = {}
        self._make_formats(theme)

    def tokenise(self, text: str) -> Change:
        """Work out the colours of a text that is about to be set; which lines look different from before."""
        old, lines = self._lines, text.split("\n")
        change = changed_lines(old, lines)
        found = _shares("\n".join(lines[change.start : change.new_end])) if self._is_python else None
        if found is None:  # they begin or end in the middle of a statement
            change, found = Change(0, len(old), len(lines)), _shares(text)
            self._is_python = found is not None
        told = found or {}
        self.colours[change.start : change.old_end] = [told.get(k, []) for k in range(change.new_end - change.start)]
        self._lines = lines
        return change

    def set_theme(self, theme: Theme) -> None:
        """Colour anew."""
        self._make_formats(theme)
        self.rehighlight()

    def highlightBlock(self, _text: str) -> None:
        number = self.currentBlock().blockNumber()
        for column, length, role in self.colours[number] if number < len(self.colours) else ():
            self.setFormat(column, length, self._formats[role])

    def _make_formats(self, theme: Theme) -> None:
        for role in ("keyword", "string", "number", "comment", "operator", "call"):
            made = QTextCharFormat()
            made.setForeground(QColor(getattr(theme.syntax, role)))
            made.setFontItalic(role == "comment")
            self._formats[role] = made


def _role(token: tokenize.TokenInfo, following: tokenize.TokenInfo | None) -> str:
    if token.type in _LAYOUT:
        return ""
    if token.type == tokenize.NAME:
        if keyword.iskeyword(token.string):
            return "keyword"
        called = following is not None and following.string == "(" and following.start == token.end
        return "call" if called or token.string in _BUILTINS else ""
    return {
        tokenize.STRING: "string",
        tokenize.NUMBER: "number",
        tokenize.COMMENT: "comment",
        tokenize.OP: "operator",
    }.get(token.type, "")


def _spread(found: dict[int, list[Share]], lines: list[str], token: tokenize.TokenInfo, role: str) -> None:
    (first, start), (last, end) = token.start, token.end
    for line in range(first, last + 1):
        left = start if line == first else 0
        right = end if line == last else len(lines[line - 1])
        found[line - 1].append((left, right - left, role))
