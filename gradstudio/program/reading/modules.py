"""Imports: which Python path each imported name stands for. Only what the catalogue is made of may be imported."""

import ast

from gradstudio.program.errors import NotReadable

PACKAGES = frozenset({"torch", "numpy", "math"})
_IGNORED = frozenset({("__future__", "annotations"), ("typing", "Any"), ("torch", "Tensor")})
_FILES = {("pathlib", "Path"): "pathlib.Path", ("safetensors.torch", "load_file"): "safetensors.torch.load_file"}
_SAME = {
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.cuda.amp.autocast": "torch.autocast",
    "torch.amp.autocast": "torch.autocast",
}
"""Paths under which the same thing is known, and the one the catalogue has."""


class Modules:
    """What the imports of a text bind."""

    def __init__(self) -> None:
        """Nothing is imported."""
        self._paths: dict[str, str] = {}

    def read(self, statement: ast.Import | ast.ImportFrom) -> None:
        """Take an import.

        Raises:
            NotReadable: of something that a canvas does not know.
        """
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                self._import(statement, alias)
            return
        if statement.level or statement.module is None:
            raise _refused(statement, "an import from the file's own package")
        for alias in statement.names:
            self._import_from(statement, statement.module, alias)

    def path(self, node: ast.expr) -> str | None:
        """The Python path an expression stands for: `nn.Linear` gives "torch.nn.Linear"; None when it is a value."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._paths:
            return None
        path = ".".join([self._paths[node.id], *reversed(parts)])
        return _SAME.get(path, path)

    def binds(self, name: str) -> bool:
        """Whether an import bound the name."""
        return name in self._paths

    def take_usual(self) -> None:
        """Bind what people import without saying so: a pasted text need not repeat imports (SEMANTICS 14)."""
        usual = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim"}
        for name, path in {**usual, "np": "numpy", "math": "math"}.items():
            self._paths.setdefault(name, path)

    def _import(self, statement: ast.Import, alias: ast.alias) -> None:
        root = alias.name.partition(".")[0]
        if root not in PACKAGES:
            raise _refused(statement, f"'import {alias.name}'")
        if alias.asname is not None:
            self._paths[alias.asname] = alias.name
        else:
            self._paths[root] = root

    def _import_from(self, statement: ast.ImportFrom, module: str, alias: ast.alias) -> None:
        if (module, alias.name) in _IGNORED or (module == "__future__"):
            return
        name, file = alias.asname or alias.name, _FILES.get((module, alias.name))
        if alias.name == "*":
            raise NotReadable("'import *' does not say which names it binds.", statement.lineno, statement.col_offset)
        if file is None and module.partition(".")[0] not in PACKAGES:
            raise _refused(statement, f"'from {module} import {alias.name}'")
        self._paths[name] = file or f"{module}.{alias.name}"


def _refused(statement: ast.stmt, what: str) -> NotReadable:
    reason = f"{what} cannot be drawn: a canvas knows torch, numpy and math, and no other module."
    return NotReadable(reason, statement.lineno, statement.col_offset)
