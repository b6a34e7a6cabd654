"""Results as the scope shows them: inside a call, the nodes on the canvas are those of that call.

What is asked for by the id that a node has on the canvas is looked up under the calls that were stepped into
(`graph.groups.call_ids`); what is told is told by that id. In the program the call stands for all that is inside it.
"""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.boundary_cards import INPUTS_CARD, OUTPUTS_CARD
from gradstudio.graph.card_grouping import CALLED, calls_of
from gradstudio.graph.groups.call_ids import INPUTS, OUTPUTS, SEPARATOR, calls_around, is_inner, path_of
from gradstudio.graph.groups.definitions import attributes_of, setup_of, top_of
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.operator_rows import GROUP
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import GradRow, Row, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import ModuleRecord, Record
from gradstudio.protocol.timeline.run_timeline import BackwardStep, Tick
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.group_scope import Scope, ShownStore
from gradstudio.ui.state.results.result_store import Failure, ResultStore


class ShownResults(ResultStore):
    """The results of what is on the canvas."""

    def __init__(self, parent: ShownStore, attention: Attention) -> None:
        """Of the program and of what is inside its calls, as the store shows it."""
        self._scope: Scope = parent.scope
        self._prefix = self._making = ""
        super().__init__(parent, attention, parent.root)
        self._scope.changed.connect(self._on_scope_changed)

    def full(self, node: ItemId) -> ItemId:
        """The id under which a run speaks of what is shown; what is not on the canvas stays what it is."""
        if not self._prefix or is_inner(node):
            return node
        if node == INPUTS_CARD:
            return ItemId(self._prefix + INPUTS)
        definition = self._scope.definition
        if definition is None or node not in definition.graph:
            return node
        if self._making != self._prefix and top_of(definition.graph, node) in setup_of(definition):
            kept = node in attributes_of(definition)
            return ItemId((self._prefix if kept else self._making) + node)
        return ItemId(self._prefix + node)

    def shown(self, node: ItemId) -> ItemId:
        """What stands for an item on the canvas: itself, or the call it is inside of; its id where nothing does."""
        prefix = next((one for one in (self._prefix, self._making) if node.startswith(one)), None)
        if not is_inner(node) or prefix is None:
            return node
        first = node.removeprefix(prefix).partition(SEPARATOR)[0]
        return {INPUTS: INPUTS_CARD, OUTPUTS: OUTPUTS_CARD}.get(ItemId(first), ItemId(first))

    def here(self, node: ItemId) -> ItemId | None:
        """The id on the canvas of what a run speaks of; None where it is not there itself."""
        shown = self.shown(node)
        return shown if self.full(shown) == node else None

    @property
    def next_node(self) -> ItemId:
        """What runs next, as it stands on the canvas; "" where nothing there stands for it."""
        return self._standing_for(self._next)

    @next_node.setter
    def next_node(self, node: ItemId) -> None:
        self._next = node

    @property
    def running_node(self) -> ItemId:
        """What is at work, as it stands on the canvas."""
        return self._standing_for(self._running)

    @running_node.setter
    def running_node(self, node: ItemId) -> None:
        self._running = node

    # ------------------------------------------------------------------ asked by the canvas

    @property
    def active(self) -> Tick | None:
        """The tick that is looked at; None: now."""
        tick = super().active
        return tick._replace(node=self.shown(tick.node)) if tick is not None else None

    @property
    def active_group(self) -> tuple[Tick, ...]:
        """The ticks of the step that is looked at."""
        return tuple(tick._replace(node=self.shown(tick.node)) for tick in super().active_group)

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        """Records of the node's results."""
        return super().outputs(self.full(node))

    def row(self, node: ItemId) -> Row | None:
        """When and how the node last ran."""
        return super().row(self.full(node))

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        """The gradient of a result."""
        return super().grad(self.full(node), output, path)

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        """All gradients known of a node."""
        return super().gradients_of(self.full(node))

    def wire_grad(self, wire: Wire) -> WireGrad | None:
        """What the wire's target sent back along it."""
        source, target = self.full(wire.source), self.full(wire.target)
        return super().wire_grad(wire if target is wire.target else Wire(source, wire.output, target, wire.port))

    def forming(self, node: ItemId, output: int = 0) -> tuple[tuple[WireGrad, ...], int]:
        """The contributions to a value's gradient so far."""
        parts, total = super().forming(self.full(node), output)
        return tuple(map(self._wire, parts)), total

    def backward_step(self) -> BackwardStep | None:
        """What happens at the step of a backward that is looked at."""
        step = super().backward_step()
        if step is None or not (self._prefix or is_inner(step.node)):
            return step
        wires = tuple(wire for wire in map(self._wire, step.wires) if wire.source != wire.target)
        arrivals = tuple(
            one._replace(value=msgspec.structs.replace(one.value, node=self.shown(one.value.node)))
            if one.value is not None
            else one
            for one in step.arrivals
        )
        return step._replace(node=self.shown(step.node), wires=wires, arrivals=arrivals)

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        """Pairs (base, view) of nodes whose results share a storage."""
        pairs = ((self.shown(base), self.shown(view)) for base, view in super().shared_storage())
        return tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        """What the node holds."""
        return super().node_memory(self.full(node))

    def seconds(self, node: ItemId) -> tuple[float, float]:
        """Seconds the node took."""
        return super().seconds(self.full(node))

    def saved_bytes(self, node: ItemId) -> int:
        """Bytes the node keeps for a backward."""
        return super().saved_bytes(self.full(node))

    def released_bytes(self, node: ItemId) -> int:
        """Bytes the node kept for a backward, which a backward has let go."""
        return super().released_bytes(self.full(node))

    def stale(self, node: ItemId) -> bool:
        """Whether the node's result belongs to an older program."""
        return super().stale(self.full(node))

    def failure(self, node: ItemId) -> Failure | None:
        """How the node failed, or what is inside it."""
        full = self.full(node)
        own = super().failure(full)
        if own is not None:
            return _as_of(own, node)
        inside = (one for item, one in self._failures.items() if item.startswith(full + SEPARATOR))
        return next((_as_of(one, node) for one in inside if self._stands(one)), None)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every failure that stands."""
        return tuple(_as_of(failure, self.shown(failure.failed.node)) for failure in super().failures)

    @property
    def failed_at(self) -> ItemId:
        """Where the newest failure that stands happened, as the run calls it; "" for none."""
        return next((failure.failed.node for failure in reversed(super().failures)), ItemId(""))

    def module_now(self, node: ItemId) -> ModuleRecord | None:
        """A module as it stands now."""
        return super().module_now(self.full(node))

    def warnings(self, node: ItemId) -> tuple[Warned, ...]:
        """Torch's warnings while the node ran."""
        return super().warnings(self.full(node))

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        """What inference expects of a result."""
        return super().inference(self.full(node), output)

    # ------------------------------------------------------------------ private

    def _standing_for(self, node: ItemId) -> ItemId:
        shown = self.shown(node)
        return shown if not self._prefix or shown != node else ItemId("")

    def _wire(self, wire: WireGrad) -> WireGrad:
        return msgspec.structs.replace(wire, source=self.shown(wire.source), target=self.shown(wire.target))

    def _with_shown(self, items: Iterable[ItemId]) -> set[ItemId]:
        """The items, and what stands for them, here and in the program."""
        found = set(items)
        for item in [item for item in found if is_inner(item)]:
            found.update((self.shown(item), calls_around(item)[0]))
        return found

    def _on_throttle_due(self) -> None:
        self._pending = self._with_shown(self._pending)
        super()._on_throttle_due()

    def _on_attention_moment_changed(self) -> None:
        items = self._history.changed_since(self._view)
        self._view = self._history.view()
        if items is None or items:
            self.changed.emit(frozenset(self._with_shown(items or ())))
        self.moment_moved.emit()

    def _on_scope_changed(self) -> None:
        prefix, making = list[ItemId](), list[ItemId]()
        where = self._scope.root.graph
        for item, name in zip(self._scope.path, self._scope.names(), strict=True):
            call, maker = _call_and_maker(where, item)
            prefix.append(call)
            making.append(maker)
            where = self._scope.root.graph.definitions[name].graph
        self._prefix, self._making = ("".join(f"{one}{SEPARATOR}" for one in part) for part in (prefix, making))
        self._announce_everything()


def _call_and_maker(graph: Graph, item: ItemId) -> tuple[ItemId, ItemId]:
    """The call that an item stands for, of a module's constructor the last; and what made the module, else the call."""
    if (wire := graph.wire_into(item, CALLED)) is not None and not graph.nodes[item].operator.startswith(GROUP):
        return item, wire.source
    calls = calls_of(graph, item)
    return (calls[-1] if calls else item), item


def _as_of(failure: Failure, node: ItemId) -> Failure:
    """The failure as that of what is shown; what went into a node inside a call did not go into the call."""
    if failure.failed.node == node:
        return failure
    same = path_of(failure.failed.node)[-1] == node
    operands = failure.failed.operands if same else ()
    return msgspec.structs.replace(
        failure, failed=msgspec.structs.replace(failure.failed, node=node, operands=operands)
    )
