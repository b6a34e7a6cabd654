"""The tables a run fills: what it said of each node, by the ids the run speaks of. It knows no canvas and no moment."""

import math
import operator
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Final

from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.charts import CURVE, DrawnChart, WantedChart
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory
from gradstudio.protocol.messages.drawn_figures import Figured
from gradstudio.protocol.messages.events import GradRow, InRecord, Printed, Row, ValueNow, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.progress import Asked, CurveKey, Turned
from gradstudio.protocol.timeline.gradient_log import NO_RECORD
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.scene.printout import NOTHING_PRINTED, Printout
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.results.chart_store import ChartStore
from gradstudio.ui.state.results.curve_store import CurveStore
from gradstudio.ui.state.results.event_buffer import EventBuffer, defer
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.results.loop_progress import LoopProgress
from gradstudio.ui.state.results.run_names import NOTHING_RAN, RunNames
from gradstudio.ui.state.throttle import Throttle

ANNOUNCEMENT_MS = 33
HELD_S: Final = 0.5
"""When loops of a run that is held back have taken so long, it is shown from there on like any other."""


class ResultTables(QObject):
    """What a run has told; the run writes through the methods, readers look into the tables.

    Attributes:
        timeline: all that happened since the start from nothing.
        names: how the program that ran called its nodes.
        is_stale: the results belong to an older program than the canvas shows.
        next_node: which node runs next; `running_node`: which is at work; "" for none.
        running_seconds: for how long, once that is worth saying; else 0.
        memory_rows: what each node holds, as last weighed.
        inference: what inference expects, by node and output.
        failures: how nodes failed when they last ran; one counts while it `stands`.
        warnings: torch's warnings while a node ran; `printouts`: what was printed and drawn then.
        incomplete: why a node cannot run yet.
        curves: numbers over the turns of loops; `charts`: charts of cards as they were drawn.
        loops: how far the loops are that the run stands in.
        written: modules and leaves, by node and output, that are another now than when they were made.
        pace: how often is announced.
        buffer: what is told and not shown yet.
        resized: which of what `changed` announces may need another room on its card; None: all.

    Signals:
        changed(object): frozenset of ids whose results changed, at most 30 times a second; empty when everything
            changed at once.
        recorded(): the timeline is longer, or another; at most 30 times a second.
        weighed(object): frozenset of ids of which something else is known to be held; only costs say so.
        input_asked(object): an `Asked` that waits for its answer; None: nothing does any more.
        printed(object), warned(object): a `Printed` or `Warned`, as it came.
    """

    changed = Signal(object)
    recorded = Signal()
    weighed = Signal(object)
    printed = Signal(object)
    input_asked = Signal(object)
    warned = Signal(object)

    def __init__(self, attention: Attention, parent: QObject | None = None) -> None:
        """No results yet; what is forgotten is looked at no longer by `attention`."""
        super().__init__(parent)
        self._attention = attention
        self.timeline = Timeline()
        self.names = NOTHING_RAN
        self.is_stale = False
        self.next_node: ItemId = ItemId("")
        self.running_node: ItemId = ItemId("")
        self.running_seconds = 0
        self.memory_rows: dict[ItemId, NodeMemory] = {}
        self.inference: dict[tuple[ItemId, int], PortInference] = {}
        self.failures: dict[ItemId, Failure] = {}
        self.warnings: dict[ItemId, tuple[Warned, ...]] = {}
        self.printouts: dict[ItemId, Printout] = {}
        self.incomplete: dict[ItemId, str] = {}
        self.written: dict[tuple[ItemId, int], ValueNow] = {}
        self.asked: Asked | None = None
        self.loops = LoopProgress()
        self.curves = CurveStore(self)
        self.charts = ChartStore()
        self._texts: dict[ItemId, str] = {}
        self._pending: set[ItemId] = set()
        self._everything = self._grown = self._restaled = False
        self.resized: frozenset[ItemId] | None = None
        self.buffer = EventBuffer()
        self.pace = Throttle(ANNOUNCEMENT_MS, self)
        self.pace.due.connect(self._on_throttle_due)

    def stands(self, failure: Failure) -> bool:
        """Whether the program is still the one that failed."""
        node = failure.failed.node
        return not self.is_stale and (node not in self._texts or self._texts[node] == failure.text or not failure.text)

    def standing(self) -> tuple[Failure, ...]:
        """The failures that stand."""
        return tuple(failure for failure in self.failures.values() if self.stands(failure))

    def set_texts(self, texts: dict[ItemId, str], repeated: frozenset[ItemId] = frozenset()) -> None:
        """The statements of the program as it stands; failures of other statements are not shown.

        `repeated` are the nodes whose results a new pass makes history.
        """
        self._texts = texts
        self.timeline.repeated = repeated
        for node in self.failures:
            self._announce(node)

    def begin(self, fresh: bool, held: bool = False, names: RunNames = NOTHING_RAN, back_to: int | None = None) -> None:
        """A verb begins; from nothing, what older runs left is forgotten; put back to a step, what came behind it.

        `held`: the older run is shown, whole, until `release`, so that no half-done picture is painted; unless it takes
        long (`HELD_S`): then how far it is tells more, and what is told of its turns is let go as in any run.
        """
        self.buffer.take_up()
        if held:
            self.buffer.hold()
        self._begin(fresh, names, back_to)

    def release(self) -> None:
        """Show what was held back, and announce at once what waits to be announced."""
        self.buffer.take_up()
        self.ask(None)
        self.pace.flush()

    @defer
    def add_rows(self, rows: Iterable[Row]) -> None:
        """Nodes ran."""
        told = tuple(rows)
        self.timeline.add_rows(told)
        leaves = self.timeline.leaves_of(told) if self.timeline.wrote_leaves else ()
        self._announce_grown((*(row.node for row in told), *self.timeline.take_changed(), *leaves))
        kept = self.timeline.trim()
        if kept is not None:
            self._renumber(kept)

    @defer
    def add_backward(self, traced: BackwardTraced) -> None:
        """A backward was recorded: it went through nodes, and came to the values of others."""
        self.timeline.add_backward(traced)
        self._announce_grown((*(row.node for row in traced.rows if row.node), *self.timeline.take_changed()))

    def wanted_of_turns(self) -> dict[str, object]:
        """What the next verb is to tell of turns: figures of all, a record of some; by field of `Do`."""
        wanted = tuple(self.timeline.wanted)
        return {"curves": self.wanted_curves(), "charts": self.charts.asked, "turns": wanted}

    def wanted_curves(self) -> tuple[CurveKey, ...]:
        """The numbers of turns that a person asked for, and those that cards show."""
        on_cards = [self.curve_of(node) for node, kind in self.charts.wanted if kind == CURVE]
        return tuple(dict.fromkeys((*self.curves.wanted, *on_cards)))

    def curve_of(self, node: ItemId) -> CurveKey:
        """What a card's curve is of: what is plotted of the node, else its value, or the norm of several numbers."""
        plotted = next((key for key in self.curves.wanted if key.node == node), None)
        expected = self.inference.get((node, 0))
        shape = expected.shape if expected is not None else None
        return plotted or CurveKey(node=node, figure="norm" if math.prod(shape or ()) != 1 else "value")

    def add_turns(self, event: Turned) -> None:
        """Turns of a loop have gone by, some of which may not be in the record."""
        self._add_turns(event)
        if event.seconds >= HELD_S:
            self.buffer.take_up()

    @defer
    def add_chart(self, drawn: DrawnChart) -> None:
        """A chart was drawn."""
        self.charts.add(drawn)
        self._announce(drawn.node)

    def want_charts(self, wanted: tuple[WantedChart, ...]) -> None:
        """The cards of these nodes show these charts, and no others do."""
        changed = {*wanted} ^ {*self.charts.wanted}
        self.charts.wanted = wanted
        if changed:
            self._announce(*{node for node, _ in changed})

    @defer
    def set_gradients(self, rows: Iterable[GradRow], whole: bool, in_record: InRecord = NO_RECORD) -> None:
        """Gradients as they stand now; `whole` replaces all that were known but what is said to be in the record."""
        self._announce(*self.timeline.add_gradients(rows, whole, in_record))

    @defer
    def set_written(self, values: Iterable[ValueNow]) -> None:
        """Every module and every leaf that is another now than when it was made."""
        old, self.written = self.written, {(value.node, value.output): value for value in values}
        for key in old.keys() | self.written.keys():
            if old.get(key) != self.written.get(key):
                self._announce(key[0])

    def set_memory(self, memory: MemoryByNode) -> None:
        """What each node holds now."""
        old, self.memory_rows = self.memory_rows, {row.node: row for row in memory.rows}
        nodes = old.keys() | self.memory_rows.keys()
        if changed := frozenset(node for node in nodes if old.get(node) != self.memory_rows.get(node)):
            self.weighed.emit(changed)

    def set_inference(self, ports: Iterable[PortInference]) -> None:
        """What inference says of the program as it stands; announced at once, for an edit waits for it."""
        old, new = self.inference, {(port.node, port.output): port for port in ports}
        is_other = map(operator.ne, new.values(), map(old.get, new))
        self.inference = new
        self._pending.update(node for node, _ in (*compress(new, is_other), *(old.keys() - new.keys())))
        self._on_throttle_due()

    def set_incomplete(self, reasons: dict[ItemId, str]) -> None:
        """Which nodes cannot run, and why."""
        old = self.incomplete
        changed = {item for item in reasons.keys() | old.keys() if reasons.get(item) != old.get(item)}
        self.incomplete = dict(reasons)
        self._announce(*changed)

    @defer
    def add_failure(self, failure: Failure) -> None:
        """A node failed."""
        self.failures[failure.failed.node] = failure
        self._announce(failure.failed.node)

    @defer
    def add_warning(self, warning: Warned) -> None:
        """Torch warned while a node ran."""
        self.warnings[warning.node] = (*self.warnings.get(warning.node, ()), warning)
        self._announce(warning.node)
        self.warned.emit(warning)

    def add_print(self, printed: Printed) -> None:
        """The program printed."""
        self.printouts[printed.node] = self.printouts.get(printed.node, NOTHING_PRINTED).with_print(printed)
        self._announce(printed.node)
        self.printed.emit(printed)

    def ask(self, asked: Asked | None) -> None:
        """The program waits for a line that is typed; None: it waits no longer."""
        if asked != self.asked:
            self.asked = asked
            self.input_asked.emit(asked)

    def add_figure(self, figured: Figured) -> None:
        """The program has drawn: a figure is shown where that was last."""
        for node, printout in self.printouts.items():
            if node != figured.node and any(one.figure == figured.figure for one in printout.figures):
                self.printouts[node] = printout.without_figure(figured.figure)
                self._announce(node)
        self.printouts[figured.node] = self.printouts.get(figured.node, NOTHING_PRINTED).with_figure(figured)
        self._announce(figured.node)

    @defer
    def set_stale(self, stale: bool) -> None:
        """Whether the results belong to an older program than the canvas shows."""
        if self.is_stale != stale:
            self.is_stale = stale
            self._restaled = True
            self.pace.request()

    def set_running(self, node: ItemId) -> None:
        """Which node is at work now; "" when none is."""
        if node != self.running_node:
            changed = {self.running_node, node} - {""}
            self.running_node = node
            self._announce(*changed)

    def set_running_seconds(self, seconds: int) -> None:
        """For how long the node at work has been at it, in whole seconds; 0: not worth saying."""
        if seconds != self.running_seconds:
            self.running_seconds = seconds
            self._announce(*({self.running_node} - {""}))

    def set_counter(self, next_node: ItemId) -> None:
        """Which node runs next; "" at the end."""
        changed = {self.next_node, next_node, self.running_node} - {""}
        self.next_node, self.running_node = next_node, ItemId("")
        self._announce(*changed)
        self.rest(is_inside=bool(next_node))

    def rest(self, *, is_inside: bool = True) -> None:
        """No turn of a loop goes by, as far as is known; the run stands inside of them, or not."""
        loops = [one.loop for one in self.loops.shown]
        self.loops.rest(is_inside=is_inside)
        self._announce(*loops)

    def clear(self) -> None:
        """Forget everything (another document)."""
        self.buffer.forget()
        self.timeline.wanted = frozenset()
        for table in (self.inference, self.failures, self.warnings, self.printouts, self.incomplete):
            table.clear()
        self._forget_history()
        self.is_stale = False
        self.next_node = self.running_node = ItemId("")
        self.announce_everything()

    def announce_everything(self) -> None:
        """All may be another picture."""
        self._everything = True
        self.pace.request()

    # ------------------------------------------------------------------ private

    @defer
    def _add_turns(self, event: Turned) -> None:
        self.timeline.is_sampled = self.timeline.is_sampled or event.is_sampled
        self.loops.note(event)
        self.curves.add(event)
        self._announce(event.loop, *[one.key.node for one in event.curves if self.charts.has_curve(one.key.node)])

    @defer
    def _begin(self, fresh: bool, names: RunNames, back_to: int | None) -> None:
        self.names = names
        self.failures.clear()
        if back_to is not None:
            self._attention.look_at_now()
            self.timeline.cut(back_to)
            self._grown = True
        self.timeline.begin()
        if fresh:
            self._forget_history(keeps_curves=back_to is not None)
            self.warnings.clear()
            self.printouts.clear()
        self.is_stale = False
        self.announce_everything()

    def _forget_history(self, *, keeps_curves: bool = False) -> None:
        self.timeline.clear()
        self.charts.clear()
        if not keeps_curves:
            self.curves.clear()
            self.loops.rest(is_inside=False)
        self.memory_rows = {}
        self._grown = True
        self._attention.look_at_now()

    def _renumber(self, kept: list[int]) -> None:
        """Ticks had to go: the moment looked at stays what it was, or becomes the next that is left."""
        moment = self._attention.moment
        if moment is not None:
            self._attention.look_at(min(bisect_left(kept, moment), len(kept) - 1))

    def _announce(self, *items: ItemId) -> None:
        self._pending.update(items)
        self.pace.request()

    def _announce_grown(self, items: Iterable[ItemId]) -> None:
        self._grown = True
        self._pending.update(items)
        self.pace.request()

    def _resized_by_staleness(self) -> Iterator[ItemId]:
        """Beside old values a card says what torch would refuse now, and no longer how its statement failed."""
        if self._restaled:
            yield from self.failures
            yield from (port.node for port in self.inference.values() if port.refusal)

    def _on_throttle_due(self) -> None:
        if self.buffer.holds:
            return
        everything, grown = self._everything or self._restaled, self._grown
        items = frozenset() if everything else frozenset(self._pending)
        self.resized = None if self._everything else frozenset(self._pending.union(self._resized_by_staleness()))
        self._pending.clear()
        self._everything = self._grown = self._restaled = False
        if items or everything:
            self.changed.emit(items)
        if grown:
            self.recorded.emit()
