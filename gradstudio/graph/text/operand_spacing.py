"""Spaces: which operands of an expression stand close to their operator, as `ruff format` sets them."""

import ast

from gradstudio.graph.text.literal_text import first_operand, is_simple_power


def is_simple(node: ast.expr) -> bool:
    """Whether an operand of ``**`` has no spaces around it."""
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        return is_simple(node.operand)
    if isinstance(node, ast.Attribute):
        return is_simple(node.value) and not isinstance(node.value, ast.Constant)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return is_simple(node.left)
    if isinstance(node, ast.Constant):
        return is_simple_power(first_operand(ast.unparse(node)))
    return isinstance(node, ast.Name)


def is_simple_bound(node: ast.expr) -> bool:
    """Whether a bound of a slice has no spaces around its colon."""
    if isinstance(node, ast.UnaryOp):
        return is_simple_bound(node.operand)
    return isinstance(node, ast.Constant | ast.Name)
