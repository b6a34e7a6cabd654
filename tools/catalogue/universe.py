"""Everything that the installed torch offers to whoever computes with tensors, by its public path.

What is public and still no row of the catalogue stands in `left_out.txt`, with the reason.
"""

import fnmatch
import importlib
import inspect
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

NAMESPACES = (
    "torch",
    "torch.nn.functional",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.signal.windows",
    "torch.masked",
    "torch.sparse",
    "torch.random",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.prune",
    "torch.nn",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
)
"""Modules whose public callables are looked at; of classes, see `_is_wanted_class`."""

TYPES = ("torch.Tensor", "torch.Generator")
"""Types whose public methods and attributes are looked at."""

LEFT_OUT = Path(__file__).parent / "left_out.txt"


@cache
def paths() -> tuple[str, ...]:
    """Every public path, in the order of the namespaces and of the alphabet."""
    found = [path for namespace in NAMESPACES for path in _in_namespace(namespace)]
    found += [path for name in TYPES for path in _in_type(name)]
    return tuple(dict.fromkeys(found))


@cache
def left_out() -> dict[str, str]:
    """Patterns of paths that are no rows, and why.

    Raises:
        ValueError: a line is not `pattern | reason`.
    """
    found = {}
    for line in LEFT_OUT.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        patterns, bar, reason = line.partition(" | ")
        if not bar or not reason.strip():
            raise ValueError(f"left_out.txt: expected 'patterns | reason': {line}")
        found.update(dict.fromkeys(patterns.split(), reason.strip()))
    return found


def reason(path: str) -> str:
    """Why the path is no row of the catalogue; "" when nothing is said against it."""
    table = left_out()
    if path in table:
        return table[path]
    return next((why for pattern, why in table.items() if fnmatch.fnmatchcase(path, pattern)), "")


def wanted() -> tuple[str, ...]:
    """The paths that must have a row."""
    return tuple(path for path in paths() if not reason(path))


def _in_namespace(namespace: str) -> Iterator[str]:
    module = importlib.import_module(namespace)
    names = sorted({*dir(module), *getattr(module, "__all__", ())})
    for name in names:
        found = getattr(module, name, None)
        if name.startswith("_") or not callable(found) or inspect.ismodule(found):
            continue
        if inspect.isclass(found):
            if _is_wanted_class(namespace, name, found):
                yield f"{namespace}.{name}"
        elif _belongs(module, name, found):
            yield f"{namespace}.{name}"


def _is_wanted_class(namespace: str, name: str, found: type) -> bool:
    if namespace == "torch":
        return name in ("Generator", "Size")
    if namespace == "torch.nn":
        return found.__module__.startswith("torch.nn.") and not issubclass(found, dict)
    if namespace == "torch.optim":
        return issubclass(found, torch.optim.Optimizer)
    return namespace != "torch.autograd" and found.__module__ == namespace


def _belongs(module: types.ModuleType, name: str, found: Any) -> bool:
    """Whether a function is the namespace's own, not one that it imported for itself."""
    public = getattr(module, "__all__", None)
    home = getattr(found, "__module__", None) or ""
    if name in (public or ()) or (module is torch.sparse and isinstance(found, types.BuiltinFunctionType)):
        return True
    if module is torch:
        return home.startswith("torch") or not home or isinstance(found, types.BuiltinFunctionType)
    if module.__name__ in ("torch.linalg", "torch.special", "torch.fft"):
        return isinstance(found, types.BuiltinFunctionType)
    return home == module.__name__ or (not home.startswith(("typing", "torch.overrides", "torch._jit")) and not public)


def _in_type(name: str) -> Iterator[str]:
    kind = getattr(torch, name.removeprefix("torch."))
    for member in sorted(dir(kind)):
        if not member.startswith("_"):
            yield f"{name}.{member}"
