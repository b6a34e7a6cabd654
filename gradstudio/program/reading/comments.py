"""Comments and blank lines of a text, given to the statements they belong to (SEMANTICS 14)."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass

_MARKED = re.compile(r"\\(\s*(region:|endregion|\\))")
_REGION = re.compile(r"region:\s*(.*)")


@dataclass(frozen=True)
class Comment:
    """One comment.

    Attributes:
        text: without the mark and one space behind it.
        alone: nothing else stands on its line.
    """

    line: int
    column: int
    text: str
    alone: bool

    @property
    def opens(self) -> str | None:
        """The title when it opens a group."""
        found = _REGION.fullmatch(self.text) if self.alone else None
        return found[1] if found else None

    @property
    def closes(self) -> bool:
        """Whether it closes a group."""
        return self.alone and self.text == "endregion"

    @property
    def note(self) -> str:
        """The text as a note: what was marked so as not to read as a marker is as it was."""
        return _MARKED.sub(r"\1", self.text, count=1) if _MARKED.match(self.text) else self.text


class Comments:
    """The comments of a text, taken one after the other as its statements are read."""

    def __init__(self, text: str) -> None:
        """Find them; the text parses."""
        self._waiting: list[Comment] = []
        self._blank = {number for number, line in enumerate(text.split("\n"), 1) if not line.strip()}
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                words = token.string[1:]
                alone = not token.line[:column].strip()
                self._waiting.append(Comment(line, column, words.removeprefix(" ").rstrip(), alone))
        self._waiting.reverse()

    def until(self, line: int) -> list[Comment]:
        """Take every comment up to a line, that line included."""
        found = []
        while self._waiting and self._waiting[-1].line <= line:
            found.append(self._waiting.pop())
        return found

    def tail(self, before: int, column: int) -> list[Comment]:
        """Take the comments that end a body: alone on lines above `before`, at least as deep as its statements."""
        found: list[Comment] = []
        while self._waiting:
            comment = self._waiting[-1]
            if comment.line >= before or not comment.alone or comment.column < column:
                break
            found.append(self._waiting.pop())
        return found

    def is_blank(self, line: int) -> bool:
        """Whether the line holds nothing."""
        return line in self._blank


def last_line_of_head(statement: ast.stmt) -> int:
    """The last line that belongs to a statement itself: of a block, of its head."""
    match statement:
        case ast.With(items=items):
            return max(item.context_expr.end_lineno or statement.lineno for item in items)
        case ast.For(iter=over):
            return over.end_lineno or statement.lineno
        case ast.If(test=test):
            return test.end_lineno or statement.lineno
        case _:
            return statement.end_lineno or statement.lineno
