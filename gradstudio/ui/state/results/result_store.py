"""What a run said, by node of the canvas and as of the moment that is looked at: values, gradients, failures."""

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.groups.call_ids import SEPARATOR
from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.charts import CURVE, Chart
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import GradRow, Row, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import ModuleRecord, Record
from gradstudio.protocol.timeline.run_timeline import BackwardStep, Tick
from gradstudio.scene.printout import NOTHING_PRINTED, Printout
from gradstudio.scene.results import Alarm, LoopTurn
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.canvas_ids import CanvasIds
from gradstudio.ui.state.results.chart_store import curve_shown
from gradstudio.ui.state.results.failure import Failure, shown_at
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.results.timeline_cursor import TimelineCursor


class ResultStore(QObject):
    """Reads the tables of a run as of `attention.moment`, `attention.backward` and the chosen turns.

    Attributes:
        tables: what the run told; who runs writes there.
        timeline: all that happened since the start from nothing; it speaks the ids of the run.
        ids: what a node on the canvas is called in the run.
        resized: which of what `changed` announces may need another room on its card; None: all.

    Signals:
        changed(object): frozenset of ids whose results changed, at most 30 times a second, and at once when
            another moment is looked at; empty when everything changed at once.
        weighed(object): frozenset of ids that are known to hold something else; nothing but costs is another.
        moment_moved(): another moment, backward, turn or folding is looked at; after its `changed`.
    """

    changed = Signal(object)
    weighed = Signal(object)
    moment_moved = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        attention: Attention | None = None,
        store: GraphStore | None = None,
        ids: CanvasIds | None = None,
    ) -> None:
        """No results yet; the moment is that of `attention`, the loops are those of the store's graph.

        Args:
            ids: translates what the canvas asks; without it the canvas shows the program.
        """
        super().__init__(parent)
        self.attention = attention if attention is not None else Attention(self)
        self.ids = ids if ids is not None else CanvasIds()
        self.tables = ResultTables(self.attention, self)
        self.timeline = self.tables.timeline
        self.resized: frozenset[ItemId] | None = None
        self._alarms: dict[ItemId, Alarm] = {}
        self._store = store
        self.cursor = TimelineCursor(self.timeline, self.attention, store)
        self._view = self.cursor.view()
        self.tables.changed.connect(self._on_tables_changed)
        self.tables.weighed.connect(lambda items: self.weighed.emit(self.ids.with_shown(items)))
        self.attention.moment_changed.connect(self._on_attention_moment_changed)

    # ------------------------------------------------------------------ the moment

    @property
    def moment(self) -> int | None:
        """Index of the tick that is looked at; None: now."""
        return self.cursor.now().tick

    @property
    def looking_back(self) -> bool:
        """Whether all that is shown is history."""
        return self.cursor.now().tick is not None

    @property
    def active(self) -> Tick | None:
        """The tick that is looked at; None: now."""
        tick = self.cursor.now().active
        if tick is None or SEPARATOR not in tick.node:
            return tick
        return tick._replace(node=self.ids.shown(tick.node))

    @property
    def active_group(self) -> tuple[Tick, ...]:
        """The ticks of the step that is looked at; one alone when the timeline is unfolded."""
        return tuple(tick._replace(node=self.ids.shown(tick.node)) for tick in self.cursor.active_group)

    # ------------------------------------------------------------------ as of the moment

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        """Records of the node's results as they were when it last ran, trained leaves as they stood; None before."""
        full = self.ids.full(node) if self.ids.translates else node
        now, written = self.cursor.now(), self.tables.written
        row = now.rows[full]
        if row is None:
            return None
        if not written and not now.wrote_leaves:
            return row.outputs
        return tuple(
            [self.cursor.trained(row, output, written.get((full, output))) for output in range(len(row.outputs))]
        )

    def row(self, node: ItemId) -> Row | None:
        """When and how the node last ran; None before."""
        return self.cursor.now().rows[self.ids.full(node) if self.ids.translates else node]

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        """The gradient of a result (or of a module's parameter by path)."""
        return self.cursor.grad(self.ids.full(node) if self.ids.translates else node, output, path)

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        """All gradients known of a node, parameters included."""
        return self.cursor.gradients_of(self.ids.full(node))

    def wire_grad(self, wire: Wire) -> WireGrad | None:
        """What the wire's target sent back along it; None: nothing yet, or it has run anew since."""
        source, target = wire.source, wire.target
        if self.ids.translates:
            source, target = self.ids.full(source), self.ids.full(target)
        return self.cursor.wire_grad(source, wire.output, target, wire.port)

    def wire_record(self, wire: Wire) -> Record | None:
        """What went through the wire; None before. Of a leaf, what it was when the target took it."""
        outputs = self.outputs(wire.source) or ()
        record = outputs[wire.output] if wire.output < len(outputs) else None
        if not self.timeline.wrote_leaves:
            return record
        return self.cursor.went_in(self.ids.full(wire.source), wire.output, self.ids.full(wire.target)) or record

    def left_by(self, node: ItemId, output: int = 0, path: str = "") -> Tick | None:
        """The statement that made of a leaf what it is at the moment; None where it is no leaf, or none is known."""
        return self.cursor.left_by(self.ids.full(node), output, path)

    def forming(self, node: ItemId, output: int = 0) -> tuple[tuple[WireGrad, ...], int]:
        """The contributions to a value's gradient so far, in torch's order, and how many there will be."""
        parts, total = self.timeline.forming(self.ids.full(node), output, self.cursor.now().tick)
        return tuple(map(self.ids.wire, parts)), total

    def backward_step(self) -> BackwardStep | None:
        """What happens at the step of a backward that is looked at; None in the forward, or now."""
        step = self.cursor.backward_step()
        return self.ids.step(step) if step is not None else None

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        """Pairs (base, view) of nodes whose results share a storage."""
        shown = self.ids.shown
        pairs = ((shown(base), shown(view)) for base, view in self.cursor.shared_storage())
        return tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))

    def version_now(self, storage: int) -> int:
        """The highest version at which anything in a storage was seen, as of the moment."""
        return self.cursor.version_now(storage)

    def seconds(self, node: ItemId) -> tuple[float, float]:
        """Seconds the node took in its pass: forward, and in the last backward."""
        return self.timeline.seconds(self.ids.full(node), self.cursor.now().tick)

    def saved_bytes(self, node: ItemId) -> int:
        """Bytes the node keeps for a backward: 0 after their release."""
        full = self.ids.full(node)
        weighed = self.tables.memory_rows.get(full)
        if self.cursor.now().tick is None and weighed is not None:
            return weighed.saved_bytes
        return self.timeline.saved_bytes(full, self.cursor.now().tick)

    def released_bytes(self, node: ItemId) -> int:
        """Bytes the node kept for a backward, which a backward has let go."""
        full = self.ids.full(node)
        made = self.timeline.made_at(full, self.cursor.now().tick)
        if made is None or self.saved_bytes(node):
            return 0
        return self.timeline.saved_bytes(full, made)

    def module_now(self, node: ItemId) -> ModuleRecord | None:
        """A module as it stands at the moment, where that is another than when it was made."""
        full = self.ids.full(node)
        row = self.cursor.row(full)
        made = row.outputs[0] if row is not None and row.outputs else None
        if row is None or not isinstance(made, ModuleRecord):
            return None
        now = self.tables.written.get((full, 0))
        if now is not None and now.step == row.step and not self.looking_back and isinstance(now.record, ModuleRecord):
            return now.record
        return self.cursor.module(row, 0) if self.timeline.wrote_leaves else None

    # ------------------------------------------------------------------ whatever the moment

    @property
    def next_node(self) -> ItemId:
        """What runs next, as it stands on the canvas; "" where nothing there stands for it, and at the end."""
        return self.ids.standing_for(self.tables.next_node)

    @property
    def running_node(self) -> ItemId:
        """What is at work, as it stands on the canvas; "" when nothing is."""
        return self.ids.standing_for(self.tables.running_node)

    @property
    def running_seconds(self) -> int:
        """For how long, once that is worth saying; else 0."""
        return self.tables.running_seconds

    @property
    def loops(self) -> tuple[LoopTurn, ...]:
        """The loops that the run stands in, or stood in at the moment that is looked at, as they are on the canvas."""
        shown, turns = self.tables.loops.shown, self.cursor.loop_turns()
        if turns or self.looking_back:
            stands = () if self.looking_back else (one for one in shown if one.loop not in turns)
            shown = (*stands, *self.tables.loops.at(turns))
        return tuple(one._replace(loop=self.ids.standing_for(one.loop)) for one in shown) if shown else ()

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        """What the node holds, as last weighed; None when it was not."""
        return self.tables.memory_rows.get(self.ids.full(node))

    def stale(self, node: ItemId) -> bool:
        """Whether the node's result belongs to an older program than the canvas shows."""
        return self.tables.is_stale and self.timeline.row(self.ids.full(node)) is not None

    def failure(self, node: ItemId) -> Failure | None:
        """How the node failed, or what is inside it, if it did and the program is still the one that failed."""
        tables = self.tables
        if not tables.failures:
            return None
        full = self.ids.full(node)
        own = tables.failures.get(full)
        if own is not None and tables.stands(own):
            return shown_at(own, node)
        inside = (one for item, one in tables.failures.items() if item.startswith(full + SEPARATOR))
        return next((shown_at(one, node) for one in inside if tables.stands(one)), None)

    def alarm(self, node: ItemId) -> Alarm:
        """How bad what was found at the node is, or at what is inside it; "" for nothing and for mere notes."""
        return self._alarms.get(node) or self._alarms.get(self.ids.full(node), "") if self._alarms else ""

    def mark_alarms(self, alarms: dict[ItemId, Alarm]) -> None:
        """Show what was found by signs on the cards; no card needs another room for them."""
        known, self._alarms = self._alarms, alarms
        changed = {node for node in known.keys() | alarms.keys() if known.get(node) != alarms.get(node)}
        if changed:
            self.resized = frozenset()
            self.changed.emit(self.ids.with_shown(changed))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every failure that stands."""
        if not self.tables.failures:
            return ()
        return tuple(shown_at(failure, self.ids.shown(failure.failed.node)) for failure in self.tables.standing())

    @property
    def failed_at(self) -> ItemId:
        """Where the newest failure that stands happened, as the run calls it; "" for none."""
        standing = self.tables.standing()
        return standing[-1].failed.node if standing else ItemId("")

    def warnings(self, node: ItemId) -> tuple[Warned, ...]:
        """Torch's warnings while the node ran."""
        warned = self.tables.warnings
        return warned.get(self.ids.full(node), ()) if warned else ()

    def printout(self, node: ItemId) -> Printout:
        """What was printed and drawn while the node ran; nothing at a moment before that."""
        printed = self.tables.printouts
        said = printed.get(self.ids.full(node)) if printed else None
        if said is None or (self.looking_back and self.row(node) is None):
            return NOTHING_PRINTED
        return said

    def chart(self, node: ItemId) -> Chart | None:
        """The chart of the node, as it was at the moment; None where its card shows none."""
        full = self.ids.full(node) if self.ids.translates else node
        place = self._store.graph.places.get(full) if self._store is not None else None
        if place is None or not place.chart:
            return None
        if place.chart == CURVE:
            return curve_shown(self.tables.curve_of(full), self.tables.curves, self.cursor)
        return self.tables.charts.at((full, place.chart), self.cursor.statement_count())

    def troubled(self) -> frozenset[ItemId]:
        """What failed, warned, would be refused or cannot run, and what stands for it."""
        tables = self.tables
        refused = (port.node for port in tables.inference.values() if port.refusal and not self._is_proven(port))
        return self.ids.with_shown((*tables.failures, *tables.warnings, *tables.incomplete, *refused))

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        """What inference expects of a result; no refusal of what this very program has done, at whatever moment."""
        full = self.ids.full(node) if self.ids.translates else node
        port = self.tables.inference.get((full, output))
        if port is not None and port.refusal and self._is_proven(port):
            return msgspec.structs.replace(port, refusal="")
        return port

    def incomplete(self, node: ItemId) -> str:
        """Why the node cannot run yet; "" when it can."""
        return self.tables.incomplete.get(node, "")

    # ------------------------------------------------------------------ private

    def _is_proven(self, port: PortInference) -> bool:
        return not self.tables.is_stale and self.timeline.row(port.node) is not None

    def _on_tables_changed(self, items: frozenset[ItemId]) -> None:
        resized = self.tables.resized
        self.resized = self.ids.with_shown(resized) if resized is not None else None
        self.changed.emit(self.ids.with_shown(items))

    def _on_attention_moment_changed(self) -> None:
        items = self.cursor.changed_since(self._view)
        self._view = self.cursor.view()
        if items is None or items:
            shown = self.ids.with_shown(items or ())
            self.resized = shown or None
            self.changed.emit(shown)
        self.moment_moved.emit()
