"""Joins the memory plot to the canvas and the timeline: one moment, one node under the pointer, on both sides."""

from PySide6.QtCore import QObject

from gradstudio.graph.model import ItemId
from gradstudio.ui.panels.curve import in_words, value_at
from gradstudio.ui.panels.inspector.naming import name_of
from gradstudio.ui.panels.memory_history import Shown
from gradstudio.ui.panels.memory_plot import MemoryPlot
from gradstudio.ui.panels.memory_run import Point, RunMemory
from gradstudio.ui.state.session import Session

HELD = ("tensors", "allocated")
"""The series that says what the program holds, by device."""
SLACK_PX = 6.0
"""So near to a run's ends the pointer still means its first or last statement."""


class MemoryJoin(QObject):
    """Listens to both sides; lives as long as the dock."""

    def __init__(self, session: Session, plot: MemoryPlot, parent: QObject) -> None:
        """Show the moment and the hovered node from now on."""
        super().__init__(parent)
        self._session, self._plot = session, plot
        self._memory: RunMemory | None = None
        self._points: tuple[tuple[float, float], ...] | None = None
        self._pointed: ItemId | None = None
        session.results.moment_moved.connect(self.refresh)
        session.results.changed.connect(self._on_results_changed)
        session.attention.hover_changed.connect(self.refresh)
        plot.pointed.connect(self._on_plot_pointed)
        plot.picked.connect(self._on_plot_picked)

    def refresh(self) -> None:
        """Show what is looked at; nothing is done while the plot is hidden."""
        if self._plot.isVisible():
            self._plot.look(self._shown())

    def figures(self) -> dict[str, float | None] | None:
        """Bytes by series at the moment that is looked at; None when that is now, or its time is not known.

        What the program held then is known of each statement, the rest of the last sample before it.
        """
        active, memory = self._session.results.active, self._session.memory
        engine_s = self._run.time_of(active) if active is not None else None
        plot_s = memory.plot_s(engine_s) if engine_s is not None else None
        if active is None or plot_s is None:
            return None
        figures = {name: value_at(memory.times_s, memory.series(name), plot_s) for name in memory.names}
        held = next((name for name in HELD if name in figures), None)
        alive = self._run.alive_bytes(active)
        return figures if held is None or alive is None else {**figures, held: float(alive)}

    def _shown(self) -> Shown:
        active = self._session.results.active
        if active is None:
            return Shown(part=self._part())
        engine_s = self._run.time_of(active)
        moment = self._session.memory.plot_s(engine_s) if engine_s is not None else None
        return Shown(moment, self._curve(), self._part(), active.phase)

    def _curve(self) -> tuple[tuple[float, float], ...]:
        """Plot seconds and bytes of the run; the same object until something new has run."""
        origin = self._session.memory.plot_s(0.0)
        if self._points is None and origin is not None:
            self._points = tuple((origin + point.at_s, float(point.alive_bytes)) for point in self._run.points)
        return self._points or ()

    def _part(self) -> tuple[float, float, int, str] | None:
        """The hovered node's bytes, and how long they are held."""
        node, results, memory = self._session.attention.hovered, self._session.results, self._session.memory
        if node is None or self._run.span_s is None:
            return None
        weighed = results.node_memory(node)
        part = self._run.part(results.timeline, node, results.moment, weighed.freed_step if weighed is not None else 0)
        start = memory.plot_s(part.start_s) if part is not None else None
        end = memory.plot_s(part.end_s) if part is not None else None
        if part is None or start is None or end is None:
            return None
        if results.moment is None and part.end_s == self._run.span_s[1] and len(memory.times_s):
            end = max(end, float(memory.times_s[-1]))  # it is still held
        name = name_of(self._session.graph_store.graph, node)
        return start, end, part.size_bytes, f"{name}  {in_words(part.size_bytes)}"

    @property
    def _run(self) -> RunMemory:
        if self._memory is None:
            self._memory = RunMemory(self._session.results.timeline)
        return self._memory

    def _point_at(self, plot_s: float) -> Point | None:
        origin = self._session.memory.plot_s(0.0)
        return None if origin is None else self._run.at(plot_s - origin, SLACK_PX * self._plot.seconds_per_px)

    def _on_results_changed(self, _items: object) -> None:
        self._memory = self._points = None
        if self._session.results.active is not None:
            self.refresh()

    def _on_plot_pointed(self, plot_s: float | None) -> None:
        """Hover the node that was under way at that time."""
        point = self._point_at(plot_s) if plot_s is not None else None
        node = point.node or None if point is not None else None
        if node != self._pointed:
            self._pointed = node
            self._session.attention.hover(node)

    def _on_plot_picked(self, plot_s: float) -> None:
        """Look at the moment that was clicked."""
        point = self._point_at(plot_s)
        if point is not None:
            self._session.attention.look_at(point.tick)
