"""What is remembered of a tensor whose gradient is shown: a value as it was made, and the `.grad` of a leaf."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from msgspec import Struct
from torch import Tensor

from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.value_records import serial_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import GradPart, GradRow
from gradstudio.protocol.messages.records import Summary

Key = tuple[ItemId, int, str]
"""Node, output, path within the output."""
NEVER = -1


class Cut(NamedTuple):
    """Why a tensor does not require grad: cut `here` by `node`, or because a cut lies further up."""

    here: bool
    node: ItemId
    reason: str


class Overwritten(NamedTuple):
    """A value's memory was written into since it was made, and torch rebuilt its autograd edge.

    Attributes:
        first: the statement that wrote first, and its operator as a card writes it ("add_"); `last` the last one.
    """

    first: tuple[ItemId, str]
    last: tuple[ItemId, str]


@dataclass(slots=True, eq=False)
class Leaf:
    """The watched `.grad` of one leaf tensor.

    Attributes:
        tensor: held, so that its identity stays its own.
        cleared_at: number of backwards that had run when it was made or its `.grad` set to None.
        emptied_by: the statement that last set its `.grad` to None, "" for a person or code that nobody saw; None:
            nothing did.
        parts: what each backward since then has added.
        seen: identity and version of `.grad` when last looked at.
        returned: `torch.autograd.grad` gave its gradient and left `.grad` alone.
        refused: its gradient was computed, but the backward ended in an error before anybody had it.
        users: how many values are this tensor; with the last one the watch ends.
        aliases: wires into statements that gave this tensor back as it was.
        storage: where it lives, by `value_records.serial_of`; 0 where it has none.
    """

    tensor: Tensor
    cleared_at: int
    emptied_by: ItemId | None = None
    parts: list[GradPart] = field(default_factory=list)
    seen: tuple[int, int] | None = None
    returned: bool = False
    refused: bool = False
    users: int = 0
    summary: tuple[tuple[int, int], Summary] | None = None
    aliases: dict[tuple[ItemId, str], Any] = field(default_factory=dict)
    storage: int = 0


def watch(tensor: Tensor, cleared_at: int) -> Leaf:
    """Begin to watch a leaf, as it is now."""
    storage = serial_of(tensor.untyped_storage()) if lives_in_storage(tensor) else 0
    return Leaf(tensor, cleared_at, seen=glance(tensor.grad), storage=storage)


class Value(Struct, eq=False):
    """The latest value of one output (or of a module's parameter, an item of a list).

    Attributes:
        tensor: None when it had to make room.
        requires_grad, was_leaf: as it was made.
        cut: why it does not require grad, when that is no matter of course.
        grad: what arrived last at its autograd edge, at version `grad_version`; None when it had to make room.
        written: who wrote into its memory since, if its autograd edge is no longer its tensor's.
        after_write: what arrived is the gradient of the value as it stands after those writes.
        unreached: why no backward reached it, and the node to name.
        told: its row, as long as it holds; `told_behind`: it was made behind a backward.
        order: of its key among all.
        kept_bytes, grad_bytes: of `tensor` and `grad`, while they are counted as held for showing.
        has_row: a statement's row told of it alone, and no backward met an older value of the same turns.
        telling: of all states after which the record says how its gradient stands (`Gradients.telling`), or `NEVER`.
    """

    key: Key
    serial: int
    tensor: Tensor | None
    requires_grad: bool
    was_leaf: bool
    made_at: int
    turns: tuple[int, ...]
    version: int | None
    cut: Cut | None = None
    grad: Tensor | None = None
    grad_version: int | None = None
    summary: Summary | None = None
    recorded: bool = True
    written: Overwritten | None = None
    after_write: bool = False
    unreached: tuple[str, ItemId] | None = None
    told: GradRow | None = None
    told_behind: bool = False
    order: int = 0
    kept_bytes: int = 0
    grad_bytes: int = 0
    has_row: bool = False
    telling: int = NEVER

    def is_overwritten(self) -> bool:
        """Whether its memory was written into since, and what arrived is not the gradient of what is there now."""
        tensor = self.tensor
        if tensor is None or self.version is None or self.after_write or tensor.is_inference():
            return False
        return tensor._version != self.version

    def is_frozen(self) -> bool:
        """Whether it is a leaf that required grad when it was made, and does not any more."""
        tensor = self.tensor
        return self.was_leaf and self.requires_grad and tensor is not None and not tensor.requires_grad


def glance(grad: Tensor | None) -> tuple[int, int] | None:
    """What tells a `.grad` from another, and from itself after a write: identity and version."""
    if grad is None:
        return None
    return identity(grad), 0 if grad.is_inference() else grad._version


def lives_in_storage(tensor: Tensor) -> bool:
    """Whether its numbers lie in one storage; those of a sparse or a nested tensor do not."""
    return tensor.layout is torch.strided and not tensor.is_nested
