"""Which names a loop carries from turn to turn: read in its body before the body binds them (semantics §4)."""

import ast
from collections.abc import Callable, Iterable

from gradstudio.program.reading.code.code_statement import CodeStatement
from gradstudio.program.reading.syntax_queries import walk

Rebinds = Callable[[str], bool]
"""Whether `name += …` binds the name anew: of a number it does, of a tensor it writes into it."""


def loop_carried_names(target: ast.expr, body: Iterable[ast.stmt], rebinds: Rebinds) -> tuple[str, ...]:
    """The names that the body binds and that its beginning reads, in the order in which it reads them.

    Args:
        target: what each turn binds first.
        body: the statements of a turn.
        rebinds: see `Rebinds`.
    """
    walk = _Walk(rebinds)
    walk.target(target)
    walk.body(body)
    return tuple(name for name in walk.read_first if name in walk.bound)


class _Walk:
    """Statements in their order.

    Attributes:
        read_first: names that were read before they were bound.
        bound: names that were bound.
    """

    def __init__(self, rebinds: Rebinds) -> None:
        self.read_first: dict[str, None] = {}
        self.bound: set[str] = set()
        self._rebinds = rebinds

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._read(value)
                for target in targets:
                    self.target(target)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self._read(value)
                    self.target(target)
            case ast.AugAssign(target=target, value=value):
                self._read(target)
                self._read(value)
                if isinstance(target, ast.Name) and self._rebinds(target.id) and target.id not in self.bound:
                    self.bound.add(target.id)
            case ast.For(target=target, iter=over, body=inner):
                self._read(over)
                self.target(target)
                self.body(inner)
            case ast.With(items=items, body=inner):
                for item in items:
                    self._read(item.context_expr)
                self.body(inner)
            case ast.If(test=test, body=inner):
                self._read(test)
                self.body(inner)
            case CodeStatement(reads=reads, binds=binds):
                for name in reads:
                    self._name(name.id)
                self.bound.update(name.id for name in binds)
            case _:
                self._read(statement)

    def target(self, target: ast.expr) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bound.add(node.id)
            elif isinstance(node, ast.Name):
                self._name(node.id)

    def _read(self, node: ast.AST) -> None:
        for part in walk(node):
            if isinstance(part, ast.Name):
                self._name(part.id)

    def _name(self, name: str) -> None:
        if name not in self.bound:
            self.read_first.setdefault(name)
