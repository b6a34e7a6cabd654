"""Which statements of a text are kept as code, and the syntax tree in which they are that."""

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set

from gradstudio.graph.names import fresh_name
from gradstudio.graph.text.loop_exits import leaves
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_statement import CodeStatement, codes_in, first_line, last_line
from gradstudio.program.reading.code.star_imports import last_star
from gradstudio.program.reading.code.while_loops import endless_loop
from gradstudio.program.reading.desugar.branches import RESULT
from gradstudio.program.reading.main_part import is_report, main_part
from gradstudio.program.reading.syntax_queries import walk

DRAWN_METHODS = frozenset({"__init__", "forward"})
"""The methods of a class that a canvas draws."""
Key = tuple[int, int]
"""Where a statement begins: its line and column."""


class Undrawn:
    """The choice for one text; it only grows.

    Attributes:
        typed: the syntax tree of the text, in which nothing is changed.
        keys: the statements that are kept as code.
        is_whole: all of the text is.
    """

    def __init__(self, text: str, kept: Sequence[Sequence[Key]] = ()) -> None:
        """Only what is `kept` is code, each of its sequences one piece."""
        self._text = text
        self._lines = text.split("\n")
        self.typed = ast.parse(text)
        self._statements = self._flat(self.typed.body)
        self._last_star = last_star(self._statements)
        self._made: dict[tuple[Key, ...], CodeStatement] = {}
        self.keys: set[Key] = {key for one in kept for key in one}
        self._joined = {key for one in kept for key in one[1:]}
        self.is_whole = False

    def tree(self) -> ast.Module:
        """The syntax tree of the text with what is kept as code in place of the statements."""
        tree = ast.parse(self._text)
        report = tree.body[-1:] if tree.body and is_report(tree.body[-1]) else []
        statements = tree.body[: len(tree.body) - len(report)]
        tree.body = [*self._replaced(self._flat(statements)), *report]
        return tree

    def take(self, errors: Sequence[NotReadable]) -> None:
        """Keep the statements as code that were refused, or what is around those that already are."""
        before = set(self.keys)
        for error in errors:
            self.take_at(error.line, error.column, before)
        if self.keys == before:
            self.is_whole = True  # what is refused is none of what could be kept: the text as a whole is

    def take_at(self, line: int, column: int, before: Set[Key] | None = None) -> None:
        """Keep the innermost statement there as code, or, where it is that already, the one around it.

        `before` is what was code when all that is taken was read: what that says twice of a statement is one thing.
        """
        way = self._way(self._statements, line, column)
        while way:
            statement, around = way.pop()
            run = _on_its_lines(around, statement)
            if before is not None and key_of(statement) in self.keys and key_of(statement) not in before:
                return
            if way and isinstance(way[-1][0], ast.If) and any(map(leaves, run)):
                continue  # it would have to be taken along with what it leaves
            if key_of(statement) not in self.keys and self._is_apart(run[0], run[-1]):
                self.keys.update(map(key_of, run))
                return
        if not self._is_known(line):
            self.is_whole = True

    def take_all(self, statements: Sequence[ast.stmt]) -> bool:
        """Keep statements as code; whether one of them was not."""
        before, was_whole = set(self.keys), self.is_whole
        for one in statements:
            self.take_at(one.lineno, one.col_offset, before)
        return len(self.keys) != len(before) or self.is_whole != was_whole

    def _is_known(self, line: int) -> bool:
        """Whether what stands on a line was taken in this round already."""
        way = self._way(self._statements, line, 0)
        return any(key_of(one) in self.keys for one, _ in way)

    def _flat(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with those under `if __name__ == "__main__":` among them, where each has its own lines."""
        found: list[ast.stmt] = []
        for one in statements:
            inner = main_part(one)
            found += inner if all(map(self._is_apart, inner)) else [one]
        return found

    def _way(self, statements: Sequence[ast.stmt], line: int, column: int) -> list[tuple[ast.stmt, list[ast.stmt]]]:
        """The statements around a place, outermost first, each with those that it stands among."""
        found: list[tuple[ast.stmt, list[ast.stmt]]] = []
        inside = list(statements)
        while (one := _statement_at(inside, line, column)) is not None:
            found.append((one, inside))
            around = found[-2][0] if len(found) > 1 else None
            inner = [body for body in bodies_of(one, around) if _statement_at(body, line, column)]
            if not inner:
                break
            inside = inner[0]
        return found

    def _is_apart(self, statement: ast.stmt, last: ast.stmt | None = None) -> bool:
        """Whether nothing else stands on the lines of a statement, or from it to the last, but for comments."""
        last = last or statement
        start = first_line(statement)
        ahead = self._lines[start - 1].encode()[: statement.col_offset]
        if start == statement.lineno and ahead.strip():
            return False
        behind = self._lines[last_line(last) - 1].encode()[last.end_col_offset or 0 :].strip()
        return not behind or behind.startswith(b"#")

    def _replaced(
        self, statements: Sequence[ast.stmt], result: str = "", around: ast.stmt | None = None
    ) -> list[ast.stmt]:
        """The statements with code in their places; `result` is free for what they return at their end."""
        found: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for k, one in enumerate(statements):
            is_last = k + 1 == len(statements)
            if self._is_kept(one):
                if waiting and self._is_divided(waiting[-1], one):
                    found.append(self._code(waiting))
                    waiting = []
                waiting.append(one)
                if result and is_last and isinstance(one, ast.Return) and one.value is not None:
                    found.append(self._code(waiting, result))
                    return [*found, _return_of(result, one)]
                continue
            if waiting:
                found.append(self._code(waiting))
                waiting = []
            for body in bodies_of(one, around):
                name = result if is_last and isinstance(one, ast.With) else ""
                if isinstance(one, ast.FunctionDef) and self._returns_code(body):
                    name = _free_name(one)
                body[:] = self._replaced(body, name, one)
            found.append(endless_loop(one, self._lines) if isinstance(one, ast.While) and not one.orelse else one)
        if waiting:
            found.append(self._code(waiting))
        return found

    def _is_kept(self, statement: ast.stmt) -> bool:
        """Whether it is code: it is kept as that, or it is an `if` that would hold nothing else."""
        if key_of(statement) not in self.keys and isinstance(statement, ast.If | ast.While):
            inner = [one for body in bodies_of(statement) for one in body]
            if inner and all(map(self._is_kept, inner)) and self._is_apart(statement):
                self.keys.add(key_of(statement))
        return key_of(statement) in self.keys

    def _returns_code(self, body: Sequence[ast.stmt]) -> bool:
        """Whether what a function returns at its end is kept as code."""
        last = body[-1]
        while isinstance(last, ast.With):
            last = last.body[-1]
        return isinstance(last, ast.Return) and key_of(last) in self.keys

    def _code(self, statements: Sequence[ast.stmt], result: str = "") -> CodeStatement:
        keys = tuple(map(key_of, statements))
        made = self._made.get(keys)
        if made is None:
            made = self._made[keys] = CodeStatement(statements, self._lines, result)
        return made.again()

    def _is_divided(self, one: ast.stmt, following: ast.stmt) -> bool:
        """Whether an empty line parts two statements, a group begins or ends there, or one stands deeper.

        What stands above an import of all of a module is one with it: that may bind the same names.
        """
        if last_line(one) == first_line(following) or first_line(following) <= self._last_star:
            return False
        if key_of(following) in self._joined:
            return False
        between = self._lines[last_line(one) : first_line(following) - 1]
        is_parted = any(not line.strip() or _is_marker(line) for line in between)
        return is_parted or self._margin(one) != self._margin(following)

    def _margin(self, statement: ast.stmt) -> int:
        line = self._lines[first_line(statement) - 1]
        return len(line) - len(line.lstrip())


def holds_while(text: str, tree: ast.AST) -> bool:
    """Whether there is a `while` in a text, which is drawn by what it holds."""
    return "while" in text and any(isinstance(part, ast.While) for part in walk(tree))


def bodies_of(statement: ast.stmt, around: ast.stmt | None = None) -> list[list[ast.stmt]]:
    """The statements in a statement that can be kept as code by themselves; `around` it stands this one, or none.

    Those of definitions are there where these are drawn: at the top, and the methods of a class that a canvas has.
    """
    match statement, around:
        case (ast.For(body=body), _) | (ast.With(body=body), _) | (ast.While(body=body, orelse=[]), _):
            return [body]
        case ast.If(), _:
            return branches_of(statement)
        case (ast.FunctionDef(body=body), None) | (ast.ClassDef(body=body), None):
            return [body]
        case ast.FunctionDef(name=name, body=body), ast.ClassDef() if name in DRAWN_METHODS:
            return [body]
        case _:
            return []


def branches_of(statement: ast.If) -> list[list[ast.stmt]]:
    """The statements of each branch of an `if`, those of its `elif`s too, which stand on no lines of their own."""
    found = [statement.body]
    match statement.orelse:
        case []:
            return found
        case [ast.If() as other] if other.col_offset == statement.col_offset:
            return [*found, *branches_of(other)]
        case _:
            return [*found, statement.orelse]


def open_bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The bodies of a block whose statements are read one by one: an `if` without code in it is read as a whole."""
    if isinstance(statement, ast.For | ast.With | ast.While):
        return [statement.body]
    if isinstance(statement, ast.If) and codes_in([statement]):
        return branches_of(statement)
    return []


def _free_name(definition: ast.FunctionDef) -> str:
    """A name for what a function returns, which means nothing in it."""
    parts = list(walk(definition))
    taken = {part.id for part in parts if isinstance(part, ast.Name)} | {p.arg for p in parts if isinstance(p, ast.arg)}
    return fresh_name(taken, RESULT)


def _return_of(name: str, where: ast.stmt) -> ast.Return:
    value = ast.copy_location(ast.Name(name, ast.Load()), where)
    value.end_lineno = value.end_col_offset = None
    return ast.copy_location(ast.Return(value), where)


def _statement_at(statements: Sequence[ast.stmt], line: int, column: int) -> ast.stmt | None:
    """The statement that stands at a place."""
    begun = bisect_right(statements, line, key=first_line)
    here: list[ast.stmt] = []
    while begun and last_line(statements[begun - 1]) >= line:
        begun -= 1
        here.insert(0, statements[begun])
    before = [one for one in here if (one.lineno, one.col_offset) <= (line, column)]
    return next(iter([*reversed(before), *here]), None)


def _on_its_lines(statements: Sequence[ast.stmt], statement: ast.stmt) -> list[ast.stmt]:
    """A statement with those before and behind it that share lines with it, or with one of those."""
    place = bisect_left(statements, key_of(statement), key=key_of)
    if place == len(statements) or statements[place] is not statement:
        return [statement]
    first = last = place
    while first and last_line(statements[first - 1]) == first_line(statements[first]):
        first -= 1
    while last + 1 < len(statements) and last_line(statements[last]) == first_line(statements[last + 1]):
        last += 1
    return list(statements[first : last + 1])


def key_of(statement: ast.stmt) -> Key:
    """What tells a statement from all others of its text."""
    return statement.lineno, statement.col_offset


def every_statement(statements: Sequence[ast.stmt], around: ast.stmt | None = None) -> Iterator[ast.stmt]:
    """Statements that can be kept as code, each before those in it."""
    for one in statements:
        yield one
        for body in open_bodies(one) if isinstance(one, ast.If) else bodies_of(one, around):
            yield from every_statement(body, one)


def beside_definitions(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The same without those in definitions."""
    for one in statements:
        yield one
        for body in open_bodies(one):
            yield from beside_definitions(body)


def _is_marker(line: str) -> bool:
    words = line.strip().removeprefix("#").strip()
    return line.lstrip().startswith("#") and (words.startswith("region:") or words == "endregion")
