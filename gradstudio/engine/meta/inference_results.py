"""What is said of a stand-in: the words of `protocol.messages.inference`."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from gradstudio.engine.value.tensor_summary import dtype_name
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Statement
from gradstudio.protocol.messages.inference import LeafInference, PortInference


class Unknown:
    """Known after a run."""


UNKNOWN = Unknown()


class Refusal(NamedTuple):
    """The run will refuse it, in torch's words."""

    words: str


Ports = dict[tuple[ItemId, int], PortInference]
"""What is said of each output."""
Results = Unknown | Refusal | list[Any]


class StatementResult(NamedTuple):
    """What is remembered of a statement that gives the same whenever its inputs are the same.

    Attributes:
        absent: torch's words about the device that the results would lie on, when there is none here.
        made_by: the key of the statement that gave the results first.
        recipe: what they were made by, when each is a tensor with a storage of its own.
    """

    results: Results
    changed: dict[str, Any]
    guessed: bool
    device: str
    absent: str = ""
    made_by: int = 0
    recipe: object = None


def told_ports(
    statement: Statement, known: StatementResult, values: dict[str, Any], devices: dict[str, str]
) -> Iterator[PortInference]:
    """What can be said of each of a statement's results; of one that only writes, of what it has written into."""
    written = values.get(statement.result)
    if isinstance(written, Tensor) and not isinstance(known.results, Refusal):
        port = port_inference(statement.node, 0, written, known.guessed, devices.get(statement.result, ""))
        if port is not None:
            yield port
    else:
        yield from port_inferences(statement.node, len(statement.names), known)


def port_inferences(node: ItemId, names: int, known: StatementResult) -> Iterator[PortInference]:
    """What can be said of each of a statement's results; `names` is how many it binds."""
    if isinstance(known.results, Refusal):
        yield PortInference(node=node, refusal=known.results.words)
        return
    if isinstance(known.results, Unknown):
        yield from (PortInference(node=node, output=place, known_after_run=True) for place in range(max(names, 1)))
        return
    for place, value in enumerate(known.results):
        port = port_inference(node, place, value, known.guessed, known.device)
        if known.absent and not place:
            yield msgspec.structs.replace(port or PortInference(node=node), refusal=known.absent)
        elif port is not None:
            yield port
    if known.absent and not known.results:
        yield PortInference(node=node, refusal=known.absent)


def port_inference(node: ItemId, place: int, value: Any, guessed: bool, device: str) -> PortInference | None:
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


@lru_cache(maxsize=16)
def absent_words(device: str) -> str:
    """Torch's words when it is asked for a device of a kind that is not here; "" when it is here."""
    kind = device.partition(":")[0]
    if kind in ("", "cpu", "meta"):
        return ""
    module = getattr(torch, kind, None)
    if module is None or module.is_available():
        return ""
    try:
        torch.empty(0, device=device)
    except Exception as error:  # noqa: BLE001 - torch's own words about the device, of whatever class
        return str(error)
    return ""


def _leaves(module: torch.nn.Module) -> tuple[LeafInference, ...]:
    """What a module holds; a lazy one does not know its shapes before its first call."""
    named = (*module.named_parameters(), *module.named_buffers())
    buffers = {name for name, _ in module.named_buffers()}
    return tuple(
        LeafInference(name, tuple(tensor.shape), dtype_name(tensor.dtype), tensor.requires_grad, name in buffers)
        for name, tensor in named
        if not is_lazy(tensor)
    )
