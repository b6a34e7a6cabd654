"""Syntax that the reader makes itself: nodes that stand where others do and have no text of their own."""

import ast
from typing import TypeVar

One = TypeVar("One", bound=ast.AST)


def at_position(node: One, where: ast.AST) -> One:
    """The node where another begins; without an end, for it has no text of its own."""
    places = {
        "lineno": getattr(where, "lineno", 1),
        "col_offset": getattr(where, "col_offset", 0),
        "end_lineno": None,
        "end_col_offset": None,
    }
    for field, value in places.items():
        setattr(node, field, value)
    return node


def read(name: str, where: ast.AST) -> ast.Name:
    """A name that is read."""
    return at_position(ast.Name(name, ast.Load()), where)


def assign(name: str, value: ast.expr, where: ast.AST) -> ast.Assign:
    """`name = value`."""
    return at_position(ast.Assign([at_position(ast.Name(name, ast.Store()), where)], value), where)


def call(name: str, arguments: list[ast.expr], where: ast.AST) -> ast.Call:
    """A call of a built-in function."""
    return at_position(ast.Call(read(name, where), arguments, []), where)


def once_if(test: ast.expr, body: list[ast.stmt], where: ast.AST, turn: str = "_") -> ast.For:
    """A loop of one turn where the test holds, and of none where it does not: an `if` that may hold anything."""
    over = call("range", [call("bool", [test], where)], where)
    return at_position(ast.For(at_position(ast.Name(turn, ast.Store()), where), over, body, []), where)
