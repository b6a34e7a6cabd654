"""Chains: operators and calls that go on from what stands at their left, `a + b + …`, `x.relu().sum()…`.

Python runs them one after another, so they are no deeper than what they begin with.
"""

import ast
from collections.abc import Collection, Iterator

from gradstudio.program.reading.expressions.conditional_reader import chooses

MAX_LINKS = 1_000
STRIDE = 20
"""After so many links a chain is read from its beginning, so that the reader does not go deeper."""


def left_of(node: ast.AST) -> ast.expr | None:
    """What an operator, a call, an index or an attribute goes on from; None for anything else."""
    match node:
        case ast.BinOp(left=left):
            return left
        case ast.Call(func=before) | ast.Attribute(value=before) | ast.Subscript(value=before):
            return before
        case _:
            return None


def links(node: ast.AST) -> int:
    """How many links of a chain it is: a method and its call are one."""
    return 0 if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else 1


def beginnings(node: ast.expr, known: Collection[ast.expr]) -> list[ast.expr]:
    """Some of the values that a long chain goes through, from the first on; those before one that is known are not."""
    found = list(_values(node, known))
    return found[STRIDE::STRIDE][::-1]


def _values(node: ast.expr, known: Collection[ast.expr]) -> Iterator[ast.expr]:
    """What is computed before a link is, from the last to the first."""
    before = left_of(node)
    while before is not None and before not in known and not chooses(before):
        if isinstance(before, ast.BinOp | ast.Call | ast.Subscript):
            yield before
        before = left_of(before)
