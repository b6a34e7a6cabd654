"""The debugger on the canvas: breakpoints, the moment, experiments, colours by a figure."""

from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, SignalInstance
from PySide6.QtGui import QActionGroup, QPainter
from PySide6.QtWidgets import QMenu

from gradstudio.advice.metrics import METRICS
from gradstudio.graph.edits import Edits
from gradstudio.graph.groups.call_ids import is_call_item
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Breakpoint
from gradstudio.scene.camera import Camera
from gradstudio.scene.card.debug_sections import Experiments
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.paint.breakpoint_painter import Breakpoints, paint_breakpoints
from gradstudio.ui.canvas.paint.card.header_colours import paint_legend
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.document.group_scope import Path
from gradstudio.ui.state.run.run_state import RunState

MENU_NONE = "Category"
WEIGHED = "alive_bytes"
"""The figure that has to be asked for."""


class BreakpointStore(Breakpoints, Protocol):
    """Breakpoints that can be changed; `ui.state.DebugStore` is one."""

    changed: SignalInstance

    def fresh_id(self) -> str:
        """An id no breakpoint has."""

    def add(self, made: Breakpoint, /) -> None:
        """Take one up."""

    def remove(self, breakpoint_id: str, /) -> None:
        """Take one away."""

    def set_enabled(self, breakpoint_id: str, enabled: bool, /) -> None:
        """Switch one on or off."""

    def toggle(self, node: ItemId, /) -> None:
        """Pause before a node, or no longer."""


class ExperimentStore(Experiments, Protocol):
    """Experiments that can be dropped; `ui.state.Experiments` is one."""

    changed: SignalInstance

    def clear(self) -> None:
        """Forget them."""


class Questions(Protocol):
    """What the canvas asks about a run; `ui.state.RunQuestions` does."""

    def weigh_memory(self) -> None:
        """Ask what every node holds."""

    def check(self, nodes: tuple[ItemId, ...], /) -> int:
        """Gradcheck."""


class Runner(Protocol):
    """What the canvas asks to be run; `ui.state.RunController` does."""

    state: RunState
    questions: Questions

    def run_to(self, node: ItemId, /) -> None:
        """Run, and pause behind a node."""

    def follow(self, edits: Edits, label: str, merge_key: str, /) -> None:
        """Take edits up and let values follow."""


class CanvasDebugging(QObject):
    """Shows the moment, what is tried and where it pauses; colours cards by a figure.

    Attributes:
        breakpoints, experiments, runner: of the session; None where it has none (benchmarks).
    """

    def __init__(self, canvas: CanvasContext, navigation: Viewport) -> None:
        """Follow the session's debugger, and the moment that is looked at."""
        super().__init__(canvas.widget)
        self._canvas, self._navigation = canvas, navigation
        self._scene, self._attention, self._overlays = canvas.scene, canvas.attention, canvas.overlays
        self._session = canvas.session
        self._place, self._was_back, self._was_busy = (0, 0), False, False
        self._followed: Path = ()
        self._before: tuple[Path, Camera, bool] | None = None
        self._pushed = canvas.camera
        self._shows_cost = canvas.overlays["cost"]
        self.breakpoints: BreakpointStore | None = getattr(canvas.session, "debug", None)
        self.experiments: ExperimentStore | None = getattr(canvas.session, "experiments", None)
        self.runner: Runner | None = getattr(canvas.session, "run", None)
        self._connect()

    def _connect(self) -> None:
        if self.breakpoints is not None:
            self.breakpoints.changed.connect(self._on_breakpoints_changed)
        if self.experiments is not None:
            self._scene.state.experiments = self.experiments
            self.experiments.changed.connect(self._on_experiments_changed)
        self._session.results.moment_moved.connect(self._on_results_moment_moved)
        self._session.results.weighed.connect(self._on_results_weighed)
        self._attention.hover_changed.connect(self._on_attention_hover_changed)
        self._overlays.changed.connect(self._on_overlays_changed_weigh)
        run = getattr(self._session, "run", None)
        if run is not None:
            run.state_changed.connect(self._on_run_state_changed)

    # -------------------------------------------------------------- colours

    def colour_by(self, name: str) -> None:
        """Colour the cards by a figure; "": by category.

        Raises:
            KeyError: no figure of that name.
        """
        if name == WEIGHED and self.runner is not None:
            self.runner.questions.weigh_memory()
        self._scene.colours.colour_by(name)
        self._canvas.repaint_scene()

    @property
    def colored_by(self) -> str:
        """The figure the cards are coloured by; ""."""
        return self._scene.colours.scale.metric.name if self._scene.colours.scale is not None else ""

    def fill_colour_menu(self, menu: QMenu) -> None:
        """Put an entry for every figure into a menu, the one in use checked."""
        menu.clear()
        group = QActionGroup(menu)
        for name, title in (("", MENU_NONE), *((name, metric.title) for name, metric in METRICS.items())):
            action = menu.addAction(title)
            action.setCheckable(True)
            action.setChecked(name == self.colored_by)
            group.addAction(action)
            action.triggered.connect(partial(self._on_colour_triggered, name))

    def _on_colour_triggered(self, name: str, _checked: bool = False) -> None:
        self.colour_by(name)

    # -------------------------------------------------------------- memory

    def _on_overlays_changed_weigh(self) -> None:
        """Bytes are shown as soon as costs are."""
        if self._overlays["cost"] and not self._shows_cost:
            self._weigh()
        self._shows_cost = self._overlays["cost"]

    def _on_run_state_changed(self, state: RunState) -> None:
        """What was refused before a run is over; a pause leaves other tensors alive, weighed where they are shown."""
        if state.busy and not self._was_busy:
            self._canvas.hide_words()
        ended, self._was_busy = self._was_busy and not state.busy, state.busy
        if ended:
            self._follow_inside(state)
        if ended and (self._overlays["cost"] or self.colored_by == WEIGHED):
            self._weigh()

    def _follow_inside(self, state: RunState) -> None:
        """Show the group inside of which the run has paused or failed; behind its call, what is around again."""
        from gradstudio.ui.canvas.paint.moment_painter import COVERED

        scope, item = self._session.scope, state.next_node
        results = self._session.results
        if state.outcome == "failed" and is_call_item(results.failed_at):
            item = results.failed_at
        leaves = self._followed and scope.path == self._followed and not state.at_end
        if state.verb == "repeat" or not item or not (is_call_item(item) or leaves):
            return
        self._followed = scope.path if scope.follow(item) else ()
        shown = self._session.results.next_node
        if shown and not self._navigation.is_whole(shown, COVERED):
            self._navigation.bring_into_view(shown, COVERED)

    def _follow_moment(self) -> None:
        """Show the group inside of which a moment was stepped into; behind its call, what is around again."""
        results, scope = self._session.results, self._session.scope
        leaves = bool(self._followed) and scope.path == self._followed
        if self._attention.into or leaves:
            moment = results.moment
            now = self.runner.state.next_node if self.runner is not None else ItemId("")
            item = results.timeline.ticks[moment].node if moment is not None else now
            self._followed = scope.path if scope.follow(item) else ()

    def _on_results_weighed(self, items: object) -> None:
        """Only costs and the colours of a figure say what a node holds."""
        assert isinstance(items, frozenset)
        if self._overlays["cost"] or self._scene.colours.scale is not None:
            self._scene.results_changed(items)
            self._canvas.repaint_scene()

    def _weigh(self) -> None:
        if self.runner is not None:
            self.runner.questions.weigh_memory()

    # -------------------------------------------------------------- experiments

    def drop_experiments(self) -> None:
        """Forget what was tried: the cards show the run alone."""
        if self.experiments is not None:
            self.experiments.clear()

    def _on_experiments_changed(self, items: object) -> None:
        assert isinstance(items, frozenset)
        self._scene.results_changed(items)
        self._canvas.repaint_scene()

    # -------------------------------------------------------------- the moment

    def _on_results_moment_moved(self) -> None:
        """Show the moment; push the scene only as far as the active node needs."""
        from gradstudio.ui.canvas.paint.moment_painter import COVERED

        self._keep_place()
        self._follow_moment()
        results = self._session.results
        self._scene.state.revision += 1
        if results.looking_back != self._was_back:
            self._was_back = results.looking_back
            failed = frozenset(failure.failed.node for failure in results.failures)
            if failed:
                self._scene.results_changed(failed)
        active = results.active
        self._place = (0, 0)
        if active is not None:
            self._place = results.timeline.place_in_backward(active.index, unfolded=self._attention.unfolded)
            if (
                active.node
                and self._canvas.input_dispatcher.gesture is None
                and not self._navigation.is_whole(active.node, COVERED)
            ):
                self._navigation.bring_into_view(active.node, COVERED)
        self._come_back()
        self._canvas.layer.hurried, self._canvas.layer.unfinished = True, False
        self._navigation.settle_timer.start()
        self._canvas.repaint_scene()

    def _keep_place(self) -> None:
        """Remember where the view is when somebody begins to look back; forget it when the view was moved since."""
        here = self._navigation.travel.target
        if self._session.results.looking_back and not self._was_back:
            self._before = (self._session.scope.path, here, self._navigation.fitted)
        elif self._before is not None and not here.is_near(self._pushed):
            self._before = None

    def _come_back(self) -> None:
        """Now again: look from where the view was before looking back pushed it."""
        if self._before is not None and not self._session.results.looking_back:
            (path, camera, fitted), self._before = self._before, None
            if self._session.scope.path == path:
                self._navigation.look_from(camera, partial(setattr, self._navigation, "fitted", fitted))
        self._pushed = self._navigation.travel.target

    def tab_words(self) -> str:
        """On the tab of the active card: ``3/7`` in a backward, unfolded with its autograd node; "" in the forward."""
        active, (number, count) = self._session.results.active, self._place
        if active is None or active.autograd is None or not count:
            return ""
        return f"{number}/{count}" + (f" {active.autograd.autograd}" if self._attention.unfolded else "")

    def _on_attention_hover_changed(self) -> None:
        self._canvas.lit.pointed = self._attention.hovered
        self._canvas.viewport().update()

    def _on_breakpoints_changed(self) -> None:
        self._canvas.viewport().update()

    # -------------------------------------------------------------- painting

    def paint(self, painter: QPainter) -> None:
        """Over the scene: the moment, clashes, breakpoints, the legend."""
        view = self._canvas.viewport()
        seen = self._canvas.camera.seen(view.width(), view.height())
        labels = self._canvas.layer.labels
        if self._scene.results.failures:
            from gradstudio.ui.canvas.paint.storage_link_painter import paint_clashes

            paint_clashes(painter, self._canvas.canvas_style, self._scene, self._canvas.camera, seen, labels)
        if self._scene.results.active is not None:
            from gradstudio.ui.canvas.paint.moment_painter import Stage, paint_moment

            paint_moment(
                Stage(
                    painter, self._canvas.canvas_style, self._scene, self._canvas.camera, seen, labels, self.tab_words()
                )
            )
        if self.breakpoints is not None and self.breakpoints.breakpoints:
            hit = self.runner.state.hit if self.runner is not None else ""
            paint_breakpoints(
                painter, self._canvas.canvas_style, self._scene, self._canvas.camera, seen, self.breakpoints, hit
            )
        if self._scene.colours.scale is not None:
            paint_legend(painter, self._canvas.canvas_style, self._scene.colours.scale, view.height())
