"""Who wrote into which tensor in place, by the version torch counts: what a clash is explained with."""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from gradstudio.engine.value.lazy_modules import tensors_of
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.model import ItemId

if TYPE_CHECKING:
    from gradstudio.engine.script.compiled_steps import Step

MAX_WRITES = 16
"""Writes kept of one storage; of more the oldest go."""
MAX_STORAGES = 10_000


class Before(NamedTuple):
    """A tensor before a statement that may write into it: its version, what `storage_of` says, whether it learns."""

    tensor: Tensor
    version: int
    storage: int
    requires_grad: bool


class Write(NamedTuple):
    """One statement wrote into a storage; `version` of its tensors behind it."""

    node: ItemId
    turns: tuple[int, ...]
    version: int


class Writes:
    """The in-place writes since the start from nothing, by storage."""

    def __init__(self) -> None:
        """None yet."""
        self._by_storage: OrderedDict[int, deque[Write]] = OrderedDict()

    @property
    def has_any(self) -> bool:
        """Whether there was one."""
        return bool(self._by_storage)

    def note(self, step: "Step", turns: tuple[int, ...], before: list[Before]) -> None:
        """A statement has run; `before` is what `versions` said before it."""
        seen = set[int]()
        for tensor, version, *_ in before:
            now = tensor._version
            if now == version or (storage := storage_of(tensor)) in seen:
                continue
            seen.add(storage)
            if storage not in self._by_storage and len(self._by_storage) >= MAX_STORAGES:
                self._by_storage.popitem(last=False)
            log = self._by_storage.setdefault(storage, deque(maxlen=MAX_WRITES))
            while log and log[-1].version >= now:
                log.pop()  # of a tensor that lay at this address before
            log.append(Write(step.id, turns, now))

    def into(self, storage: int, after: int, through: int) -> tuple[Write, ...]:
        """The writes that took a storage's tensors from version `after` to `through`, in order."""
        log = self._by_storage.get(storage, ())
        return tuple(write for write in log if after < write.version <= through)

    def of(self, node: ItemId, turns: tuple[int, ...], version: int) -> Iterator[int]:
        """The storages whose tensors a statement took to that version."""
        wanted = Write(node, turns, version)
        return (storage for storage, log in self._by_storage.items() if wanted in log)


def versions(step: "Step", namespace: dict[str, object]) -> list[Before]:
    """Every tensor that a statement could write into, and its version now; a call does not write into its module."""
    values = [namespace.get(name) for name in step.source.operands]
    if step.statement.operator == "python.call":
        values = [value for value in values if not isinstance(value, nn.Module)]
    found = {id(tensor): tensor for value in values for tensor in _reachable(value)}
    return [
        Before(tensor, tensor._version, storage_of(tensor), tensor.requires_grad)
        for tensor in found.values()
        if not tensor.is_inference() and tensor.layout is torch.strided and not tensor.is_nested
    ]


def storage_of(tensor: Tensor) -> int:
    """What tensors over the same memory have in common."""
    return int(tensor.untyped_storage()._cdata)


def _reachable(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
        if value.requires_grad and is_leaf(value) and value.grad is not None:
            yield value.grad
    elif isinstance(value, nn.Module):
        yield from tensors_of(value)
    elif isinstance(value, torch.optim.Optimizer):
        for group in value.param_groups:
            yield from group["params"]
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _reachable(item)
