"""What a timeline is made of: ticks, and what can be read off a backward at one. No Qt, no torch."""

from typing import Literal as OneOf
from typing import NamedTuple

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, EdgeValue, SavedTensor, WireGrad
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Summary

Phase = OneOf["forward", "backward"]
Turns = tuple[int, ...]


class Tick(NamedTuple):
    """The smallest thing that happened: a statement executed (`row`) or an autograd node (`autograd`).

    Attributes:
        index: its place on the timeline.
        group: number of the step of the folded timeline it belongs to.
        backward, place: of an autograd node: which backward, and the index among its rows; else 0 and -1.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, for which a tick has no use
    group: int
    phase: Phase
    node: ItemId
    turns: Turns
    pass_number: int
    backward: int
    place: int
    row: Row | None
    autograd: AutogradRow | None

    def moved(self, index: int, group: int) -> "Tick":
        """The same at another place; what named tuples have for it takes half as long again."""
        return tuple.__new__(Tick, (index, group, *self[2:]))


class Contribution(NamedTuple):
    """One autograd edge's share of a gradient: which node sent it, along which port ("" when not known)."""

    node: ItemId
    autograd: str
    grad: Summary | None
    port: str


class Arrival(NamedTuple):
    """A gradient that arrived at an autograd node, the canvas value it belongs to, and what was summed."""

    value: EdgeValue | None
    grad: Summary | None
    parts: tuple[Contribution, ...]


class BackwardStep(NamedTuple):
    """All of one group of a backward, as far as it has gone: what arrived, what left along each wire into the node.

    Attributes:
        place: which step of how many of its backward it is, from 1; (0, 0) where not all of them are kept.
    """

    node: ItemId
    turns: Turns
    backward: int
    order: int
    rows: tuple[AutogradRow, ...]
    arrivals: tuple[Arrival, ...]
    wires: tuple[WireGrad, ...]
    saved: tuple[SavedTensor, ...]
    place: tuple[int, int] = (0, 0)
