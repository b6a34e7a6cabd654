"""From the text of an expression to its syntax tree, and whether what is printed of that is read as the same.

Nothing in an expression ends it before its end.
"""

import ast
import warnings

from gradstudio.graph.errors import Refused
from gradstudio.graph.text.allowed_calls import path_of, spelled_path

MAX_TEXT = 2_000


def source_segment(lines: list[bytes], node: ast.expr) -> str:
    """A number as it is written; columns of a syntax tree count bytes, and a number stands on one line."""
    if node.lineno != node.end_lineno or node.lineno > len(lines):
        return ast.unparse(node)
    return lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of an expression.

    Raises:
        Refused: it is none, or too long.
    """
    if len(text) > MAX_TEXT:
        raise Refused(f"An expression has at most {MAX_TEXT:,} characters.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Refused(f"'{text[:60]}' is no expression of Python.") from None


def says_the_same(text: str, body: ast.expr) -> bool:
    """Whether a printed expression is read as what it was printed of: nothing in it ends it before its end."""
    try:
        again = ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return ast.dump(again) == ast.dump(_with_short_names(body))


class _ShortNames(ast.NodeTransformer):
    """Paths as they are printed: ``torch.nn.functional.relu`` is ``F.relu``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        path = path_of(node)
        if path is None:
            self.generic_visit(node)
            return node
        return ast.parse(spelled_path(path)[0], mode="eval").body

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        node.kind = None  # u"text" is printed without its mark
        return node


def _with_short_names(body: ast.expr) -> ast.AST:
    import copy

    tree: ast.AST = _ShortNames().visit(copy.deepcopy(body))
    for node in ast.walk(tree):
        if "ctx" in node._fields:
            node.ctx = ast.Load()  # type: ignore[attr-defined]  # trees made by hand leave it out
    return tree
