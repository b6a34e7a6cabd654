"""Colours for Python: the whole text is tokenised once, lines take their share from it."""

import builtins
import io
import keyword
import tokenize
from collections import defaultdict

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from gradstudio.ui.theme import Theme

Share = tuple[int, int, str]
"""Column, length, and the role in `Theme.syntax`."""
_BUILTINS = frozenset(dir(builtins))
_LAYOUT = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def shares(text: str) -> dict[int, list[Share]]:
    """What to colour on each line (from 0). A text that is no Python keeps what was understood of it."""
    found: dict[int, list[Share]] = defaultdict(list)
    lines = text.splitlines()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return found
    for k, token in enumerate(tokens):
        role = _role(token, tokens[k + 1] if k + 1 < len(tokens) else None)
        if role:
            _spread(found, lines, token, role)
    return found


class PythonHighlighter(QSyntaxHighlighter):
    """Colours one document in a theme; call `tokenise` before the text is set."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        """Nothing is coloured until `tokenise`."""
        super().__init__(document)
        self._shares: dict[int, list[Share]] = {}
        self._formats: dict[str, QTextCharFormat] = {}
        self._make_formats(theme)

    def tokenise(self, text: str) -> None:
        """Work out the colours of a text that is about to be set."""
        self._shares = shares(text)

    def set_theme(self, theme: Theme) -> None:
        """Colour anew."""
        self._make_formats(theme)
        self.rehighlight()

    def highlightBlock(self, _text: str) -> None:
        for column, length, role in self._shares.get(self.currentBlock().blockNumber(), ()):
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
