"""What leaves the loop or the function that statements stand in: by syntax alone."""

import ast
from collections.abc import Iterator

TURN_ENDS = (ast.Break, ast.Continue)
"""What ends a turn of a loop."""
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_ENDS = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


def leaves(statement: ast.stmt) -> bool:
    """Whether a `break`, `continue`, `return` or `yield` in a statement belongs to what is around it."""
    return next(ways_out(statement), None) is not None


def ends_turn(statement: ast.stmt) -> bool:
    """Whether a `break` or `continue` in a statement belongs to a loop around it."""
    return any(isinstance(one, TURN_ENDS) for one in ways_out(statement))


def ways_out(node: ast.AST, in_loop: bool = False) -> Iterator[ast.AST]:
    """What in a statement leaves a loop or a function that is not in it."""
    match node:
        case _ if isinstance(node, _DEFINED):
            return
        case ast.Break() | ast.Continue():
            if not in_loop:
                yield node
        case _ if isinstance(node, _ENDS):
            yield node
        case ast.For(body=body) | ast.While(body=body):
            for one in ast.iter_child_nodes(node):
                yield from ways_out(one, in_loop or one in body)
        case _:
            for one in ast.iter_child_nodes(node):
                yield from ways_out(one, in_loop)
