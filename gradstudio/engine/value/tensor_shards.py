"""Distributed tensors (`DTensor`): the part that lies in this process, and which part of the whole it is.

torch's own operations on such a tensor are work of all ranks together: one rank that asks alone waits for ever. So
nothing here, and nothing that looks at values, asks anything of it but its part.
"""

import sys
from math import prod
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.nn import Buffer, Parameter

from gradstudio.protocol.messages.records import Shard

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

_PLAIN = frozenset({Tensor, Parameter, Buffer})
"""Classes whose tensors lie in one piece."""


def distributed(tensor: Tensor) -> "DTensor | None":
    """The tensor, if it is shared out over processes."""
    if tensor.__class__ in _PLAIN:
        return None
    module: Any = sys.modules.get("torch.distributed.tensor")  # no program without it has such a tensor
    found: DTensor | None = tensor if module is not None and isinstance(tensor, module.DTensor) else None
    return found


def held_part(tensor: Tensor) -> Tensor:
    """What lies in this process: the part of a distributed tensor, detached; any other tensor itself."""
    found = distributed(tensor)
    if found is None:
        return tensor
    part = found._local_tensor.detach()
    wait = getattr(part, "wait", None)  # one that a collective still writes into
    return part if wait is None else wait()


def shard_of(tensor: "DTensor") -> Shard:
    """Which part of the whole lies here."""
    placements = tuple(repr(placement).replace("dim=", "") for placement in tensor.placements)
    return Shard(
        whole=tuple(tensor.shape),
        placements=placements,
        mesh=tuple(tensor.device_mesh.shape),
        offset=_offset(tensor),
        is_part=not all(placement.is_replicate() for placement in tensor.placements),
    )


def _offset(tensor: "DTensor") -> tuple[int, ...]:
    """Where the part begins in each dimension; () where it is not one block, or a term of a sum, or nothing."""
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor import Shard as Split

    mesh = tensor.device_mesh
    coordinate = mesh.get_coordinate()
    if coordinate is None or any(type(one) not in (Split, Replicate) for one in tensor.placements):
        return ()
    sizes = list(tensor.shape)
    begins = [0] * len(sizes)
    for parts, place, placement in zip(mesh.shape, coordinate, tensor.placements, strict=True):
        if isinstance(placement, Split):
            size = sizes[placement.dim]
            each = -(-size // parts)  # as `torch.chunk` cuts
            begin = min(place * each, size)
            begins[placement.dim] += begin
            sizes[placement.dim] = min(each, size - begin)
    return tuple(begins) if prod(sizes) else ()
