"""What is said of a stand-in: the words of `protocol.inference`."""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from gradstudio.engine.summary import dtype_name
from gradstudio.graph.model import ItemId
from gradstudio.protocol.inference import LeafInference, PortInference


class Unknown:
    """Known after a run."""


UNKNOWN = Unknown()


def told(node: ItemId, place: int, value: Any, guessed: bool, device: str) -> PortInference | None:
    """What can be said of a result; None when it is nothing that has a shape."""
    if value is None or isinstance(value, bool | int | float | complex | str):
        return None
    if isinstance(value, Tensor):
        if value.is_nested:
            return None
        return PortInference(
            node=node,
            output=place,
            dtype="" if guessed and value.is_floating_point() else dtype_name(value.dtype),
            shape=tuple(value.shape),
            device=device,
            requires_grad=value.requires_grad,
        )
    if value is UNKNOWN:
        return PortInference(node=node, output=place, known_after_run=True)
    if isinstance(value, torch.nn.Module):
        return PortInference(node=node, output=place, leaves=_leaves(value))
    return None


@lru_cache(maxsize=64)
def device_of(device: torch.device) -> str:
    """Where a tensor made for this device lies: ``cuda`` means the first one."""
    name = str(device)
    return name if ":" in name or name in ("cpu", "meta") else f"{name}:0"


def _leaves(module: torch.nn.Module) -> tuple[LeafInference, ...]:
    """What a module holds; a lazy one does not know its shapes before its first call."""
    named = (*module.named_parameters(), *module.named_buffers())
    buffers = {name for name, _ in module.named_buffers()}
    return tuple(
        LeafInference(name, tuple(tensor.shape), dtype_name(tensor.dtype), tensor.requires_grad, name in buffers)
        for name, tensor in named
        if not is_lazy(tensor)
    )
