"""The statements of a text as its lines: where each begins and ends, with what indentation and comments."""

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gradstudio.graph.text.code_text import indented, outdented
from gradstudio.program.reading.code.code_statement import first_line, last_line

_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_OVER_LINES = ('"""', "'''", "\\\n")
"""Without one of these no text goes over several lines."""
_INNER = ("body", "orelse", "finalbody")
_MANY = ("handlers", "cases")


class Statement(msgspec.Struct, frozen=True):
    """A statement, or those that share a line.

    Attributes:
        nodes: its syntax; several where they share a line.
        first, last: its lines from 1, decorators and what stands in its blocks included.
        head_last: the last line of what stands before its blocks.
        end: column behind the head's last token.
        parent: number of the statement in whose block it stands; -1: none.
        within: the names of the definitions around it, outermost first.
        key: the head without indentation and comment behind it.
    """

    nodes: tuple[ast.stmt, ...]
    first: int
    last: int
    head_last: int
    end: int
    parent: int
    within: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def node(self) -> ast.stmt:
        """The first of its nodes."""
        return self.nodes[0]

    @property
    def name(self) -> str:
        """What a definition is called; "" of another statement."""
        return getattr(self.node, "name", "") if is_definition(self.node) else ""


class Token(msgspec.Struct, frozen=True):
    """A word or sign of a text; `value` is the same for two spellings of one text."""

    value: str
    line: int
    start: int
    end_line: int
    end: int


class StatementLines:
    """A text by its statements, in the order of their lines.

    Attributes:
        lines: of the text, from 0.
        statements: all of them.
    """

    def __init__(self, text: str, *, into_all: bool = False) -> None:
        """Look at a text that parses; `into_all`: also into blocks that have more parts than one.

        Raises:
            SyntaxError: it cannot be told where its words stand.
        """
        self.lines: Sequence[str] = text.split("\n")
        self._tokens: dict[int, list[Token]] = {}
        for token in _tokens(text):
            self._tokens.setdefault(token.line, []).append(token)
        self.statements: list[Statement] = []
        self._into_all = into_all
        self._add(ast.parse(text).body, -1, ())
        self._at: dict[int, int] = {}
        for number, one in enumerate(self.statements):
            self._at.update(dict.fromkeys(range(one.first, one.head_last + 1), number))

    def at(self, line: int) -> int | None:
        """The number of the statement whose head stands on a line."""
        return self._at.get(line)

    def tokens(self, first: int, last: int) -> list[Token]:
        """The words and signs on these lines."""
        return [token for line in range(first, last + 1) for token in self._tokens.get(line, ())]

    def end_of(self, number: int) -> int:
        """The number behind all statements that stand in this one."""
        last = self.statements[number].last
        after = number + 1
        while after < len(self.statements) and self.statements[after].first <= last:
            after += 1
        return after

    def indent(self, number: int) -> str:
        """The spaces before a statement."""
        line = self.lines[self.statements[number].first - 1]
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def with_comments(self, number: int) -> int:
        """The first line of the comments directly above a statement, as deep as it; its own where there are none."""
        first, indent = self.statements[number].first, self.indent(number)
        while first > 1 and _is_comment(self.lines[first - 2], indent):
            first -= 1
        return first

    def above(self, number: int) -> list[tuple[int, str]]:
        """The comments that stand alone between a statement and what is above it, each with its line."""
        first, found = self.statements[number].first - 1, list[tuple[int, str]]()
        while first and (not self.lines[first - 1].strip() or _is_comment(self.lines[first - 1], None)):
            if self.lines[first - 1].strip():
                found.append((first, self.lines[first - 1].strip()))
            first -= 1
        return found[::-1]

    def beside(self, number: int) -> str:
        """The comment behind the head of a statement, with the spaces before it."""
        one = self.statements[number]
        return self.lines[one.head_last - 1][one.end :].rstrip()

    def text(self, first: int, last: int, width: int, indent: str) -> list[str]:
        """Whole lines with another indentation in place of one that is so wide."""
        return indented(outdented(list(self.lines[first - 1 : last]), width), indent)

    def _add(self, statements: Sequence[ast.stmt], parent: int, within: tuple[str, ...]) -> None:
        for nodes in _sharing_lines(statements):
            node = nodes[0]
            blocks = list(self._blocks(node)) if len(nodes) == 1 else []
            first, last = first_line(node), last_line(nodes[-1])
            head = self.tokens(first, (first_line(blocks[0][0]) - 1) if blocks else last)
            if not head:
                continue
            width = len(self.lines[first - 1]) - len(self.lines[first - 1].lstrip(" \t\f"))
            key = outdented([*self.lines[first - 1 : head[-1].end_line - 1], self._until(head[-1])], width)
            number = len(self.statements)
            one = Statement(nodes, first, last, head[-1].end_line, head[-1].end, parent, within, tuple(key.split("\n")))
            self.statements.append(one)
            inner = (*within, one.name) if one.name else within
            for block in blocks:
                self._add(block, number, inner)

    def _until(self, token: Token) -> str:
        return self.lines[token.end_line - 1][: token.end]

    def _blocks(self, node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
        """The blocks of a statement that begin on lines of their own; none where it has more parts, unless into all."""
        blocks = [block for name in _INNER if (block := getattr(node, name, None))]
        blocks += [part.body for name in _MANY for part in getattr(node, name, ())]
        if len(blocks) > 1 and not self._into_all:
            return
        blocks.sort(key=lambda block: first_line(block[0]))
        for block in blocks:
            starts = self.tokens(first_line(block[0]), first_line(block[0]))
            if starts and starts[0].start < block[0].col_offset and not _is_decorated(block[0]):
                return  # `if x: y`
        yield from blocks


def is_definition(node: ast.stmt) -> bool:
    """Whether it is a function or a class."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _is_decorated(node: ast.stmt) -> bool:
    return first_line(node) < node.lineno


def _sharing_lines(statements: Iterable[ast.stmt]) -> Iterator[tuple[ast.stmt, ...]]:
    together: list[ast.stmt] = []
    for one in statements:
        if together and first_line(one) > last_line(together[-1]):
            yield tuple(together)
            together = []
        together.append(one)
    if together:
        yield tuple(together)


def _is_comment(line: str, indent: str | None) -> bool:
    """Whether nothing but a comment stands on a line, as deep as that says where it says so."""
    text = line.lstrip(" \t\f")
    is_there = text.startswith("#") if indent is None else line.startswith(indent + "#")
    return is_there and not text.startswith(("# region:", "# endregion"))


def _tokens(text: str) -> Iterator[Token]:
    try:
        for one in tokenize.generate_tokens(io.StringIO(text).readline):
            if one.type not in _LAYOUT:
                value = _value(one.string) if one.type == tokenize.STRING else one.string
                yield Token(value, one.start[0], one.start[1], one.end[0], one.end[1])
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from error


def _value(string: str) -> str:
    """A text without the quotes that it happens to be written with."""
    try:
        return repr(ast.literal_eval(string))
    except (SyntaxError, ValueError):
        return string  # an f-string


def lines_within_texts(code: str) -> frozenset[int]:
    """The lines (from 1) that begin inside of a text over several lines, where ``#`` and nothing say something."""
    if not any(sign in code for sign in _OVER_LINES):
        return frozenset()
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return frozenset(line for token in tokens for line in range(token.start[0] + 1, token.end[0] + 1))
