"""Writes `resources/catalogue/methods.txt`: the names that, read from a value, give something that can be called.

python -m tools.generate_methods            writes the file
python -m tools.generate_methods --check    says whether it is up to date (exit 1 when not)
"""

import ctypes
import inspect
import sys
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from types import GeneratorType

import numpy as np
import torch
from torch import nn, optim

TARGET = Path(__file__).resolve().parent.parent / "resources" / "catalogue" / "methods.txt"
PLAIN = (
    str,
    bytes,
    list,
    tuple,
    dict,
    set,
    frozenset,
    int,
    float,
    complex,
    bool,
    slice,
    range,
    memoryview,
    OrderedDict,
)
DOORS = ("ctypes", "base", "data_ptr")
"""Attributes that can be called no more than others, but lead out of the values of a program."""


def types() -> Iterator[type]:
    """Every type whose values a program may hold."""
    for namespace, base in ((nn, nn.Module), (optim, optim.Optimizer)):
        yield from (kind for kind in vars(namespace).values() if inspect.isclass(kind) and issubclass(kind, base))
    x = torch.ones(2, requires_grad=True)
    values = (x, x * 2, x.grad_fn, (x * 2).grad_fn, x.untyped_storage(), x.shape, x.dtype, x.device, x.layout)
    yield from map(type, values)
    yield from (nn.Parameter, torch.Generator, torch.finfo, torch.iinfo, torch.autograd.graph.Node)
    yield from (type(torch.max(x, dim=0)), GeneratorType, type(np.ones(1).flat), np.ndarray, np.generic)
    yield from (type(np.float32(1)), np.dtype, type(len), type(types), type(ctypes), *PLAIN)


def text() -> str:
    """The file: a name a line, in order."""
    names = {name for kind in types() for name in dir(kind) if not name.startswith("_") and _is_called(kind, name)}
    return "\n".join(sorted({*names, *DOORS})) + "\n"


def _is_called(kind: type, name: str) -> bool:
    try:
        return callable(getattr(kind, name))
    except AttributeError:
        return False


def main() -> int:
    """Write or check the file."""
    if "--check" in sys.argv[1:]:
        return int(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
