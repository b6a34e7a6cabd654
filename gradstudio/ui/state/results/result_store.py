"""What a run said, by node and as of the moment that is looked at: values, gradients, failures. It decides nothing."""

from bisect import bisect_left
from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.backward_trace import BackwardTraced, WireGrad
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory
from gradstudio.protocol.messages.events import Failed, GradRow, Printed, Row, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Record
from gradstudio.protocol.timeline.run_timeline import BackwardStep, Tick, Timeline
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.event_buffer import waits
from gradstudio.ui.state.results.module_state import ModulesNow
from gradstudio.ui.state.results.run_ids import Placed
from gradstudio.ui.state.results.run_names import NOTHING_RAN, RunNames
from gradstudio.ui.state.results.timeline_cursor import History
from gradstudio.ui.state.throttle import Throttle

ANNOUNCEMENT_MS = 33


class Failure(msgspec.Struct, frozen=True):
    """A node that failed: torch's words, ours, and what can be done.

    Attributes:
        what: torch's exception and message, unchanged.
        explanation: in plain words; "" when we know no more than torch.
        fixes: titles of what may be done.
        text: the statement that failed; the failure stands only while the program says that.
    """

    failed: Failed
    explanation: str = ""
    fixes: tuple[str, ...] = ()
    text: str = ""

    @property
    def what(self) -> str:
        """Torch's exception class and words."""
        return f"{self.failed.type_name}: {self.failed.message}"


class ResultStore(ModulesNow, Placed, QObject):
    """The results of each node as of `attention.moment`, `attention.backward` and the chosen turns.

    Attributes:
        memory: what each node holds, as last weighed; None before.
        names: how the program that ran called its nodes.

    Signals:
        changed(object): frozenset of ids whose results changed, at most 30 times a second, and at once when
            another moment is looked at; empty when everything changed at once.
        moment_moved(): another moment, backward, turn or folding is looked at; after its `changed`.
        recorded(): the timeline is longer, or another; at most 30 times a second.
        printed(object), warned(object): a `Printed` or `Warned`, as it came.
    """

    changed = Signal(object)
    moment_moved = Signal()
    recorded = Signal()
    printed = Signal(object)
    warned = Signal(object)

    def __init__(
        self, parent: QObject | None = None, attention: Attention | None = None, store: GraphStore | None = None
    ) -> None:
        """No results yet; the moment is that of `attention`, the loops are those of the store's graph."""
        super().__init__(parent)
        self.attention = attention if attention is not None else Attention(self)
        self._history = History(self.attention, store)
        self._view = self._history.view()
        self.memory: MemoryByNode | None = None
        self.names = NOTHING_RAN
        self._memory_rows: dict[ItemId, NodeMemory] = {}
        self._inference: dict[tuple[ItemId, int], PortInference] = {}
        self._failures: dict[ItemId, Failure] = {}
        self._warnings: dict[ItemId, tuple[Warned, ...]] = {}
        self._incomplete: dict[ItemId, str] = {}
        self._texts: dict[ItemId, str] = {}
        self._pending: set[ItemId] = set()
        self._everything = self._grown = False
        self.is_stale = False
        self.next_node: ItemId = ItemId("")
        self.running_node: ItemId = ItemId("")
        self.pace = Throttle(ANNOUNCEMENT_MS, self)
        self.pace.due.connect(self._on_throttle_due)
        self.attention.moment_changed.connect(self._on_attention_moment_changed)

    # ------------------------------------------------------------------ the moment

    @property
    def timeline(self) -> Timeline:
        """All that happened since the start from nothing."""
        return self._history.timeline

    def full(self, node: ItemId) -> ItemId:
        """The id under which a run speaks of what is shown."""
        return node

    @property
    def moment(self) -> int | None:
        """Index of the tick that is looked at; None: now."""
        return self._history.tick

    @property
    def looking_back(self) -> bool:
        """Whether all that is shown is history."""
        return self._history.tick is not None

    def is_at(self, moment: int | None) -> bool:
        """Whether that tick is looked at (None: now)."""
        return self._history.tick == moment

    @property
    def active(self) -> Tick | None:
        """The tick that is looked at; None: now."""
        return self._history.active

    @property
    def active_group(self) -> tuple[Tick, ...]:
        """The ticks of the step that is looked at; one alone when the timeline is unfolded."""
        return self._history.active_group

    # ------------------------------------------------------------------ as of the moment

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        """Records of the node's results as they were when it last ran; None before."""
        row = self._history.row(node)
        return row.outputs if row is not None else None

    def row(self, node: ItemId) -> Row | None:
        """When and how the node last ran; None before."""
        return self._history.row(node)

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        """The gradient of a result (or of a module's parameter by path)."""
        return self._history.grad(node, output, path)

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        """All gradients known of a node, parameters included."""
        return self._history.gradients_of(node)

    def wire_grad(self, wire: Wire) -> WireGrad | None:
        """What the wire's target sent back along it; None: nothing yet, or it has run anew since."""
        return self._history.wire_grad(wire.source, wire.output, wire.target, wire.port)

    def wire_record(self, wire: Wire) -> Record | None:
        """What went through the wire; None before."""
        outputs = self.outputs(wire.source) or ()
        return outputs[wire.output] if wire.output < len(outputs) else None

    def forming(self, node: ItemId, output: int = 0) -> tuple[tuple[WireGrad, ...], int]:
        """The contributions to a value's gradient so far, in torch's order, and how many there will be."""
        return self.timeline.forming(node, output, self._history.tick)

    def backward_step(self) -> BackwardStep | None:
        """What happens at the step of a backward that is looked at; None in the forward, or now."""
        return self._history.backward_step()

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        """Pairs (base, view) of nodes whose results share a storage."""
        return self._history.shared_storage()

    def version_now(self, storage: int) -> int:
        """The highest version at which anything in a storage was seen, as of the moment."""
        return self._history.version_now(storage)

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        """What the node holds, as last weighed; None when it was not."""
        return self._memory_rows.get(node)

    def seconds(self, node: ItemId) -> tuple[float, float]:
        """Seconds the node took in its pass: forward, and in the last backward."""
        return self.timeline.seconds(node, self._history.tick)

    def saved_bytes(self, node: ItemId) -> int:
        """Bytes the node keeps for a backward: 0 after their release."""
        known = self._memory_rows.get(node)
        if self._history.tick is None and known is not None:
            return known.saved_bytes
        return self.timeline.saved_bytes(node, self._history.tick)

    def released_bytes(self, node: ItemId) -> int:
        """Bytes the node kept for a backward, which a backward has let go."""
        made = self.timeline.made_at(node, self._history.tick)
        return self.timeline.saved_bytes(node, made) if made is not None and not self.saved_bytes(node) else 0

    # ------------------------------------------------------------------ whatever the moment

    def stale(self, node: ItemId) -> bool:
        """Whether the node's result belongs to an older program than the canvas shows."""
        return self.is_stale and self.timeline.row(node) is not None

    def failure(self, node: ItemId) -> Failure | None:
        """How the node failed when it last ran, if it did and the program is still the one that failed."""
        failure = self._failures.get(node)
        return failure if failure is not None and self._stands(failure) else None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every failure that stands."""
        return tuple(failure for failure in self._failures.values() if self._stands(failure))

    def warnings(self, node: ItemId) -> tuple[Warned, ...]:
        """Torch's warnings while the node ran."""
        return self._warnings.get(node, ())

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        """What inference expects of a result."""
        return self._inference.get((node, output))

    def incomplete(self, node: ItemId) -> str:
        """Why the node cannot run yet; "" when it can."""
        return self._incomplete.get(node, "")

    # ------------------------------------------------------------------ what is told

    def set_texts(self, texts: dict[ItemId, str], repeated: frozenset[ItemId] = frozenset()) -> None:
        """The statements of the program as it stands; failures of other statements are not shown.

        `repeated` are the nodes whose results a new pass makes history.
        """
        self._texts = texts
        self.timeline.repeated = repeated
        for node in self._failures:
            self._announce(node)

    def begin(self, fresh: bool, held: bool = False, names: RunNames = NOTHING_RAN) -> None:
        """A verb begins; from nothing, what older runs left is forgotten.

        `held`: the older run is shown, whole, until `release`, so that no half-done picture is painted.
        """
        self.take_up()
        if held:
            self.hold()
        self._begin(fresh, names)

    def release(self) -> None:
        """Show what was held back, and announce at once what waits to be announced."""
        self.take_up()
        self.pace.flush()

    @waits
    def add_rows(self, rows: Iterable[Row]) -> None:
        """Nodes ran."""
        told = tuple(rows)
        self.timeline.add_rows(told)
        self._announce_grown(row.node for row in told)
        kept = self.timeline.trim()
        if kept is not None:
            self._renumber(kept)

    @waits
    def add_backward(self, traced: BackwardTraced) -> None:
        """A backward was recorded."""
        self.timeline.add_backward(traced)
        self._announce_grown(row.node for row in traced.rows if row.node)

    @waits
    def set_gradients(self, rows: Iterable[GradRow], whole: bool) -> None:
        """Gradients as they stand now; `whole` replaces all that were known."""
        self._announce(*self.timeline.add_gradients(rows, whole))

    def set_memory(self, memory: MemoryByNode) -> None:
        """What each node holds now."""
        old, self.memory = self._memory_rows, memory
        self._memory_rows = {row.node: row for row in memory.rows}
        for node in old.keys() | self._memory_rows.keys():
            if old.get(node) != self._memory_rows.get(node):
                self._announce(node)

    def set_inference(self, ports: Iterable[PortInference]) -> None:
        """What inference says of the program as it stands; announced at once, for an edit waits for it."""
        old, self._inference = self._inference, {(port.node, port.output): port for port in ports}
        self._pending |= {key[0] for key in old.keys() | self._inference if old.get(key) != self._inference.get(key)}
        self._on_throttle_due()

    def set_incomplete(self, reasons: dict[ItemId, str]) -> None:
        """Which nodes cannot run, and why."""
        changed = {
            item for item in reasons.keys() | self._incomplete.keys() if reasons.get(item) != self.incomplete(item)
        }
        self._incomplete = dict(reasons)
        self._announce(*changed)

    @waits
    def add_failure(self, failure: Failure) -> None:
        """A node failed."""
        self._failures[failure.failed.node] = failure
        self._announce(failure.failed.node)

    @waits
    def add_warning(self, warning: Warned) -> None:
        """Torch warned while a node ran."""
        self._warnings[warning.node] = (*self._warnings.get(warning.node, ()), warning)
        self._announce(warning.node)
        self.warned.emit(warning)

    def add_print(self, printed: Printed) -> None:
        """The program printed."""
        self.printed.emit(printed)

    @waits
    def set_stale(self, stale: bool) -> None:
        """Whether the results belong to an older program than the canvas shows."""
        if self.is_stale != stale:
            self.is_stale = stale
            self._announce_everything()

    def set_running(self, node: ItemId) -> None:
        """Which node is at work now; "" when none is."""
        changed = {self.running_node, node} - {""}
        self.running_node = node
        self._announce(*changed)

    def set_counter(self, next_node: ItemId) -> None:
        """Which node runs next; "" at the end."""
        changed = {self.next_node, next_node, self.running_node} - {""}
        self.next_node, self.running_node = next_node, ItemId("")
        self._announce(*changed)

    def clear(self) -> None:
        """Forget everything (another document)."""
        self.waiting = None
        for table in (self._inference, self._failures, self._warnings, self._incomplete):
            table.clear()
        self._forget_history()
        self.is_stale = False
        self.next_node = self.running_node = ItemId("")
        self._announce_everything()

    # ------------------------------------------------------------------ private

    @waits
    def _begin(self, fresh: bool, names: RunNames) -> None:
        self.names = names
        self._failures.clear()
        self.timeline.begin()
        if fresh:
            self._forget_history()
            self._warnings.clear()
        self.is_stale = False
        self._announce_everything()

    def _forget_history(self) -> None:
        self.timeline.clear()
        self.memory, self._memory_rows = None, {}
        self._grown = True
        self.attention.look_at_now()

    def _renumber(self, kept: list[int]) -> None:
        """Ticks had to go: the moment looked at stays what it was, or becomes the next that is left."""
        moment = self.attention.moment
        if moment is not None:
            self.attention.look_at(min(bisect_left(kept, moment), len(kept) - 1))

    def _stands(self, failure: Failure) -> bool:
        node = failure.failed.node
        return not self.is_stale and (node not in self._texts or self._texts[node] == failure.text or not failure.text)

    def _announce(self, *items: ItemId) -> None:
        self._pending.update(items)
        self.pace.request()

    def _announce_grown(self, items: Iterable[ItemId]) -> None:
        self._grown = True
        self._pending.update(items)
        self.pace.request()

    def _announce_everything(self) -> None:
        self._everything = True
        self.pace.request()

    def _on_throttle_due(self) -> None:
        if self.waiting is not None:
            return
        items = frozenset() if self._everything else frozenset(self._pending)
        everything, grown = self._everything, self._grown
        self._pending.clear()
        self._everything = self._grown = False
        if items or everything:
            self.changed.emit(items)
        if grown:
            self.recorded.emit()

    def _on_attention_moment_changed(self) -> None:
        items = self._history.changed_since(self._view)
        self._view = self._history.view()
        if items is None:
            self.changed.emit(frozenset())
        elif items:
            self.changed.emit(items)
        self.moment_moved.emit()
