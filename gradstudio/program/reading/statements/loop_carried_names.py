"""Which names a loop carries from turn to turn: read in its body before the body binds them (semantics §4)."""

import ast
from collections import Counter
from collections.abc import Callable, Iterable

from gradstudio.program.reading.code.code_statement import CodeStatement
from gradstudio.program.reading.syntax_queries import walk

Rebinds = Callable[[str], bool]
"""Whether `name += …` binds the name anew: of a number it does, of a tensor it writes into it."""


def loop_carried_names(target: ast.expr, body: Iterable[ast.stmt], rebinds: Rebinds) -> dict[str, bool]:
    """The names that the body binds and that its beginning reads, in the order in which it reads them.

    With each, whether what it had before the loop, or another statement gives it, is read. It is not where the one
    statement that binds it is code that does so perhaps: what follows reads what that has bound, in whatever turn.

    Args:
        target: what each turn binds first.
        body: the statements of a turn.
        rebinds: see `Rebinds`.
    """
    walk = _Walk(rebinds)
    walk.target(target)
    walk.body(body)
    return {name: is_read or walk.bound[name] > 1 for name, is_read in walk.read_first.items() if name in walk.bound}


class _Walk:
    """Statements in their order.

    Attributes:
        read_first: names that were read, or kept, before they were bound; with each, whether it was read.
        bound: names that were bound, and by how many statements.
    """

    def __init__(self, rebinds: Rebinds) -> None:
        self.read_first: dict[str, bool] = {}
        self.bound: Counter[str] = Counter()
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
                if isinstance(target, ast.Name) and (target.id in self.bound or self._rebinds(target.id)):
                    self.bound[target.id] += 1
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
                kept = statement.only_kept
                for name in reads:
                    self._name(name.id, is_read=name.id not in kept)
                self.bound.update({name.id for name in binds})
            case _:
                self._read(statement)

    def target(self, target: ast.expr) -> None:
        for node in walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.bound[node.id] += 1
            elif isinstance(node, ast.Name):
                self._name(node.id)

    def _read(self, node: ast.AST) -> None:
        for part in walk(node):
            if isinstance(part, ast.Name):
                self._name(part.id)

    def _name(self, name: str, *, is_read: bool = True) -> None:
        if name not in self.bound:
            self.read_first[name] = self.read_first.get(name, False) or is_read
