"""What is asked of a single call: what it gave, whether it may write, and whose it is."""

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from gradstudio.engine.bring.call_text import AUGMENTED
from gradstudio.engine.bring.forward_recorder import tensors_in


def parts_of(result: Any) -> list[Any]:
    """What the names of a statement mean that unpacks a result: its tensors, and what is no nest of tensors."""
    if isinstance(result, Tensor):
        return [result]
    items: Iterable[Any] = ()
    if isinstance(result, dict):
        items = result.values()
    elif isinstance(result, list | tuple):
        items = result
    found: list[Any] = []
    for item in items:
        if isinstance(item, Tensor) or not (isinstance(item, list | tuple) and tensors_in(item)):
            found.append(item)
        else:
            found += parts_of(item)
    return found if tensors_in(found) else []


def is_transforming() -> bool:
    """Whether a transform of `torch.func` is at work, whose tensors are none of the person's."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def may_write(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a call may write into what it is given."""
    if name in AUGMENTED or name in ("__setitem__", "__set__", "set_") or kwargs.get("inplace"):
        return True
    if kwargs.get("out") is not None or any(arg is True for arg in args[1:]):
        return True  # F.relu(x, True): what a bare True means, is not asked
    return name.endswith("_") and not name.endswith("__")


def name_of(frame: FrameType) -> str:
    """A function of a library as it is imported."""
    name, where = frame.f_code.co_name, str(frame.f_globals.get("__name__", ""))
    outer = where.rpartition(".")[0]
    return f"{outer if hasattr(sys.modules.get(outer), name) else where}.{name}"
