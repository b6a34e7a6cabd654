"""Which statements of a text are kept as code, and the syntax tree in which they are that."""

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_statement import CodeStatement, first_line, last_line
from gradstudio.program.reading.main_part import is_report, main_part

Key = tuple[int, int]
"""Where a statement begins: its line and column."""


class Undrawn:
    """The choice for one text; it only grows.

    Attributes:
        keys: the statements that are kept as code.
        is_whole: all of the text is.
    """

    def __init__(self, text: str) -> None:
        """Nothing is kept as code."""
        self._text = text
        self._lines = text.split("\n")
        self._statements = self._flat(ast.parse(text).body)
        self._made: dict[tuple[Key, ...], CodeStatement] = {}
        self.keys: set[Key] = set()
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
            self.take_at(error.line, error.column)
        if self.keys == before:
            self.is_whole = True  # what is refused is none of what could be kept: the text as a whole is

    def take_at(self, line: int, column: int) -> None:
        """Keep the innermost statement there as code, or, where it is that already, the one around it."""
        way = self._way(self._statements, line, column)
        while way:
            statement = way.pop()
            if key_of(statement) not in self.keys and self._is_apart(statement):
                self.keys.add(key_of(statement))
                return
        if not self._is_known(line):
            self.is_whole = True

    def take_all(self, statements: Sequence[ast.stmt]) -> bool:
        """Keep statements as code; whether one of them was not."""
        before = len(self.keys), self.is_whole
        for one in statements:
            self.take_at(one.lineno, one.col_offset)
        return (len(self.keys), self.is_whole) != before

    def _is_known(self, line: int) -> bool:
        """Whether what stands on a line was taken in this round already."""
        way = self._way(self._statements, line, 0)
        return any(key_of(one) in self.keys for one in way)

    def _flat(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with those under `if __name__ == "__main__":` among them, where each has its own lines."""
        found: list[ast.stmt] = []
        for one in statements:
            inner = main_part(one)
            found += inner if all(map(self._is_apart, inner)) else [one]
        return found

    def _way(self, statements: Sequence[ast.stmt], line: int, column: int) -> list[ast.stmt]:
        """The statements around a place, outermost first."""
        found: list[ast.stmt] = []
        while True:
            begun = bisect_right(statements, line, key=first_line)
            here: list[ast.stmt] = []
            while begun and last_line(statements[begun - 1]) >= line:
                begun -= 1
                here.insert(0, statements[begun])
            if not here:
                return found
            before = [one for one in here if (one.lineno, one.col_offset) <= (line, column)]
            found.append((before or here)[-1] if before else here[0])
            if not isinstance(found[-1], ast.For | ast.With):
                return found
            statements = found[-1].body

    def _is_apart(self, statement: ast.stmt) -> bool:
        """Whether nothing else stands on the lines of a statement, but for comments."""
        start = first_line(statement)
        ahead = self._lines[start - 1].encode()[: statement.col_offset]
        if start == statement.lineno and ahead.strip():
            return False
        behind = self._lines[last_line(statement) - 1].encode()[statement.end_col_offset or 0 :].strip()
        return not behind or behind.startswith(b"#")

    def _replaced(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for one in statements:
            if key_of(one) in self.keys:
                if waiting and self._is_divided(waiting[-1], one):
                    found.append(self._code(waiting))
                    waiting = []
                waiting.append(one)
                continue
            if waiting:
                found.append(self._code(waiting))
                waiting = []
            if isinstance(one, ast.For | ast.With):
                one.body = self._replaced(one.body)
            found.append(one)
        if waiting:
            found.append(self._code(waiting))
        return found

    def _code(self, statements: Sequence[ast.stmt]) -> CodeStatement:
        keys = tuple(map(key_of, statements))
        made = self._made.get(keys)
        if made is None:
            made = self._made[keys] = CodeStatement(statements, self._lines)
        return made.again()

    def _is_divided(self, one: ast.stmt, following: ast.stmt) -> bool:
        """Whether an empty line parts two statements, a group begins or ends there, or one stands deeper."""
        between = self._lines[last_line(one) : first_line(following) - 1]
        is_parted = any(not line.strip() or _is_marker(line) for line in between)
        return is_parted or one.col_offset != following.col_offset


def key_of(statement: ast.stmt) -> Key:
    """What tells a statement from all others of its text."""
    return statement.lineno, statement.col_offset


def every_statement(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that can be kept as code, each before those in it."""
    for one in statements:
        yield one
        if isinstance(one, ast.For | ast.With):
            yield from every_statement(one.body)


def _is_marker(line: str) -> bool:
    words = line.strip().removeprefix("#").strip()
    return line.lstrip().startswith("#") and (words.startswith("region:") or words == "endregion")
