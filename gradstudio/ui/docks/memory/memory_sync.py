"""Joins the memory plot to the canvas and the timeline: one moment, one node under the pointer, on both sides."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject

from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.step_numbering import step_number
from gradstudio.ui.docks.inspector.display_names import name_of
from gradstudio.ui.docks.memory.curve import in_words, value_at
from gradstudio.ui.docks.memory.memory_plot import HELD, MemoryPlot
from gradstudio.ui.docks.memory.run_memory import Point, RunMemory
from gradstudio.ui.docks.memory.run_overlay import OverlayView
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.timeline.moment_card import duration

SLACK_PX = 6.0
"""So near to a run's ends the pointer still means its first or last statement."""
GRADIENTS = "gradients"
OF_TRAINING = (GRADIENTS, "optimizer")
"""Series that are sampled once something was trained."""
LEGIBLE_PX = 40.0
"""A run narrower than this is shown in its own time scale before a moment in it can be picked."""


class PastFigures(NamedTuple):
    """Bytes by series at an earlier moment.

    Attributes:
        sampled: series whose figures are of the last sample before it.
        words: which moment it is, and when that sample was taken.
    """

    figures: dict[str, float | None]
    sampled: frozenset[str]
    words: str


class MemorySync(QObject):
    """Listens to both sides; lives as long as the dock."""

    def __init__(self, session: Session, plot: MemoryPlot, puts_off: Callable[[], bool], parent: QObject) -> None:
        """Show the moment and the hovered node from now on; `puts_off` says whether nobody sees the plot."""
        super().__init__(parent)
        self._session, self._plot, self._puts_off = session, plot, puts_off
        self._memory: RunMemory | None = None
        self._points: tuple[tuple[float, float], ...] | None = None
        self._pointed: ItemId | None = None
        self._picked: tuple[int, float] | None = None  # a tick, and the time at which it was clicked
        self._zoomed = False
        self._soon = Throttle(0, self)  # the canvas shows another moment first
        self._soon.due.connect(self.refresh)
        session.results.moment_moved.connect(self._soon.request)
        session.results.changed.connect(self._on_results_changed)
        session.results.weighed.connect(self.refresh)
        session.attention.hover_changed.connect(self.refresh)
        plot.pointed.connect(self._on_plot_pointed)
        plot.picked.connect(self._on_plot_picked)
        plot.zoom.toggled.connect(self._on_zoom_toggled)
        session.run.state_changed.connect(self._on_run_state_changed)

    def refresh(self) -> None:
        """Show what is looked at; nothing is done while the plot is not seen."""
        self._soon.cancel()
        if self._plot.isVisible() and not self._puts_off():
            self._plot.look(self._shown())
            is_now = self._session.results.active is None
            self._plot.offer_zoom(is_now and bool(self._session.results.timeline.ticks), self._zoomed)

    def figures(self) -> PastFigures | None:
        """Bytes by series at the moment that is looked at; None when that is now, or its time is not known.

        What the program and the gradients of its leaves took then is known of each statement, the rest of the last
        sample before it.
        """
        active, memory = self._session.results.active, self._session.memory
        engine_s = self._run.time_of(active) if active is not None else None
        plot_s = memory.plot_s(engine_s) if engine_s is not None else None
        if active is None or plot_s is None:
            return None
        figures = {name: value_at(memory.times_s, memory.series(name), plot_s) for name in memory.names}
        if any(value is not None for value in figures.values()):  # a sample that is silent of training: there was none
            figures |= {name: 0.0 for name in OF_TRAINING if name in figures and figures[name] is None}
        held = next((name for name in HELD if name in figures), None)
        alive, exact = self._run.alive_bytes(active), dict[str, float]()
        if held is not None and alive is not None:
            exact[held] = float(alive)
            if GRADIENTS in figures:
                exact[GRADIENTS] = float(self._run.gradient_bytes(active))
        step = step_number(self._session.results.timeline, active.index, self._session.attention.unfolded)
        earlier_s = memory.times_s[memory.times_s <= plot_s]
        before = "not sampled yet"
        if len(earlier_s):
            before = f"dim: sampled {duration(plot_s - float(earlier_s[-1])) or '0 ms'} before"
        return PastFigures({**figures, **exact}, frozenset(figures) - exact.keys(), f"Step {step} · {before}")

    def _shown(self) -> OverlayView:
        active = self._session.results.active
        if active is None:
            return OverlayView(None, self._curve() if self._zoomed else (), self._part(), name=self._name())
        engine_s = self._run.time_of(active)
        moment = self._session.memory.plot_s(engine_s) if engine_s is not None else None
        if self._picked is not None and self._picked[0] == active.index:
            moment = self._picked[1]  # within that step, where the person clicked
        return OverlayView(moment, self._curve(), self._part(), active.phase, self._name())

    def _name(self) -> str:
        """What the node under the plot's own pointer is called."""
        node = self._pointed
        return self._called(node) if node is not None else ""

    def _called(self, node: ItemId) -> str:
        """What the node was called in the program that ran."""
        return name_of(self._session.results.tables.names.graph_or(self._session.graph_store.graph), node)

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
        name = self._called(node)
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
        timeline = self._session.results.timeline
        if self._memory is not None and not self._memory.is_of(timeline):
            self._memory = self._points = None
        if self._session.results.active is not None or self._zoomed:
            self._soon.request()

    def _on_run_state_changed(self, state: RunState) -> None:
        """What runs is followed in the last minute; its own time scale is offered when it is over."""
        self._zoomed = self._zoomed and not state.busy
        if not state.busy:
            self.refresh()

    def _on_zoom_toggled(self, on: bool) -> None:
        self._zoomed = on
        self.refresh()

    def _on_plot_pointed(self, plot_s: float | None) -> None:
        """Hover the node that was under way at that time."""
        point = self._point_at(plot_s) if plot_s is not None else None
        node = point.node or None if point is not None else None
        if node != self._pointed:
            self._pointed = node
            self._session.attention.hover(node)

    def _on_plot_picked(self, plot_s: float) -> None:
        """Look at the moment that was clicked; a run too narrow to pick in is shown in its own time scale first."""
        span = self._run.span_s
        if span is None:
            return
        if (span[1] - span[0]) / self._plot.seconds_per_px < LEGIBLE_PX and not self._plot.shows_run:
            self._on_zoom_toggled(True)
            return
        point = self._point_at(plot_s)
        if point is not None:
            self._picked = (point.tick, plot_s)
            self._session.attention.look_at(point.tick)
            self.refresh()
