"""Which loops leave a variable behind that is read after them: Python keeps it, a `for` block of a canvas does not."""

import ast
from collections.abc import Sequence

from gradstudio.program.reading.code.code_statement import may_break
from gradstudio.program.reading.syntax_queries import walk

Names = set[str]
Body = Sequence[ast.stmt]


def leave_variable(statements: Body) -> set[ast.For]:
    """The loops in a text, at any depth, whose one variable is read after they have ended."""
    if not _has_loop(statements):
        return set()
    walk = _Walk()
    walk.body(statements, set())
    return walk.found


class _Walk:
    """Statements from last to first, with the names that are read behind them.

    Each body is summed up once, so that loops in loops cost no more than their text.

    Attributes:
        found: loops whose variable is read behind them.
    """

    def __init__(self) -> None:
        self.found: set[ast.For] = set()
        self._sums: dict[ast.stmt, tuple[Names, Names]] = {}

    def body(self, statements: Body, live: Names) -> None:
        """Go through a body; `live` are the names that are read behind it, and is changed."""
        for statement in reversed(statements):
            self._inside(statement, live)
            read, bound = self._sum(statement)
            live -= bound
            live |= read

    def _inside(self, statement: ast.stmt, live: Names) -> None:
        match statement:
            case ast.For(target=target, body=body):
                if isinstance(target, ast.Name) and target.id in live:
                    self.found.add(statement)
                again, _ = self._sums_of(body)
                self.body(body, live | (again - _stored(target)))
            case ast.With(body=body) | ast.If(body=body):
                self.body(body, set(live))

    def _sum(self, statement: ast.stmt) -> tuple[Names, Names]:
        """The names that a statement reads before it binds them, and those that it surely binds."""
        known = self._sums.get(statement)
        if known is None:
            known = self._sums[statement] = self._summed(statement)
        return known

    def _sums_of(self, body: Body) -> tuple[Names, Names]:
        read: Names = set()
        bound: Names = set()
        for statement in body:
            reads, binds = self._sum(statement)
            read |= reads - bound
            bound |= binds
        return read, bound

    def _summed(self, statement: ast.stmt) -> tuple[Names, Names]:
        match statement:
            case ast.Assign(targets=targets, value=value):
                return _read(value, *targets), _stored(*targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return _read(value, target), _stored(target)
            case ast.AugAssign(target=target, value=value):
                return _read(value, target) | _stored(target), set()
            case ast.For(target=target, iter=over, body=body):
                read, bound = self._sums_of(body)  # a loop is taken to have a turn
                ends = may_break(statement)
                return _read(over) | (read - _stored(target)), _stored(target) | (set() if ends else bound)
            case ast.With(items=items, body=body):
                read, bound = self._sums_of(body)
                return _read(*(item.context_expr for item in items)) | read, bound
            case ast.If(test=test, body=body):
                return _read(test) | self._sums_of(body)[0], set()
            case _:
                return _read(statement), set()


def _has_loop(statements: Body) -> bool:
    return any(isinstance(one, ast.For) or _has_loop(getattr(one, "body", ())) for one in statements)


def _read(*nodes: ast.AST) -> Names:
    parts = (part for node in nodes for part in walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def _stored(*nodes: ast.AST) -> Names:
    parts = (part for node in nodes for part in walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
