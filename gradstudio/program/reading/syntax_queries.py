"""What several readers ask of a syntax tree."""

import ast


class Renamed(ast.NodeTransformer):
    """Names under other names."""

    def __init__(self, names: dict[str, str]) -> None:
        """Old names, and the new ones."""
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """One of them."""
        node.id = self._names.get(node.id, node.id)
        return node


def is_print(statement: ast.stmt) -> bool:
    """Whether a statement prints at most."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))) | ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case _:
            return False
