"""Sizes refused before anything is allocated (semantics §12).

A statement is looked at more closely only when it could matter: when the product of the sizes it
names, and of the elements of the tensors it takes, reaches the free memory. Then it runs once on
the meta device, where tensors have no data, and its results are weighed. Module calls and what
torch allocates inside an operator are left to the allocator, whose error is caught like any other.
"""

import ast
import math
import re
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from gradstudio.engine.access import MODULES
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.device_memory import free_bytes
from gradstudio.engine.errors import TooLarge
from gradstudio.engine.meta.meta_tensors import weigh_on_meta
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.program.python_limits import TooBig
from gradstudio.program.python_sizes import of_value, refuse

LOOK_ABOVE = 1 << 24
"""Elements; nothing smaller is ever looked at (64 MiB of float32)."""
LARGEST_ITEM_BYTES = 16
LOOK_AGAIN_S = 0.5
_free: list[float] = []
MAX_WEIGHED = 4096
_weighed: dict[tuple[object, ...], list[tuple[int, torch.device]]] = {}
CPU = torch.device("cpu")
_MUTABLE = (torch.nn.Module, torch.optim.Optimizer)
_CANNOT_GROW = frozenset(
    "view reshape view_as reshape_as expand expand_as broadcast_to transpose permute squeeze unsqueeze flatten "
    "unflatten movedim swapaxes t T mT narrow select split chunk unbind detach sum mean amax amin max min argmax "
    "argmin norm relu tanh sigmoid softmax log_softmax layer_norm batch_norm dropout clone contiguous".split()
)
_MULTIPLY = ("matmul", "mm", "outer", "kron", "einsum", "diag", "vander", "cart", "combin")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_ALLOCATOR = re.compile(r"tried to allocate (\d+) bytes|Tried to allocate ([\d.]+) ([KMGT]iB)")


def refuse_too_large(step: Step, namespace: dict[str, Any]) -> None:
    """Refuse a statement whose results would exceed the free memory of their device, or the limits of Python's own.

    Raises:
        TooLarge: with what it needs and what there is.
    """
    try:
        _refuse_in_python(step, namespace)
    except TooBig as error:
        raise TooLarge(f"{error} It was not run.", 0) from None
    if not step.statement.names:
        return
    bound = largest_result(step, namespace)
    if bound < LOOK_ABOVE or bound * LARGEST_ITEM_BYTES < _free_lately():
        return
    if not any(isinstance(namespace.get(name), _MUTABLE) for name in step.source.reads):
        _weigh(step, namespace)


def _refuse_in_python(step: Step, namespace: dict[str, Any]) -> None:
    text, sizes = step.statement.text, [of_value(namespace.get(name)) for name in step.source.reads]
    if any(sizes):
        refuse(text, lambda name: of_value(namespace.get(name)))
    else:
        _refuse_unknown(text)


@lru_cache(maxsize=65536)
def _refuse_unknown(text: str) -> None:
    """Refuse what is too large whatever its names are: of tensors and modules nothing is known, in any turn."""
    refuse(text, lambda _: None)


def is_too_large_for_python(step: Step, names: Mapping[str, Any]) -> bool:
    """Whether a statement, with these values for its names, makes a number, text or list beyond Python's limits."""
    try:
        refuse(step.statement.text, lambda name: of_value(names.get(name)))
    except TooBig:
        return True
    return False


def too_large_error(step: Step, size: int, free: int, device: torch.device) -> TooLarge:
    """The refusal of a statement, with what it needs and what there is."""
    text = step.statement.text.split("=", 1)[-1].strip()[:200]
    return TooLarge(
        f"{text} would take {spelled_bytes(size)}; {spelled_bytes(free)} are free on {device}. It was not run.", size
    )


def refused_bytes(error: BaseException) -> int:
    """How much was asked for, of our refusal or of an allocator's own words; 0 for other errors."""
    if isinstance(error, TooLarge):
        return error.needed_bytes
    found = _ALLOCATOR.search(str(error))
    if found is None:
        return 0
    if found[1]:
        return int(found[1])
    return int(float(found[2]) * 1024 ** _UNITS.index(found[3]))


def spelled_bytes(count: float) -> str:
    """``3.6 TiB``."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def _free_lately() -> int:
    """Free bytes of the CPU, looked up at most every `LOOK_AGAIN_S`: asking the system takes longer than a matmul."""
    now = time.monotonic()
    if not _free or now - _free[0] > LOOK_AGAIN_S:
        _free[:] = [now, free_bytes(CPU) or 0]
    return int(_free[1])


def largest_result(step: Step, namespace: dict[str, Any]) -> int:
    """More elements than this no result can have, roughly: a product, cheap to form."""
    literals, names, growth = _asked(step.statement.text, step.statement.operator, step.source.slots)
    sizes, counts, shapes = literals, [], []
    for name in names:
        value = namespace.get(name)
        if isinstance(value, Tensor):
            counts.append(value.numel())
            shapes.append(value.shape)
        elif type(value) is int:
            sizes *= abs(value) or 1
        elif isinstance(value, list | tuple):
            sizes *= math.prod([abs(size) or 1 for size in value if type(size) is int])
    if not counts:
        return sizes
    if growth == "multiplies":
        return sizes * math.prod(counts if len(counts) > 1 else counts * 2)
    if growth == "never" or (sizes == 1 and shapes.count(shapes[0]) == len(shapes)):
        return max(counts)
    return sizes * math.prod(counts)


@lru_cache(maxsize=65536)
def _asked(text: str, operator: str, slots: tuple[str, ...]) -> tuple[int, tuple[str, ...], str]:
    """(product of the literal sizes, names that may bring more, how the result grows) of a statement."""
    word = operator.rpartition(".")[2]
    if any(part in word for part in _MULTIPLY):
        growth = "multiplies"
    elif word in _CANNOT_GROW:
        growth = "never"
    else:
        growth = ""
    return math.prod(literals(text)), tuple(name for name in slots if name not in MODULES), growth


def multiplies(operator: str) -> bool:
    """Whether its results may have as many elements as the product of what it takes; matrices multiply smaller."""
    word = operator.rpartition(".")[2]
    return "mm" not in word and "matmul" not in word and any(part in word for part in _MULTIPLY)


@lru_cache(maxsize=65536)
def literals(text: str) -> tuple[int, ...]:
    """Absolute values of the whole numbers in a statement; ``10**12`` counts as one."""
    found: list[int] = []
    _collect(ast.parse(text), found)
    return tuple(abs(number) or 1 for number in found)


def _collect(tree: ast.AST, found: list[int]) -> None:
    match tree:
        case ast.Constant(value=int() as number):
            found.append(int(number))
        case ast.BinOp(left=ast.Constant(value=int() as base), op=ast.Pow(), right=ast.Constant(value=int() as power)):
            found.append(base**power if abs(power) < 1000 else LOOK_ABOVE)
        case _:
            for child in ast.iter_child_nodes(tree):
                _collect(child, found)


def _weigh(step: Step, namespace: dict[str, Any]) -> None:
    results = _results(step, namespace)
    needed: dict[torch.device, int] = {}
    for size, device in results:
        needed[device] = needed.get(device, 0) + size
    for device, size in needed.items():
        small = device == CPU and size < _free_lately() / 2
        free = None if small else free_bytes(device)
        if free is not None and size > free:
            raise too_large_error(step, size, free, device)


def _results(step: Step, namespace: dict[str, Any]) -> list[tuple[int, torch.device]]:
    """Bytes and device of each new storage; remembered, for the same operands give the same."""
    kinds = [_kind(namespace.get(name)) for name in step.source.operands]
    key = (step.statement.text, torch.get_default_dtype(), *kinds)
    known = _weighed.get(key) if None not in kinds else None
    if known is not None:
        return known
    with clean_modes():
        results = weigh_on_meta(step, namespace)
    if None not in kinds:
        if len(_weighed) >= MAX_WEIGHED:
            _weighed.clear()
        _weighed[key] = results
    return results


def _kind(value: object) -> object:
    """What of an operand the sizes of results can depend on; None where that is not known."""
    if isinstance(value, Tensor):
        plain = value.layout is torch.strided and not value.is_nested
        return (value.dtype, value.shape, value.stride(), value.device, value.requires_grad) if plain else None
    if isinstance(value, bool | int | float | complex | str):
        return type(value), value
    if isinstance(value, torch.Size):
        return value
    return value if isinstance(value, torch.dtype | torch.device) else None
