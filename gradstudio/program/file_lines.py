"""Lines of the Python text that a program was read from, in place of those of the script it is written as."""

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from textwrap import dedent
from typing import NamedTuple

from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.groups.code_ids import CodeCall
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_text import syntax_of
from gradstudio.graph.text.while_heads import condition_in
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import CodeLines, Program
from gradstudio.program.trust import may_need_yes


def line_in_file(program: Program, lines: Mapping[ItemId, int], node: ItemId, line: int) -> int:
    """The line of a file that a line of the script was read from; the script's, where the file has none.

    Args:
        program: whose script it is.
        lines: where the items begin in the file.
        node: what stands on the line, also inside calls.
        line: of the script; within undrawn Python, kept as typed but for what is drawn of it, any line.
    """
    item = path_of(node)[-1]
    if item not in lines:
        return line
    code = next((code for code in program.codes if code.node == item), None)
    return _line_of_code(code, lines, max(0, line - code.line)) if code is not None else lines[item]


def line_of_script(program: Program, lines: Mapping[ItemId, int], line: int) -> int:
    """The line of a file that a line of the script was read from, whatever stands there; the script's, if nothing."""
    spans = [*program.spans, *(span for inside in program.insides for span in inside.spans)]
    around = [span for span in spans if span.line <= line <= span.end_line and path_of(span.node)[-1] in lines]
    if not around:
        return line
    own = max(around, key=lambda span: span.line)
    return line_in_file(program, lines, own.node, line)


def line_of_part(program: Program, lines: Mapping[ItemId, int], node: ItemId, line: int) -> int | None:
    """The line of the file from which one of the lines of undrawn Python was read, counted from 1 within it."""
    code = next((code for code in program.codes if code.node == node), None)
    return _line_of_code(code, lines, line - 1) if code is not None and node in lines else lines.get(node)


def line_of_call(program: Program, lines: Mapping[ItemId, int], call: CodeCall) -> int | None:
    """The line of the file on which undrawn Python called something; None where that is in another file."""
    if call.file:
        return None
    for code in program.codes:
        if code.line <= call.line <= code.line + code.text.count("\n"):
            return line_in_file(program, lines, code.node, call.line)
    return call.line


def _line_of_code(code: CodeLines, lines: Mapping[ItemId, int], below: int) -> int:
    """The line of a file that the line `below` the first of a code was read from."""
    for begins, drawn in reversed(code.drawn):
        if begins <= below and drawn in lines:
            return lines[drawn] + below - begins
    return lines[code.node] + below


_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


class ShownCode(NamedTuple):
    """Undrawn Python as a person knows it: its lines, and the number of each."""

    numbers: tuple[int, ...]
    text: str


def shown_in_script(program: Program, code: CodeLines) -> ShownCode:
    """A code of the program as the program's text has it: a call within a statement with all of its line."""
    lines = program.code.split("\n")
    first, printed = code.line - 1, code.text.split("\n")
    here = lines[first : first + len(printed)]
    if [line.strip() for line in here] != [line.strip() for line in printed]:
        statement = next((one for one in ast.walk(syntax_of(program.code)) if _begins_at(one, code.line)), None)
        if isinstance(statement, ast.stmt) and _holds_part(statement, syntax_of(code.text).body):
            printed = dedent("\n".join(lines[first : _end_of_statement(statement)])).split("\n")
    return ShownCode(tuple(range(code.line, code.line + len(printed))), "\n".join(printed))


class FileText:
    """The text of a file, for the code that was read of it.

    Attributes:
        lines: where the items begin in it.
    """

    def __init__(self, text: str = "", lines: Mapping[ItemId, int] | None = None) -> None:
        """A text, and what begins where in it; "" where the file is none in Python."""
        self._text, self.lines = _plain(text), lines or {}

    def shown(self, code: CodeLines) -> ShownCode:
        """A code of the program as the file has it, else as the program prints it."""
        end = self._end(code)
        if end:
            first = self.lines[code.node]
            return ShownCode(tuple(range(first, end + 1)), "\n".join(self._text.split("\n")[first - 1 : end]))
        every = range(code.text.count("\n") + 1)
        if code.node not in self.lines:
            return ShownCode(tuple(code.line + below for below in every), code.text)
        return ShownCode(tuple(_line_of_code(code, self.lines, below) for below in every), code.text)

    def _end(self, code: CodeLines) -> int:
        """The line on which the statements of a code end in the file; 0 where others stand there than are run."""
        from gradstudio.program.reading.code.code_statement import last_line  # the first picture reads no text

        printed = syntax_of(code.text).body
        block, at = self._blocks.get(self.lines.get(code.node, 0), ((), 0))
        typed = block[at : at + len(printed)]
        if typed and isinstance(typed[0], ast.While) and condition_in(code.text):
            return _end_of_head(typed[0], code.text)
        is_same = len(typed) == len(printed) and (bool(code.drawn) or _is_read_as(typed, printed))
        if typed and not is_same and _holds_part(typed[0], printed):
            return _end_of_statement(typed[0])
        return last_line(typed[-1]) if typed and is_same else 0

    @cached_property
    def _blocks(self) -> dict[int, tuple[Sequence[ast.stmt], int]]:
        """By the line on which a statement begins, the statements of its block, and its place among them."""
        from gradstudio.program.reading.code.code_statement import first_line

        found: dict[int, tuple[Sequence[ast.stmt], int]] = {}
        for part in ast.walk(syntax_of(self._text)):
            for block in (getattr(part, name, []) for name in ("body", "orelse", "finalbody")):
                for place, one in enumerate(block if isinstance(block, list) else []):
                    found.setdefault(first_line(one), (block, place))
                    found.setdefault(one.lineno, (block, place))
        return found


def _plain(text: str) -> str:
    if not text:
        return ""
    from gradstudio.program.reading.parser import plain_text

    return plain_text(text)


def _end_of_head(loop: ast.While, code: str) -> int:
    """The line on which the head of a loop ends, whose condition is such a code; 0 where it goes by another."""
    condition = ast.parse(f"({condition_in(code)})", mode="eval").body
    return (loop.test.end_lineno or 0) if _shape([condition]) == _shape([loop.test]) else 0


def _is_read_as(typed: Sequence[ast.stmt], printed: Sequence[ast.stmt]) -> bool:
    """Whether statements do the same but for names, or one holds the part that is printed by itself."""
    if _shape(typed) == _shape(printed):
        return True
    return not hasattr(typed[0], "body") and _holds_part(typed[0], printed)


def _holds_part(statement: ast.stmt, printed: Sequence[ast.stmt]) -> bool:
    """Whether a statement, of a block its head, holds the part that is printed by itself."""
    match printed:
        case [ast.Assign(value=value) | ast.Expr(value=value)]:
            parts = [part for head in _head(statement) for part in ast.walk(head)]
            names = frozenset(part.id for part in parts if isinstance(part, ast.Name))
            return any(_is_part_like(part, value, names) for part in parts)
    return False


def _head(statement: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that are in no block of it."""
    return [part for part in ast.iter_child_nodes(statement) if not isinstance(part, _BLOCKS)]


def _end_of_statement(statement: ast.stmt) -> int:
    """The line on which a statement ends; of a block, its head."""
    if not hasattr(statement, "body"):
        return statement.end_lineno or statement.lineno
    return max([statement.lineno, *(getattr(part, "end_lineno", None) or 0 for part in _head(statement))])


def _begins_at(part: ast.AST, line: int) -> bool:
    return isinstance(part, ast.stmt) and part.lineno == line


def _is_part_like(part: ast.AST, printed: ast.expr, names: frozenset[str]) -> bool:
    """Whether it is what is printed; `names` are those of the statement around it.

    Of a call, which may be written in other ways: whether what ends in the same name is called, with as many arguments
    and the same keywords.
    """
    if isinstance(part, ast.Call) and isinstance(printed, ast.Call):
        same_words = [word.arg for word in part.keywords] == [word.arg for word in printed.keywords]
        same_name = ast.unparse(part.func).split(".")[-1] == ast.unparse(printed.func).split(".")[-1]
        return same_words and same_name and len(part.args) == len(printed.args)
    return not isinstance(printed, ast.Name) and _is_alike(part, printed, names)


def _is_alike(typed: object, printed: object, names: frozenset[str]) -> bool:
    """Whether two pieces of syntax are the same; a name that is not typed there stands for a part, or is a path."""
    if isinstance(printed, ast.Name) and printed.id not in names:
        return isinstance(typed, ast.expr)
    if isinstance(printed, list) and isinstance(typed, list):
        pairs = zip(typed, printed, strict=False)
        return len(printed) == len(typed) and all(_is_alike(one, other, names) for one, other in pairs)
    if isinstance(printed, ast.AST):
        fields = [name for name in printed._fields if name not in ("ctx", "kind")]
        same = type(typed) is type(printed)
        return same and all(_is_alike(getattr(typed, name), getattr(printed, name), names) for name in fields)
    return typed == printed and type(typed) is type(printed)


def _shape(statements: Sequence[ast.AST]) -> list[type[ast.AST]]:
    """What statements do, but for their names."""
    return [type(part) for one in statements for part in ast.walk(one)]


class FileLines:
    """Where undrawn Python stands in the file that it was read from, as long as it is what was read."""

    def __init__(self, graph: Graph | None = None, lines: Mapping[ItemId, int] | None = None) -> None:
        """A graph as it was read, and where its items begin in the file; nothing was read from none."""
        self._file = FileText(graph.original if graph is not None else "", lines)
        self._texts: dict[ItemId, str] = {}
        if graph is not None and may_need_yes(graph):
            self._texts = {one.node: one.text for one in compile_graph(graph).codes}

    def shown(self, code: CodeLines) -> ShownCode | None:
        """A code as the file has it; None where the file does not hold it."""
        return self._file.shown(code) if code.text == self._texts.get(code.node) else None
