"""How much memory a program will hold at once, summed over stand-ins before anything is allocated.

A lower bound: values that are bound together, gradients of the leaves a backward reaches, what an
optimizer keeps. What operators allocate inside, and what autograd alone still holds, is not in it.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple, cast

import psutil
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.device_memory import free_bytes
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import Need

WORTH_ASKING = 1 << 26
"""Bytes; less is never compared with what is free."""


Maker = Callable[..., torch.optim.Optimizer]


class HeldStorages(NamedTuple):
    """The storages of one value; the tensors are kept so that no address is used again."""

    tensors: list[Tensor]
    storages: dict[tuple[int, str], int]
    device: str


class MemoryEstimate:
    """Follows the names of a program and sums what is alive.

    Attributes:
        fresh: what the names that were bound last have added, by device.
    """

    def __init__(self) -> None:
        """Nothing is held."""
        self.fresh: dict[str, int] = {}
        self._held: dict[str, HeldStorages] = {}
        self._counts: dict[tuple[int, str], int] = {}
        self._totals: dict[str, int] = {}
        self._heights: list[tuple[ItemId, str, int]] = []
        self._reached: set[int] = set()
        self._stepped: set[int] = set()
        self._parents: list[tuple[int, ...]] = []
        self._leaves: dict[int, list[Tensor]] = {}
        self._origins: dict[str, int] = {}

    def copy(self) -> "MemoryEstimate":
        """Another that goes on from here."""
        twin = MemoryEstimate()
        vars(twin).update((name, held.copy()) for name, held in vars(self).items())
        return twin

    def agrees_with(self, other: "MemoryEstimate") -> bool:
        """Whether the same storages are held, by the same names."""
        mine = (self._counts, self._totals, self._heights, self._parents, self._origins, self._reached, self._stepped)
        return self._held.keys() == other._held.keys() and mine == (
            *(other._counts, other._totals, other._heights, other._parents, other._origins),
            *(other._reached, other._stepped),
        )

    def bind(self, node: ItemId, names: Iterable[str], namespace: dict[str, Any], devices: dict[str, str]) -> None:
        """Names were bound; what they named before lives until then."""
        self.fresh, old = {}, []
        for name in names:
            if name in self._held:
                old.append(self._held.pop(name))
            value = namespace[name]
            tensors = _tensors(value)
            if tensors:
                self._hold(node, name, tensors, devices.get(name, ""))
        for held in old:
            self._release(held)

    def made_of(self, names: Iterable[str], reads: Iterable[str], namespace: dict[str, Any]) -> None:
        """What was computed from what: a backward follows it to the leaves."""
        origins = self._origins
        parents = tuple([origins[name] for name in reads if name in origins])
        leaves = [t for name in names for t in _tensors(namespace[name]) if t.requires_grad and is_leaf(t)]
        place = len(self._parents)
        self._parents.append(parents)
        if leaves:
            self._leaves[place] = leaves
        for name in names:
            origins[name] = place

    def drop(self, names: Iterable[str]) -> None:
        """Names that are deleted."""
        for name in names:
            if name in self._held:
                self._release(self._held.pop(name))

    def backward(self, node: ItemId, roots: Iterable[str], device: str) -> None:
        """The gradients of the leaves that are reached, where they have none yet."""
        waiting, seen = [self._origins[name] for name in roots if name in self._origins], set[int]()
        while waiting:
            place = waiting.pop()
            if place not in seen:
                seen.add(place)
                waiting += self._parents[place]
        fresh = [t for place in seen for t in self._leaves.get(place, ()) if id(t) not in self._reached]
        self._reached |= {id(tensor) for tensor in fresh}
        self._add(node, device, sum(t.numel() * t.element_size() for t in fresh))

    def step(self, node: ItemId, optimizer: torch.optim.Optimizer, device: str) -> None:
        """What an optimizer keeps for each parameter with a gradient; counted at its first step."""
        params = [p for group in optimizer.param_groups for p in group["params"] if id(p) in self._reached]
        size = sum(p.numel() * p.element_size() for p in params if id(p) not in self._stepped)
        self._stepped |= {id(p) for p in params}
        if size:
            self._add(node, device, size * _copies(cast(Maker, type(optimizer)), _options(optimizer)))

    def found(self, baseline: int) -> tuple[Need, ...]:
        """Devices that have less than is needed; `baseline` is what the process held before any run."""
        needs = []
        for device in dict.fromkeys(device for _, device, _ in self._heights):
            peak = max(total for _, at, total in self._heights if at == device)
            free = _free(device, baseline) if peak >= WORTH_ASKING else None
            if free is not None and peak > free:
                node = next(node for node, at, total in self._heights if at == device and total > free)
                needs.append(Need(device=device, bytes=peak, free_bytes=free, node=node))
        return tuple(needs)

    def _hold(self, node: ItemId, name: str, tensors: list[Tensor], device: str) -> None:
        storages, fresh = dict[tuple[int, str], int](), 0
        for tensor in tensors:
            if tensor.layout is torch.strided and not tensor.is_nested:
                storage = tensor.untyped_storage()
                storages[storage._cdata, device] = storage.nbytes()
        for key, size in storages.items():
            count = self._counts.get(key, 0)
            self._counts[key] = count + 1
            fresh += 0 if count else size
        self._held[name] = HeldStorages(tensors, storages, device)
        if fresh and device:
            self.fresh[device] = self.fresh.get(device, 0) + fresh
        self._add(node, device, fresh)

    def _release(self, held: HeldStorages) -> None:
        gone = 0
        for key, size in held.storages.items():
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]
                gone += size
        if held.device in self._totals:
            self._totals[held.device] -= gone

    def _add(self, node: ItemId, device: str, size: int) -> None:
        if size and device:
            total = self._totals[device] = self._totals.get(device, 0) + size
            self._heights.append((node, device, total))


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, nn.Module):
        held: list[Tensor] = [*value.parameters(), *value.buffers()]
        return [tensor for tensor in held if not is_lazy(tensor)]
    return tensors_in(value)


def _free(device: str, baseline: int) -> int | None:
    """What a run from nothing can have: what is free, and what the last run still holds."""
    at = torch.device(device)
    free = free_bytes(at) if at.type == "cpu" or torch.accelerator.is_available() else None
    if free is None:
        return None
    if at.type == "cpu":
        return free + max(0, int(psutil.Process().memory_info().rss) - baseline)
    return free + (torch.accelerator.memory_allocated(at) if at.type in ("cuda", "xpu") else 0)


def _options(optimizer: torch.optim.Optimizer) -> tuple[tuple[str, Any], ...]:
    taken = inspect.signature(type(optimizer)).parameters
    given = optimizer.defaults.items()
    numbers = (int, float, tuple)
    return tuple((key, value) for key, value in given if key in taken and isinstance(value, numbers))


@lru_cache(maxsize=256)
def _copies(kind: Maker, options: tuple[tuple[str, Any], ...]) -> int:
    """How many tensors as large as a parameter an optimizer keeps for it: asked of one with two elements."""
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.ones(2)
    try:
        with clean_modes():
            optimizer = kind([parameter], **dict(options))
            optimizer.step()
    except Exception:  # noqa: BLE001 - an optimizer that wants more than numbers: nothing is counted for it
        return 0
    return sum(isinstance(held, Tensor) and held.numel() == 2 for held in optimizer.state[parameter].values())
