"""Wires as autograd sees them: the edge that went into each port when a statement ran, and what came back along it.

A statement's autograd nodes send gradients to edges; those edges that its wires brought in are its
wires' gradients. Where two wires bring the same edge (``x * x``), torch's edges are dealt out in the
order of the arguments; where torch made fewer edges than wires (packed self-attention), the first
wires have them and the others were sent nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field
from torch import Tensor
from torch.autograd.graph import Node

from gradstudio.engine.gradient.tensor_watch import Key
from gradstudio.engine.value.view_state import grad_fn_of, is_leaf
from gradstudio.graph.model import ItemId

if TYPE_CHECKING:
    from gradstudio.engine.script.compiled_steps import Step

MARK = "gradstudio"
MAX_ITEMS = 64
Turns = tuple[int, ...]
Source = tuple[ItemId, int]
Mark = tuple[Key, int, int, Turns]
"""A value made at an autograd node: its key, serial, output number, turns."""

NOBODY: Source = (ItemId(""), 0)
_SERIALS = count(1)


class WireEdge(Struct, eq=False):
    """What a port read: the autograd edge behind it; `number` is -1 where `node` is a leaf tensor."""

    port: str
    source: Source
    node: Any
    number: int


class Call(Struct, eq=False):
    """One execution of a statement, and what its wires brought in that requires grad.

    Attributes:
        outer: the call of a group that the statement is inside of.
        serial: numbers calls in the order they ran.
    """

    node: ItemId
    turns: Turns
    edges: tuple[WireEdge, ...]
    outer: "Call | None" = None
    serial: int = field(default_factory=_SERIALS.__next__)

    def settle(self) -> None:
        """The statement has run: views that had no autograd node before it were given theirs by torch."""
        if any(edge.number < 0 and not is_leaf(edge.node) for edge in self.edges):
            self.edges = tuple(
                [edge_of(edge.port, edge.source, edge.node) if edge.number < 0 else edge for edge in self.edges]
            )


class Alias(NamedTuple):
    """A statement that gave the tensor it was given (``b = a``, ``contiguous``, a list): a wire without a node."""

    serial: int
    node: ItemId
    turns: Turns
    port: str
    source: Source
    number: int


class Marks(Struct, eq=False):
    """What is noted at an autograd node, in the node's own `metadata`, so that graphs are freed as without it.

    Attributes:
        values: made at it.
        call: the statement that made it; None when not known.
        aliases: statements that passed its results on as they are.
        order: 1 of the forward, 2 of a backward with create_graph, and so on.
        owner: of a node that a backward made: the canvas node and turns whose gradient it computed.
    """

    values: list[Mark] = []
    call: Call | None = None
    aliases: Sequence[Alias] = ()
    order: int = 1
    owner: tuple[ItemId, Turns] | None = None


def marks_of(node: Node) -> Marks:
    """What is noted at an autograd node."""
    metadata: dict[str, Marks] = node.metadata  # type: ignore[assignment]  # a dict, typed as a method by torch
    marks = metadata.get(MARK)
    if marks is None:
        marks = metadata[MARK] = Marks()
    return marks


def call_of(step: "Step", namespace: Mapping[str, Any], binder: dict[str, Source], turns: Turns) -> Call | None:
    """The call of a statement that is about to run; None when no wire brings anything that requires grad."""
    if len(step.wires) == 1:
        port, name, source = step.wires[0]
        value = namespace.get(name)
        if isinstance(value, Tensor):
            if not value.requires_grad:
                return None
            return Call(step.id, turns, (edge_of(port, source or binder.get(name), value),))
    edges: list[WireEdge] = []
    for port, name, source in step.wires:
        value = namespace.get(name)
        if isinstance(value, Tensor):
            if value.requires_grad:
                edges.append(edge_of(port, source or binder.get(name), value))
        elif isinstance(value, list | tuple):
            edges += _edges_of_items(port, source or binder.get(name), value)
    return Call(step.id, turns, tuple(edges)) if edges else None


def attach(call: Call, node: Node, index: int, marks: Marks) -> None:
    """Note that the call gave a result whose edge is this one, in the node's marks.

    A node never holds a call that holds the node itself: that cycle would keep the graph for ever.
    """
    is_own = False
    for edge in call.edges:
        if edge.node is node:
            is_own = True
            if edge.number == index:
                marks.aliases = [*marks.aliases, *aliases_of(call, (edge,))]
    if not is_own and marks.call is None:
        marks.call = call


def aliases_of(call: Call, edges: Iterable[WireEdge]) -> list[Alias]:
    """Wires whose tensor the call gave back as it was."""
    return [Alias(call.serial, call.node, call.turns, edge.port, edge.source, edge.number) for edge in edges]


def edge_of(port: str, source: Source | None, tensor: Tensor) -> WireEdge:
    """What a port reads, as autograd sees it."""
    node = grad_fn_of(tensor) if tensor._is_view() else tensor.grad_fn
    begins = source or NOBODY
    return WireEdge(port, begins, tensor, -1) if node is None else WireEdge(port, begins, node, tensor.output_nr)


def _edges_of_items(port: str, source: Source | None, items: "list[Any] | tuple[Any, ...]") -> list[WireEdge]:
    """A whole list along one wire: a wire's gradient per item, "port.0", ..."""
    single = len(items) == 1
    return [
        edge_of(port if single else f"{port}.{place}", source, item)
        for place, item in enumerate(items[:MAX_ITEMS])
        if isinstance(item, Tensor) and item.requires_grad
    ]


class Sending(Struct, eq=False):
    """What is sent back along one wire, while it is being summed.

    Attributes:
        edge: (number of the seen autograd node, index).
        holds: its tensor is needed beyond its own moment: to be summed, or to pass through an alias.
        place: of the row that sent the last part; -1 before.
    """

    port: str
    source: Source
    target: ItemId
    turns: Turns
    edge: tuple[int, int]
    holds: bool = False
    parts: int = 0
    place: int = -1
    total: Tensor | None = None
    summary: Any = None

    def forget(self) -> None:
        """Nothing was sent yet."""
        self.parts = 0
        self.place = -1
        self.total = None
        self.summary = None

    def add(self, grad: Tensor, place: int) -> None:
        """One more autograd edge has sent a gradient."""
        self.parts += 1
        self.place = max(place, self.place)
        if self.holds:
            self.total = grad.detach() if self.total is None else self.total + grad.detach()


def deal(slots: int, ports: int) -> list[int]:
    """Which port each of torch's edges belongs to, both in order: the last port has what is left over."""
    return [min(slot, ports - 1) for slot in range(slots)]
