"""Which expressions of a text are literals, and how they are spelled."""

import ast
import copy

from gradstudio.graph.spelling import NotALiteral, spell
from gradstudio.operators.binding import Written
from gradstudio.program.reading.modules import PACKAGES, Modules

_CONSTANTS = {"numpy": "np"}
"""Packages that literals know under another name than their own."""


class Literals:
    """Recognises literals in one text."""

    def __init__(self, source: str, modules: Modules) -> None:
        """Read from this source, under these imports."""
        self._source, self._modules = source, modules

    def of(self, node: ast.expr) -> Written | None:
        """The literal that an expression is, or None."""
        if isinstance(node, ast.Name) and not self._is_known(node.id):
            return None
        renamed = _Renamed(self._modules)
        twin = renamed.visit(copy.deepcopy(node)) if _has_names(node) else node
        if renamed.foreign:
            return None
        text = ast.unparse(twin) if renamed.changed else self._segment(node)
        try:
            return Written(spell(text).text)
        except NotALiteral:
            return None

    def _is_known(self, name: str) -> bool:
        return self._modules.binds(name) or name in ("float", "int", "bool", "complex")

    def _segment(self, node: ast.expr) -> str:
        text = ast.get_source_segment(self._source, node) or ast.unparse(node)
        return f"({text})" if "\n" in text else text


def _has_names(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


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


_BUILTINS = frozenset({"float", "int", "bool", "complex", "slice", "range"})
