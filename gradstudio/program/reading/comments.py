"""Comments and blank lines of a text, given to the statements they belong to (semantics §14)."""

import ast
import copy
import io
import keyword
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.while_loops import EndlessLoop

_HIDDEN = "It cannot be told how deep this line stands: take out the lines that hold only a backslash."
_ONLY_BACKSLASH = re.compile(r"^[ \t\f]*\\$", re.MULTILINE)
_MARKED = re.compile(r"\\(\s*(region:|endregion|\\))")
_OUTPUTS = re.compile(r"outputs:\s*(.*)")
_REGION = re.compile(r"region:\s*(.*)")


@dataclass(frozen=True)
class Comment:
    """One comment.

    Attributes:
        text: without the mark and one space behind it.
        alone: nothing else stands on its line.
        ends: it stands behind a whole statement, or behind a block's head.
    """

    line: int
    column: int
    text: str
    alone: bool
    ends: bool

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
        return _MARKED.sub(r"\1", self.text, count=1) if self.alone else self.text

    @property
    def beside(self) -> str:
        """The text as a comment beside a statement."""
        return " ".join(self.text.splitlines()).rstrip()


class Comments:
    """The comments of a text, taken one after the other as its statements are read.

    Attributes:
        lines: of the text.
    """

    def __init__(self, text: str) -> None:
        """Find them; the text parses.

        Raises:
            NotReadable: backslashes alone on their lines hide how deep a line stands.
        """
        self._waiting: list[Comment] = []
        self.lines: Sequence[str] = text.split("\n")
        self._blank = {number for number, line in enumerate(self.lines, 1) if not line.strip()}
        self._ends: list[int] = []
        before: tokenize.TokenInfo | None = None
        for token in _tokens(text):
            if token.type == tokenize.NEWLINE:
                self._ends.append(token.start[0])
            if before is not None:
                self._waiting.append(_comment(before, token.type == tokenize.NEWLINE))
            before = token if token.type == tokenize.COMMENT else None
        self._waiting.reverse()

    def take_out(self, first: int, last: int) -> "Comments":
        """The comments on some lines, which are no longer among these."""
        part = copy.copy(self)
        part._waiting = [one for one in self._waiting if first <= one.line <= last]
        self._waiting = [one for one in self._waiting if not first <= one.line <= last]
        return part

    def within(self, statement: ast.stmt) -> "Comments":
        """Those on the lines of a statement, taken out: they are among those of another."""
        return self.take_out(statement.lineno, statement.end_lineno or statement.lineno)

    def again(self) -> "Comments":
        """The same comments, to be taken once more."""
        part = copy.copy(self)
        part._waiting = list(self._waiting)
        return part

    def of(self, statement: ast.stmt, following: int) -> tuple[list[Comment], Comment | None]:
        """Take the comments that belong to a statement: those above and inside, and the one beside it, or its head.

        What stands behind several statements on one line is the last one's; `following` is the next one's line.
        """
        body = statement.typed if isinstance(statement, EndlessLoop) else getattr(statement, "body", None)
        last = last_line_of_head(statement)
        end = self._end_of(statement.lineno)
        if body and body[0].lineno > end:
            last = end  # the colon may stand below the last part of the head
        shared = min(following, body[0].lineno if body else following) <= last
        found: list[Comment] = []
        while self._waiting and self._waiting[-1].line <= last:
            comment = self._waiting[-1]
            if comment.line == last and comment.ends and not comment.alone:
                return found, None if shared else self._waiting.pop()
            found.append(self._waiting.pop())
        return found, None

    def outputs(self, line: int, count: int) -> tuple[str, ...]:
        """What the comment beside a `return` calls so many outputs, taken; () when it says nothing of that."""
        found = self._waiting[-1] if self._waiting else None
        said = _OUTPUTS.fullmatch(found.text) if found is not None and found.line == self._end_of(line) else None
        names = tuple(name.strip() for name in said[1].split(",")) if said is not None else ()
        if len(names) != count or len({*names}) != count or not all(map(_is_name, names)):
            return ()
        self._waiting.pop()
        return names

    def _end_of(self, line: int) -> int:
        """The last line of the logical line that holds a line."""
        return self._ends[bisect_left(self._ends, line)]

    def tail(self, before: int, column: int) -> list[Comment]:
        """Take the comments that end a body: alone on lines above `before`, at least as deep as its statements."""
        found: list[Comment] = []
        while self._waiting:
            comment = self._waiting[-1]
            if comment.line >= before or not comment.alone or comment.column < column:
                break
            found.append(self._waiting.pop())
        return found

    def is_blank(self, first: int, end: int | None = None) -> bool:
        """Whether the line holds nothing, or one of those before `end` does."""
        return any(line in self._blank for line in range(first, first + 1 if end is None else end))


class Notes:
    """Comments on their way to what stands below them, with the blank lines between them."""

    def __init__(self, comments: Comments) -> None:
        """None wait."""
        self._comments = comments
        self._lines: list[str] = []
        self._is_apart, self._last, self._taken = False, 0, 0

    def add(self, lines: Iterable[str], first: int, last: int | None = None) -> None:
        """Let lines wait that stand from line `first` to line `last` of the text; an empty one is an empty comment."""
        if not self._lines:
            self._is_apart = self._comments.is_blank(first - 1)
        elif self._comments.is_blank(self._last + 1, first):
            self._lines.append("")
        self._lines.extend(line.rstrip() or " " for line in lines)
        self._last = first if last is None else last

    def take(self, line: int) -> tuple[str, bool]:
        """The note of what stands on a line, an empty line at its end for a blank one; whether one is above it all."""
        is_next, self._taken = line == self._taken, line  # to what stands before it on its line
        if not self._lines:
            return "", not is_next and self._comments.is_blank(line - 1)
        gap = [""] if self._comments.is_blank(self._last + 1, line) else []
        note = "\n".join([*self._lines, *gap])
        self._lines.clear()
        return note, self._is_apart

    def end(self) -> str:
        """What stands below the last statement of a body, an empty line first for a blank one."""
        text = "\n".join([*([""] if self._lines and self._is_apart else []), *self._lines])
        self._lines.clear()
        return text


@lru_cache(maxsize=1)
def _tokens(text: str) -> tuple[tokenize.TokenInfo, ...]:
    """The tokens of a text that parses, which is read several times.

    WORKAROUND(tokenize takes the indentation of a backslash alone on its line for that of a statement, which Python's
    parser does not): then such lines count as blank.
    """
    try:
        return tuple(tokenize.generate_tokens(io.StringIO(text).readline))
    except (IndentationError, tokenize.TokenError):
        text = _ONLY_BACKSLASH.sub("", text)
    try:
        return tuple(tokenize.generate_tokens(io.StringIO(text).readline))
    except IndentationError as error:
        raise NotReadable(_HIDDEN, error.lineno or 1) from None
    except tokenize.TokenError as error:
        raise NotReadable(_HIDDEN, error.args[1][0]) from None


def _comment(token: tokenize.TokenInfo, ends: bool) -> Comment:
    line, column = token.start
    alone = not token.line[:column].strip()
    return Comment(line, column, token.string[1:].removeprefix(" ").rstrip(), alone, ends)


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


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)
