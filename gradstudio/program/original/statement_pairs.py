"""Which statement of a printed program is which of another: those that are the same, changed, gone and new."""

import ast
from collections.abc import Iterator

import msgspec

from gradstudio.program.original.alike import opcodes_of
from gradstudio.program.original.statement_lines import Statement, StatementLines


class Pairs(msgspec.Struct, frozen=True):
    """What belongs together, by the numbers of statements.

    Attributes:
        other: of each that is in both, the number in the second text; both grow together.
        changed: those of them that say something else.
        gone: those that the second text has not, and `new` those that only it has.
    """

    other: dict[int, int]
    changed: tuple[int, ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]


def pairs_of(before: StatementLines, after: StatementLines) -> Pairs:
    """Compare two texts statement by statement."""
    other: dict[int, int] = {}
    changed: list[int] = []
    old = [_said(before, k) for k in range(len(before.statements))]
    new = [_said(after, k) for k in range(len(after.statements))]
    for tag, a, b, c, d in opcodes_of(old, new):
        if tag == "equal":
            other.update(zip(range(a, b), range(c, d), strict=True))
        elif tag == "replace":
            found = dict(_changed(before, range(a, b), after, range(c, d)))
            other |= found
            changed += found
    return Pairs(
        other,
        tuple(changed),
        tuple(k for k in range(len(old)) if k not in other),
        tuple(sorted(set(range(len(new))) - set(other.values()))),
    )


def _said(text: StatementLines, number: int) -> tuple[str, tuple[str, ...]]:
    return text.indent(number), text.statements[number].key


def _changed(before: StatementLines, olds: range, after: StatementLines, news: range) -> Iterator[tuple[int, int]]:
    """Those of two stretches that bind the same names, or do the same; then those that stand alone between them."""
    one = [_sign(before.statements[k], before.indent(k)) for k in olds]
    two = [_sign(after.statements[k], after.indent(k)) for k in news]
    for tag, a, b, c, d in opcodes_of(one, two):
        if tag == "equal" or (tag == "replace" and b - a == d - c):
            for k in range(b - a):
                alone = before.statements[olds[a + k]], after.statements[news[c + k]]
                is_line = all(each.last == each.head_last for each in alone)
                if tag == "equal" or (one[a + k][0] == two[c + k][0] and is_line):
                    yield olds[a + k], news[c + k]


def _sign(one: Statement, indent: str) -> tuple[str, str, str]:
    """How deep a statement stands, of which kind it is, and what it binds or calls."""
    node = one.node
    kind = type(node).__name__
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            said = name
        case ast.Assign(targets=targets):
            said = ", ".join(map(ast.unparse, targets))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            said = ast.unparse(target)
        case ast.Expr(value=ast.Call(func=function)):
            said = ast.unparse(function)
        case _:
            said = ""
    return indent, kind, said
