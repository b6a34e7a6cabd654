"""Imports: which Python path each imported name stands for. Only what the catalogue is made of may be imported."""

import __future__

import ast
from collections.abc import Iterable
from typing import TypeGuard

from gradstudio.graph.text.code_records import DEFERRED, FUTURE
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.torch_paths import TORCH, is_called, is_loaded, needs_import

PACKAGES = frozenset({"torch", "numpy", "math"})
_HARMLESS = frozenset({FUTURE, "typing", "typing_extensions", "collections.abc"})
"""They serve annotations only, which a canvas does not keep: what is imported from them may be written, not used."""
_WITHOUT_EFFECT = frozenset(__future__.all_feature_names) - {"barry_as_FLUFL"}
"""What a text may ask for in advance, and what a canvas prints is the same with it as without."""
_FILES = {("pathlib", "Path"): "pathlib.Path", ("safetensors.torch", "load_file"): "safetensors.torch.load_file"}
_SAME = {
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.autograd.variable.Variable": "torch.autograd.Variable",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.dataloader.default_collate": "torch.utils.data.default_collate",
    **{
        f"torch.utils.data.{home}.{name}": f"torch.utils.data.{name}"
        for home, names in (
            ("dataset", "TensorDataset Subset ConcatDataset random_split"),
            ("sampler", "SequentialSampler RandomSampler SubsetRandomSampler WeightedRandomSampler BatchSampler"),
        )
        for name in names.split()
    },
    "torch.autograd.no_grad": "torch.no_grad",
    "torch.autograd.enable_grad": "torch.enable_grad",
    "torch.autograd.inference_mode": "torch.inference_mode",
    "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
    "torch.autograd.grad_mode.no_grad": "torch.no_grad",
    "torch.autograd.anomaly_mode.detect_anomaly": "torch.autograd.detect_anomaly",
    "torch.cuda.amp.autocast": "torch.autocast",
    "torch.cpu.amp.autocast": "torch.autocast",
    "torch.amp.autocast": "torch.autocast",
    "torch.autocast_mode.autocast": "torch.autocast",
}
"""Paths under which the same thing is known, and the one the catalogue has."""
_INSTEAD = {
    name: words
    for names, words in (
        ("matplotlib seaborn plotly", "Take its lines out: every value of a canvas is shown as a picture there."),
        ("IPython", "Take its lines out: a canvas shows values itself."),
        ("tqdm", "Loop over the list or the range itself: a run shows how far it is."),
        ("torchvision torchaudio torchtext datasets sklearn pandas", "Write the data as a tensor."),
        ("d2l fastai transformers", "Write out what you use of it."),
        ("einops", "Use view, reshape, permute or torch.einsum."),
        ("random", "Draw with torch.rand, torch.randint or torch.randperm, after torch.manual_seed."),
        ("time timeit", "Take its lines out: a run shows the time of every node."),
        ("os sys pathlib shutil glob tempfile io json csv gzip zipfile", "A canvas reaches no files."),
        ("subprocess multiprocessing threading ctypes importlib", "A canvas starts no programs."),
        ("pickle joblib", "A canvas loads no objects."),
        ("requests urllib socket http", "A canvas reaches no network."),
        ("warnings", "Take its lines out: a run shows warnings at their nodes."),
        ("logging pprint", "Use print."),
        ("copy", "Use .clone() on tensors."),
        ("functools itertools collections", "Write the calls and loops out, with lists."),
        ("dataclasses argparse", "Bind plain names."),
    )
    for name in names.split()
}
"""What people import beside the packages of a canvas, and what to do instead."""
Import = ast.Import | ast.ImportFrom


def is_future(statement: ast.stmt) -> TypeGuard[ast.ImportFrom]:
    """Whether a statement says in advance how the text is to be read."""
    return isinstance(statement, ast.ImportFrom) and statement.module == FUTURE


def defers_annotations(statements: Iterable[ast.stmt]) -> bool:
    """Whether `from __future__ import annotations` stands among statements."""
    return any(alias.name == DEFERRED for one in statements if is_future(one) for alias in one.names)


class Modules:
    """What the imports of a text bind."""

    def __init__(self, *, is_lenient: bool = False) -> None:
        """Nothing is imported; `is_lenient` when what a canvas does not know may be kept as code."""
        self._paths: dict[str, str] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._is_lenient = is_lenient

    def read(self, statement: Import) -> None:
        """Take an import.

        Raises:
            NotReadable: of something that a canvas does not know.
        """
        for alias in statement.names:
            self._places[alias.asname or alias.name] = statement.lineno, statement.col_offset
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

    def calls_anything(self, path: str) -> bool:
        """Whether what is at a path can be called although the catalogue does not have it: it may do anything."""
        return self._is_lenient and is_called(path)

    def check(self, node: ast.expr) -> None:
        """See that what an expression names is there without the import that names it.

        Raises:
            NotReadable: of that import, which is then code.
        """
        path = self.path(node)
        if not self._is_lenient or path is None or not needs_import(path):
            return
        words = ast.unparse(node).split(".")
        heads = (".".join(words[:count]) for count in range(len(words), 0, -1))
        place = next((self._places[head] for head in heads if head in self._places), None)
        if place is not None:
            raise NotReadable(f"'{path}' is nothing that a canvas has.", *place)

    def forget_unknown(self, names: Iterable[str]) -> None:
        """Names that code bound to what is not there without it are the code's own."""
        for name in names:
            self._places.pop(name, None)
            if name in self._paths and needs_import(self._paths[name]):
                self.forget(name)

    def binds(self, name: str) -> bool:
        """Whether an import bound the name."""
        return name in self._paths

    def paths(self) -> dict[str, str]:
        """The names that imports bound, and what they stand for."""
        return dict(self._paths)

    def is_package(self, name: str) -> bool:
        """Whether the name stands for a package, or a module of one that people give a short name."""
        return self._paths.get(name) in {*PACKAGES, "torch.nn", "torch.nn.functional", "torch.optim"}

    def become(self, paths: dict[str, str]) -> None:
        """From here on these names are bound, and no others."""
        self._paths = dict(paths)

    def call(self, name: str, path: str) -> None:
        """From here on the name stands for what is at the path: ``loss_func = F.cross_entropy``."""
        self._paths[name] = path

    def forget(self, name: str) -> None:
        """The text binds the name itself from here on."""
        self._paths.pop(name, None)

    def forget_all(self, prefix: str) -> None:
        """Names that begin in this way stand for nothing from here on."""
        self._paths = {name: path for name, path in self._paths.items() if not name.startswith(prefix)}

    def take_usual(self) -> None:
        """Bind what people import without saying so: a pasted text need not repeat imports (semantics §14)."""
        usual = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim"}
        for name, path in {**usual, "np": "numpy", "math": "math"}.items():
            self._paths.setdefault(name, path)

    def _import(self, statement: ast.Import, alias: ast.alias) -> None:
        root = alias.name.partition(".")[0]
        if root in _HARMLESS or alias.name in _HARMLESS:
            return
        if root not in PACKAGES:
            raise _refused(statement, f"'import {alias.name}'", root)
        if alias.asname is not None:
            self._paths[alias.asname] = alias.name
        else:
            self._paths[root] = root
            if self._is_lenient and root == TORCH and not is_loaded(alias.name):
                self._places.pop(alias.name, None)  # what it brings is there from here on
                raise _refused(statement, f"'import {alias.name}'", root)

    def _import_from(self, statement: ast.ImportFrom, module: str, alias: ast.alias) -> None:
        name = alias.asname or alias.name
        root = module.partition(".")[0]
        if alias.name == "*":
            raise NotReadable("'import *' does not say which names it binds.", statement.lineno, statement.col_offset)
        file = _FILES.get((module, alias.name))
        if file is not None or root in PACKAGES:
            self._paths[name] = file or f"{module}.{alias.name}"
        elif module not in _HARMLESS or (module == FUTURE and alias.name not in _WITHOUT_EFFECT):
            raise _refused(statement, f"'from {module} import {alias.name}'", root)


def _refused(statement: ast.stmt, what: str, root: str = "") -> NotReadable:
    reason = f"{what} cannot be drawn: a canvas knows torch, numpy and math, and no other module."
    instead = _INSTEAD.get(root)
    return NotReadable(f"{reason} {instead}" if instead else reason, statement.lineno, statement.col_offset)
