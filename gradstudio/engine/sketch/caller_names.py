"""What a person calls the leaves that they draw: by their variables."""

import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import FrameType

from torch import Tensor, nn

_KEPT_LOCALS = sys.version_info < (3, 13)
"""Here a frame of a function keeps all that its variables hold once it was asked for them."""
_MOST_LISTED = 200


def names_around(frame: FrameType) -> list[tuple[str, Tensor]]:
    """The tensors that the variables of a frame hold: ``w``, ``model.fc.weight``, ``parameters[2]``, in this order.

    Of a function that is at work they are those of its module, and from Python 3.13 on its own before them.
    """
    is_function = bool(frame.f_code.co_flags & CO_OPTIMIZED)
    own = {} if is_function and _KEPT_LOCALS else dict(frame.f_locals)
    variables = {name: value for name, value in (own | dict(frame.f_globals) | own).items() if name[:1] != "_"}
    found = [(name, value) for name, value in variables.items() if issubclass(type(value), Tensor)]
    for name, value in variables.items():
        if issubclass(type(value), nn.Module):
            found += [(f"{name}.{path}", tensor) for path, tensor in _of_module(value)]
    for name, value in variables.items():
        if type(value) in (list, tuple):
            found += [
                (f"{name}[{place}]", one)
                for place, one in enumerate(value[:_MOST_LISTED])
                if issubclass(type(one), Tensor)
            ]
    return found


def _of_module(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from module.named_parameters()
    yield from module.named_buffers()
