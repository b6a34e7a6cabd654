"""`if __name__ == "__main__":` of a text: the report that an export ends with, or statements like any others."""

import ast
from collections.abc import Sequence

REPORTED = " ="
"""How the first thing ends that a line of a report prints."""


def is_report(statement: ast.stmt) -> bool:
    """Whether it is the report that an exported script ends with (semantics §14): the reader drops it."""
    return _is_main(statement) and all(_reports(inner) for inner in main_part(statement))


def main_part(statement: ast.stmt) -> Sequence[ast.stmt]:
    """The statements under `if __name__ == "__main__":`, which run when the text is run; of others, itself."""
    return statement.body if isinstance(statement, ast.If) and _is_main(statement) else [statement]


def _is_main(statement: ast.stmt) -> bool:
    match statement:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]
            ),
            orelse=[],
        ):
            return True
        case _:
            return False


def _reports(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant(value=str() as label), _])):
            return label.endswith(REPORTED)
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.BinOp(right=ast.Constant()), _])):
            return True
        case ast.For(body=body, orelse=[]):
            return all(_reports(inner) for inner in body)
        case _:
            return False
