"""What is asked of a single call: what it gave, whether it may write, and whose it is."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode, _pop_mode_temporarily

from gradstudio.engine.bring.call_text import AUGMENTED
from gradstudio.engine.bring.forward_recorder import Line, tensors_in

STEP, ZERO_GRAD = "optimizer.step", "optimizer.zero_grad"
LIBRARY = "library"
BACKWARD, GRAD = "torch.autograd.backward", "torch.autograd.grad"
"""Paths of calls that are no functions of torch's."""

_HELPERS = re.compile(r"[/\\]torch[/\\]nn[/\\](utils[/\\]|init\.py$)")
"""Files of functions that torch does not let a mode see as one call."""


class ModuleCall(NamedTuple):
    """One call of a module of the person's, which has ended."""

    module: nn.Module
    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    line: Line


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


@contextmanager
def out_of(mode: TorchFunctionMode) -> Iterator[None]:
    """The innermost mode asks about nothing within; as one that looks away it would still be asked every time."""
    if _get_current_function_mode() is mode:  # type: ignore[no-untyped-call]  # torch gives it no types
        with _pop_mode_temporarily():
            yield
    else:
        yield


def may_write(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a call may write into what it is given."""
    if name in AUGMENTED or name in ("__setitem__", "__set__", "set_") or kwargs.get("inplace"):
        return True
    if kwargs.get("out") is not None or any(arg is True for arg in args[1:]):
        return True  # F.relu(x, True): what a bare True means, is not asked
    return name.endswith("_") and not name.endswith("__")


def helper_around(frame: FrameType | None, is_theirs: Callable[[str], bool], called: CodeType) -> FrameType | None:
    """The helper of torch's that the person has called, inside of which a frame is; None in their own code.

    Args:
        frame: the innermost.
        is_theirs: whether a file is the person's.
        called: the code that calls modules: what is inside of it is a module's own forward.
    """
    found = None
    while frame is not None and not is_theirs(frame.f_code.co_filename):
        if frame.f_code is called:
            return None
        if _HELPERS.search(frame.f_code.co_filename) and frame.f_code.co_name in frame.f_globals:
            found = frame
        frame = frame.f_back
    return found


def name_of(frame: FrameType) -> str:
    """A function of a library as it is imported."""
    name, where = frame.f_code.co_name, str(frame.f_globals.get("__name__", ""))
    outer = where.rpartition(".")[0]
    return f"{outer if hasattr(sys.modules.get(outer), name) else where}.{name}"
