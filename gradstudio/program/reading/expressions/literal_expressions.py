"""Which expressions of a text are literals, and how they are spelled."""

import ast
import copy
import re

from gradstudio.graph.text.literal_text import CALLS, MAX_NESTING, TYPES, NotALiteral, spell
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.program.reading.imports import PACKAGES, Modules

_CONSTANTS = {"numpy": "np"}
"""Packages that literals know under another name than their own."""


class Literals:
    """Recognises literals in one text."""

    def __init__(self, source: str, modules: Modules) -> None:
        """Read from this source, under these imports."""
        self._lines = [line.encode() for line in re.split(r"\r\n|\r|\n", source)]
        self._modules = modules

    def of(self, node: ast.expr) -> Written | None:
        """The literal that an expression is, or None."""
        if isinstance(node, ast.Name) and not self._is_known(node.id):
            return None
        if isinstance(node, ast.Call) and not self._may_be_literal(node):
            return None
        first: ast.expr | None = node
        links = 0
        while isinstance(first, ast.BinOp | ast.Subscript):  # the beginning of a chain tells soonest
            first, links = (first.left if isinstance(first, ast.BinOp) else first.value), links + 1
        if first is not node and isinstance(first, ast.Name) and not self._is_known(first.id):
            return None
        if links > MAX_NESTING:
            return None
        names = False
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                names = True
                if part.id not in _BUILTINS and self._modules.path(part) is None:
                    return None
        renamed = _Renamed(self._modules)
        twin = renamed.visit(copy.deepcopy(node)) if names else node
        if renamed.foreign:
            return None
        text = ast.unparse(twin) if renamed.changed else self.segment(node)
        try:
            return Written(spell(text).text)
        except NotALiteral:
            return None

    def _may_be_literal(self, call: ast.Call) -> bool:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        return not call.keywords and (self._modules.path(call.func) or name) in CALLS

    def _is_known(self, name: str) -> bool:
        return self._modules.binds(name) or name in TYPES

    def segment(self, node: ast.expr) -> str:
        """The expression as it is written; columns of a syntax tree count bytes."""
        if node.end_lineno is None:
            return ast.unparse(node)  # made by the reader: it has no text of its own
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if first == last:
            return self._lines[first][node.col_offset : node.end_col_offset].decode()
        between = self._lines[first + 1 : last]
        parts = [self._lines[first][node.col_offset :], *between, self._lines[last][: node.end_col_offset]]
        text = b"\n".join(parts).decode()
        return f"({text})"


class _Renamed(ast.NodeTransformer):
    """Names of modules and their constants as literals know them: `t.float32` becomes `torch.float32`.

    Attributes:
        changed: something reads differently now.
        foreign: a name in it is none of a module, so that it is no literal.
    """

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self.changed = self.foreign = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        path = self._modules.path(node)
        if path is None:
            self.foreign = True
            return node
        return self._named(node, path)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        path = self._modules.path(node)
        if path is None:
            self.foreign = self.foreign or node.id not in _BUILTINS
            return node
        return self._named(node, path)

    def _named(self, node: ast.expr, path: str) -> ast.expr:
        root, _, rest = path.partition(".")
        short = f"{_CONSTANTS.get(root, root)}.{rest}" if rest else root
        if root not in PACKAGES or short == ast.unparse(node):
            return node
        self.changed = True
        return ast.parse(short, mode="eval").body


_BUILTINS = TYPES | {"slice", "range"}
