"""Ids of the canvas and of a run: inside a call, the nodes on the canvas are those of that call.

What is asked for by the id that a node has on the canvas is looked up under the calls that were stepped into
(`graph.groups.call_ids`); what is told is told by that id. In the program the call stands for all that is inside it.
"""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.boundary_cards import INPUTS_CARD, OUTPUTS_CARD
from gradstudio.graph.card_grouping import CALLED, calls_of
from gradstudio.graph.groups.call_ids import INPUTS, OUTPUTS, SEPARATOR, call_items, calls_around, is_call_item
from gradstudio.graph.groups.definitions import attributes_of, group_of, setup_of, top_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.code_records import CODE, FREE_CALL, FREE_METHOD, is_members
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.timeline.run_timeline import Arrival, BackwardStep
from gradstudio.ui.state.document.group_scope import Scope

CARDS_OF_PARTS = {INPUTS: INPUTS_CARD, OUTPUTS: OUTPUTS_CARD}


ENTERED = frozenset({CODE, FREE_CALL, FREE_METHOD})
"""Operators of nodes whose code calls torch: what it called is gone through."""


class CanvasIds:
    """Translates between the ids of what the scope shows and those a run speaks of; without a scope both are one.

    Attributes:
        translates: whether any is another one: asked first where every card and wire is looked up.
    """

    def __init__(self, scope: Scope | None = None) -> None:
        """Of what `scope` shows, now and later; None: of the program."""
        self._scope = scope
        self._prefix = self._making = ""
        self.translates = False
        if scope is not None:
            scope.changed.connect(self._on_scope_changed)

    def full(self, node: ItemId) -> ItemId:
        """The id under which a run speaks of what is shown; what is not on the canvas stays what it is."""
        if not self._prefix or SEPARATOR in node:
            return node
        if node == INPUTS_CARD:
            return ItemId(self._prefix + INPUTS)
        definition = self._scope.definition if self._scope is not None else None
        if definition is None or node not in definition.graph:
            return node
        if self._making != self._prefix and top_of(definition.graph, node) in setup_of(definition):
            kept = node in attributes_of(definition)
            return ItemId((self._prefix if kept else self._making) + node)
        return ItemId(self._prefix + node)

    def way_in(self, root: Graph, node: ItemId) -> ItemId | None:
        """The id in a run of what can be stepped into at a node that is shown: code, or a call; None: nothing.

        `root` is the program's graph. At a module it is its last call.
        """
        definition = self._scope.definition if self._scope is not None else None
        graph = definition.graph if definition is not None else root
        if node in graph.nodes and graph.nodes[node].operator in ENTERED and not is_members(graph.nodes[node]):
            return self.full(node)
        return self.full(_call_and_maker(graph, node)[0]) if group_of(graph, node) else None

    def shown(self, node: ItemId) -> ItemId:
        """What stands for an item on the canvas: itself, or the call it is inside of; its id where nothing does."""
        if SEPARATOR not in node:
            return node
        if node.startswith(self._prefix):
            inside = node.removeprefix(self._prefix)
        elif node.startswith(self._making):
            inside = node.removeprefix(self._making)
        else:
            return node
        first = ItemId(inside.partition(SEPARATOR)[0])
        return CARDS_OF_PARTS.get(first, first)

    def here(self, node: ItemId) -> ItemId | None:
        """The id on the canvas of what a run speaks of; None where it is not there itself."""
        shown = self.shown(node)
        return shown if self.full(shown) == node else None

    def standing_for(self, node: ItemId) -> ItemId:
        """What stands for an item on the canvas; "" where nothing there does."""
        shown = self.shown(node)
        return shown if not self._prefix or shown != node else ItemId("")

    def wire(self, wire: WireGrad) -> WireGrad:
        """What came back along a wire, between what stands for its ends."""
        return msgspec.structs.replace(wire, source=self.shown(wire.source), target=self.shown(wire.target))

    def step(self, step: BackwardStep) -> BackwardStep:
        """A step of a backward by what stands for its nodes; wires inside one of them are left out."""
        if not (self._prefix or is_call_item(step.node)):
            return step
        wires = tuple(wire for wire in map(self.wire, step.wires) if wire.source != wire.target)
        arrivals = tuple(map(self._arrival, step.arrivals))
        return step._replace(node=self.shown(step.node), wires=wires, arrivals=arrivals)

    def with_shown(self, items: Iterable[ItemId]) -> frozenset[ItemId]:
        """The items, and what stands for them, here and in the program."""
        found = set(items)
        for item in call_items(found):
            found.update((self.shown(item), calls_around(item)[0]))
        return frozenset(found)

    def _arrival(self, arrival: Arrival) -> Arrival:
        value = arrival.value
        if value is None:
            return arrival
        return arrival._replace(value=msgspec.structs.replace(value, node=self.shown(value.node)))

    def _on_scope_changed(self) -> None:
        assert self._scope is not None
        prefix, making = list[ItemId](), list[ItemId]()
        where = self._scope.root.graph
        for item, name in zip(self._scope.path, self._scope.names(), strict=True):
            call, maker = _call_and_maker(where, item) if item in where else (item, item)
            prefix.append(call)
            making.append(maker)
            where = self._scope.root.graph.definitions[name].graph
        self._prefix, self._making = ("".join(f"{one}{SEPARATOR}" for one in part) for part in (prefix, making))
        self.translates = bool(self._prefix)


def _call_and_maker(graph: Graph, item: ItemId) -> tuple[ItemId, ItemId]:
    """The call that an item stands for, of a module's constructor the last; and what made the module, else the call."""
    if (wire := graph.wire_into(item, CALLED)) is not None and not graph.nodes[item].operator.startswith(GROUP):
        return item, wire.source
    calls = calls_of(graph, item)
    return (calls[-1] if calls else item), item
