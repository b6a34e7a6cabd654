"""What a figure shows of a program: a box a statement with its parts, a frame a block, and the flows. No Qt."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from gradstudio.graph.analysis.program_analysis import effects, nested_now
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import input_ports, operator_of
from gradstudio.operators.model import Effect, Face, Family

TURNS = frozenset({Effect.BACKWARD, Effect.OPTIMIZER})
"""What statements do to gradients and parameters, one after the other."""


class Flow(NamedTuple):
    """What flows from one box to another, and the wires of the canvas that bring it."""

    source: ItemId
    target: ItemId
    wires: tuple[Wire, ...]


class FigureGraph:
    """The boxes of a figure, their frames and flows.

    Attributes:
        graph: the program.
        homes: by item, the item whose box shows it: a statement for its parts, a call for its module.
        order: what stands in each body, blocks included, in the order of the program.
        parents: the body of each box and block.
        leaves: boxes that are given, not computed: nothing is wired into any of what they show.
        parameters: the leaves that require grad, or hold what does.
        effects: boxes that bind nothing: they are there for what they do.
        flows: between boxes, in the order of their targets; those of an edge back into a loop are the last.
        turns: pairs that no wire joins, and of which the second comes later: backwards and what optimizers do, and
            what is computed after a step.
    """

    def __init__(self, graph: Graph, only: Collection[ItemId] | None = None) -> None:
        """Read the graph; `only` leaves out all but the boxes that show one of these, and the blocks around them."""
        self.graph = graph
        self.homes = _homes(graph)
        wanted = None if only is None else _wanted(graph, self.homes, only)
        self.order: dict[BodyId, list[ItemId]] = {}
        self.parents: dict[ItemId, BodyId] = {}
        self._read(ROOT, wanted)
        self.flows = self._flows()
        # A film asks these of every box at every step.
        self._members: dict[ItemId, list[ItemId]] = {}
        for item, home in self.homes.items():
            self._members.setdefault(home, []).append(item)
        self.leaves = frozenset(item for item in self.boxes if self._is_leaf(item))
        self.parameters = frozenset(item for item in self.leaves if _requires_grad(graph, item))
        self.effects = frozenset(item for item in self.boxes if _is_effect(graph, item))
        self.turns = [pair for order in self.order.values() for pair in self._turns(order)]

    @property
    def boxes(self) -> list[ItemId]:
        """Every box, in the order of the program."""
        return [item for item in self.parents if item in self.graph.nodes]

    @property
    def blocks(self) -> list[ItemId]:
        """Every frame, outer ones first."""
        return [item for item in self.parents if item in self.graph.blocks]

    def members(self, item: ItemId) -> list[ItemId]:
        """All items that a box shows."""
        return self._members.get(item, [item])

    def around(self, item: ItemId, body: BodyId) -> ItemId | None:
        """The item of a body that is, or holds, a box; None: it is elsewhere."""
        while item in self.parents and self.parents[item] != body:
            item = ItemId(self.parents[item])
        return item if item in self.parents else None

    def _turns(self, order: list[ItemId]) -> Iterator[tuple[ItemId, ItemId]]:
        acted, stepped = ItemId(""), ItemId("")
        for item in order:
            acts = any(not TURNS.isdisjoint(effects(self.graph, one)) for one in self.members(item))
            if acts and acted:
                yield acted, item
            elif stepped and item not in self.leaves:
                yield stepped, item
            if acts:
                acted = item
                operator = operator_of(self.graph, item)
                stepped = item if operator is not None and operator.key.endswith(".step") else stepped

    def _is_leaf(self, item: ItemId) -> bool:
        ports = (port for one in self.members(item) for port in input_ports(self.graph, one))
        return not any(port.state == "wired" for port in ports)

    def _read(self, body: BodyId, wanted: Collection[ItemId] | None) -> None:
        self.order[body] = []
        for item in self.graph.bodies.get(body, ()):
            is_wanted = wanted is None or item in wanted
            if not is_wanted or (item in self.graph.nodes and self.homes[item] != item):
                continue
            self.order[body].append(item)
            self.parents[item] = body
            if item in self.graph.blocks:
                self._read(BodyId(item), wanted)

    def _flows(self) -> list[Flow]:
        found: dict[tuple[ItemId, ItemId], list[Wire]] = {}
        place = {item: number for number, item in enumerate(self.boxes)}
        for wire in sorted(
            self.graph.wires.values(), key=lambda one: (place.get(self.homes.get(one.target, one.target), -1), one)
        ):
            for source, target in self._ends(wire):
                if source != target:
                    found.setdefault((source, target), []).append(wire)
        return [Flow(source, target, tuple(wires)) for (source, target), wires in found.items()]

    def _ends(self, wire: Wire) -> list[tuple[ItemId, ItemId]]:
        """Boxes at the ends of a wire; one that a loop carries goes on to all that takes the carried value."""
        sources, targets = [self.homes.get(wire.source, wire.source)], [self.homes.get(wire.target, wire.target)]
        block = self.graph.blocks.get(wire.target)
        if block is not None:
            if not wire.port.startswith("first."):
                return []  # what a loop carries back would run against the order; its variables say it
            output = 1 + block.carried.index(wire.port.removeprefix("first."))
            users = (user for user in self.graph.wires_from(wire.target) if user.output == output)
            targets = [self.homes.get(user.target, user.target) for user in users]
        elif wire.source in self.graph.blocks:
            sources = self._carried(wire)
        return [(one, other) for one in sources for other in targets if self._is_box(one) and self._is_box(other)]

    def _carried(self, wire: Wire) -> list[ItemId]:
        """Of a value that a loop carries and that is read behind it: what made it in the last turn."""
        block = self.graph.blocks[wire.source]
        inside = self.around(wire.target, BodyId(wire.source)) is not None
        if inside or wire.output == 0 or wire.output > len(block.carried):
            return []
        last = self.graph.wires.get((wire.source, f"next.{block.carried[wire.output - 1]}"))
        return [self.homes.get(last.source, last.source)] if last is not None else []

    def _is_box(self, item: ItemId) -> bool:
        return item in self.parents and item in self.graph.nodes


def _requires_grad(graph: Graph, item: ItemId) -> bool:
    """Whether the text of a leaf says that it requires grad, or it holds parameters."""
    operator = operator_of(graph, item)
    is_module = operator is not None and bool(operator.results) and operator.results[0].family is Family.MODULE
    parameter = operator is not None and operator.key.endswith(".Parameter")
    return is_module or parameter or graph.nodes[item].literals.get("requires_grad") == "True"


def _is_effect(graph: Graph, item: ItemId) -> bool:
    """Whether a statement binds nothing: it is there for what it does."""
    operator = operator_of(graph, item)
    return operator is not None and not graph.nodes[item].names and operator.face is not Face.AUGMENTED


def _homes(graph: Graph) -> dict[ItemId, ItemId]:
    groups, nested = card_groups(graph), nested_now(graph)
    homes: dict[ItemId, ItemId] = {}
    for item in graph.nodes:
        home, steps = groups.home(item), len(graph.nodes)
        while home in nested and steps:
            users = graph.wires_from(home)
            if not users or users[0].target not in graph.nodes:
                break
            home, steps = groups.home(users[0].target), steps - 1
        homes[item] = home
    return homes


def _wanted(graph: Graph, homes: dict[ItemId, ItemId], only: Collection[ItemId]) -> set[ItemId]:
    found: set[ItemId] = set()
    for item in only:
        if item in graph.blocks:
            found.update(graph.order(BodyId(item)), (item,))
        found.add(homes.get(item, item))
    for item in list(found):
        found.update(ItemId(body) for body in graph.ancestors(item) if body != ROOT)
    return found
