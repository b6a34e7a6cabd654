"""What the catalogue has and the installed torch does not: another version was installed than it was made from."""

import importlib
from collections.abc import Iterable
from typing import Any

import torch

from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.operators.model import Operator

_OF_OBJECTS = (
    *(f"torch.optim.Optimizer.{name}" for name in ("param_groups", "defaults", "state")),
    "torch.autograd.graph.Node.variable",
    "torch.autograd.graph.Node._saved_",
    *(f"torch.utils.data.{name}" for name in ("DataLoader.dataset", "DataLoader.batch_size", "TensorDataset.tensors")),
    *(f"torch.utils.data.Subset.{name}" for name in ("dataset", "indices")),
)
"""Attributes that objects have and their classes have not: nobody can ask a class for them."""


def missing_rows(rows: Iterable[Operator] | None = None) -> tuple[str, ...]:
    """Keys of the rows whose function, method or module the installed torch lacks."""
    table = catalogue.load() if rows is None else rows
    return tuple(row.key for row in table if not is_installed(row.path))


def is_other_version() -> bool:
    """Whether the installed torch is another than the one the catalogue was made from."""
    return _version() != catalogue.load().torch_version


def is_installed(path: str) -> bool:
    """Whether a path of the catalogue leads to something; what is not torch's own always does."""
    first, *rest = path.removesuffix("=").split(".")
    if first != "torch" or path.startswith(_OF_OBJECTS):
        return True
    found: Any = torch
    at = first
    for part in rest:
        at = f"{at}.{part}"
        if not hasattr(found, part) and not _is_module(at):
            return False
        found = getattr(found, part)
    return True


def explain_error(operator_key: str, error: Exception) -> str:
    """Python's words, without torch's stack; above them, when the installed torch lacks the operator, that it does."""
    operator = catalogue.load().get(operator_key)
    if operator is None or not isinstance(error, AttributeError | ImportError) or is_installed(operator.path):
        return str(error).partition("\nException raised from ")[0]
    made = catalogue.load().torch_version
    return f"torch {_version()} has no {operator.path}: this node is of the catalogue of torch {made}.\n{error}"


def notice() -> str:
    """One sentence on the difference, for whoever starts the engine; "" when nothing is missing."""
    missing = missing_rows() if is_other_version() else ()
    if not missing:
        return ""
    names = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
    made = catalogue.load().torch_version
    count = "1 operator" if len(missing) == 1 else f"{len(missing)} operators"
    return f"torch {_version()} lacks {count} of the catalogue, which was made from torch {made}: {names}"


def _version() -> str:
    return str(torch.__version__).partition("+")[0]


def _is_module(path: str) -> bool:
    try:
        importlib.import_module(path)
    except ImportError:
        return False
    return True
