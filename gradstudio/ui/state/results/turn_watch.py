"""What is to be told of turns: the engine hears of it at once, also while a run is under way."""

from PySide6.QtCore import QObject

from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.charts import Watch
from gradstudio.protocol.messages.events import Event, Loaded, Log
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.chart_store import shown_in
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_status import RunStatus


class TurnWatch(QObject):
    """Follows what is plotted, which cards show a chart, and what is changed in the middle of a run."""

    def __init__(
        self,
        store: GraphStore,
        tables: ResultTables,
        engine: EngineLine,
        status: RunStatus,
        parent: QObject | None = None,
    ) -> None:
        """Where the engine has no run of this document, the next verb says it."""
        super().__init__(parent)
        self._store, self._tables, self._engine, self._status = store, tables, engine, status
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)
        tables.curves.chosen.connect(self.tell)
        engine.received.connect(self._on_engine_received)

    def tell(self) -> None:
        """Say what is wanted now."""
        state = self._status.state
        if state.live or (state.busy and not state.waiting):
            self._engine.send(Watch(curves=self._tables.wanted_curves(), charts=self._tables.charts.asked))

    # ------------------------------------------------------------------ slots

    def _on_engine_received(self, event: Event) -> None:
        """Literals that hold from the next turn on are marked on the curves, and said in the log."""
        if isinstance(event, Loaded) and event.waits:
            self._status.say_it_waits()
        if not isinstance(event, Loaded) or not event.changes:
            return
        named = [f"{title(self._store.graph, one.node)}: {one.words}" for one in event.changes]
        words = "; ".join(named)
        self._tables.curves.mark(event.turns, words)
        turn = max(event.turns.values(), default=0) + 1
        self._engine.tell(Log(level="info", text=f"From turn {turn:,} on: {words}."))
        when = f"turn {turn:,} on" if self._status.state.busy else "the next turn on (Run, F5)"
        self._status.noted.emit(f"{words} holds from {when}; what has been learnt stays.")

    def _on_store_edited(self, edits: Edits) -> None:
        if self._tables.charts.wanted or any(isinstance(edit, SetPlaces) for edit in edits):
            wanted = shown_in(self._store.graph)
            if wanted != self._tables.charts.wanted:
                self._tables.want_charts(wanted)
                self.tell()

    def _on_store_replaced(self) -> None:
        self._tables.want_charts(shown_in(self._store.graph))
