"""How the canvas follows the truths of its session: slots for the graph, results, attention and overlays."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject

from gradstudio.graph.model import ItemId
from gradstudio.graph.slices import Slices, while_it_holds
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
from gradstudio.ui.canvas.popups.quick_fixes import QuickFixes
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.throttle import Throttle

if TYPE_CHECKING:
    from gradstudio.ui.state.results.failure import Failure

BEHIND_MS: Final = 120
"""Cards out of view are measured so long after their results changed."""
GROWN_MS: Final = 100
"""What cards that grew would cover moves so long after: many grow at once."""
MAKING_WAY: Final = "making way"
PIECE: Final = 64
"""So many cards are measured at once; the others when the window has nothing else to do."""


class SessionSync(QObject):
    """Lets the scene, the light and the view follow the graph, results, attention and overlays."""

    def __init__(
        self, canvas: CanvasContext, navigation: Viewport, remedies: QuickFixes, is_in_use: Callable[[], bool]
    ) -> None:
        """Follow what the canvas's session announces; `is_in_use` says whether an edit would disturb a hand."""
        super().__init__(canvas.widget)
        self._is_in_use = is_in_use
        self._canvas, self._navigation, self._remedies = canvas, navigation, remedies
        self._session, self._overlays = canvas.session, canvas.overlays
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention
        self._program = self._session.scope.root.graph
        self._failed: dict[ItemId, Failure] = {}
        self._behind = Throttle(BEHIND_MS, canvas.viewport())
        self._measuring = Throttle(0, canvas.viewport())
        self._leading = Throttle(0, canvas.viewport())
        self._growing = Throttle(GROWN_MS, canvas.viewport())
        self._connect()

    def lead_wires(self) -> None:
        """Lead the wires that wait for it around cards as soon as the window has nothing else to do."""
        if self._scene.routes.is_behind and self._canvas.input_dispatcher.gesture is None:
            self._leading.request()

    def _connect(self) -> None:
        self._store.edited.connect(self._on_store_edited)
        self._store.replaced.connect(self._on_store_replaced)
        self._store.refused.connect(self._on_store_refused)
        self._session.results.changed.connect(self._on_results_changed)
        self._session.results.moment_moved.connect(self._growing.request)
        self._behind.due.connect(self._on_measuring_due)
        self._measuring.due.connect(self._on_measuring_due)
        self._leading.due.connect(self._on_leading_due)
        self._growing.due.connect(self._on_growing_due)
        self._scene.updates.on_growth = self._growing.request
        self._attention.selection_changed.connect(self._on_attention_selection_changed)
        self._attention.reveal_requested.connect(self._on_attention_reveal_requested)
        self._overlays.changed.connect(self._on_overlays_changed)
        self._navigation.settle_timer.timeout.connect(self._on_settle_timeout)
        if (trials := getattr(self._session, "trials", None)) is not None:
            trials.answered.connect(self._on_trials_answered)
        if (problems := getattr(self._session, "problems", None)) is not None:
            problems.changed.connect(self._on_problems_changed)

    def _on_store_edited(self, edits: object) -> None:
        assert isinstance(edits, tuple)
        self._canvas.close_editor()
        self._canvas.hide_words()
        self._scene.apply(edits)
        self._navigation.fitted = False
        self._forget_gone()
        self._canvas.repaint_scene()

    def _on_store_replaced(self) -> None:
        self._canvas.close_editor()
        self._canvas.input_dispatcher.cancel_gesture()
        is_another = self._program is not (program := self._session.scope.root.graph)  # not the inside of a group
        if is_another:
            self._program = program
            self._scene.stack.fold_all()
        self._scene.rebuild(self._store.graph)
        if is_another:
            self._scene.updates.note_known()
        self._canvas.lit = OverlayState()
        self._canvas.hide_words()
        self._navigation.begin_anew()
        self._canvas.repaint_scene()

    def _forget_gone(self) -> None:
        """Nothing that was deleted stays lit or selected."""
        graph, lit = self._scene.graph, self._canvas.lit
        lit.selected_wires = frozenset(
            wire for wire in lit.selected_wires if self._scene.wiring.place_of(wire) is not None
        )
        lit.selected_dots &= graph.places.keys()
        lit.hovered_wire = lit.hovered_port = None
        self._attention.forget(item for item in self._attention.selection if item not in graph)

    def _on_store_refused(self, words: object) -> None:
        self._canvas.refuse(str(words))

    def _on_results_changed(self, items: object) -> None:
        assert isinstance(items, frozenset)
        self._scene.results_changed(items, self._session.results.resized)
        if self._scene.updates.is_behind and self._session.results.moment is None:
            self._behind.request()
        self._show_new_failure()
        if self._canvas.input_dispatcher.gesture is None:
            self._canvas.picture.invalidate()
        else:
            self._canvas.picture.relift()
        self._canvas.viewport().update()

    def _on_measuring_due(self) -> None:
        """There is time for more of the cards that wait to be measured."""
        if self._measure_some():
            self._canvas.picture.relift()
            self._canvas.viewport().update()

    def _measure_some(self) -> bool:
        """Measure a few of the cards that wait for it; whether any stands elsewhere then."""
        moved = self._scene.updates.catch_up(most=PIECE)
        if self._scene.updates.is_behind:
            self._measuring.request()
        return moved

    def _on_growing_due(self) -> None:
        """What cards that grew would cover moves down, when nobody drags or types there, and all look at now."""
        if self._session.results.looking_back:
            return
        if self._is_in_use() or self._session.idle.has(MAKING_WAY):  # what is looked for already is not given up
            self._growing.request()
        elif growth := self._scene.updates.take_growth():
            self._session.idle.begin(MAKING_WAY, self._make_way(growth))

    def _make_way(self, growth: dict[ItemId, float]) -> Slices[None]:
        """Look for it in slices; once more, a moment later, when something moves meanwhile or a hand begins to."""
        from gradstudio.graph import recipes
        from gradstudio.scene.edit.room_for_growth import growth_slices

        scene, updates = self._scene, self._scene.updates
        graph, revision = scene.graph, scene.state.graph_revision

        def stands() -> bool:
            is_same = scene.graph is graph and scene.state.graph_revision == revision
            is_free = not self._is_in_use() and not self._session.results.looking_back
            return is_same and is_free and not updates.has_growth

        corners = yield from while_it_holds(growth_slices(scene, growth), stands)
        if corners:
            self._store.accompany(recipes.move(graph, corners))
        elif corners is None and scene.graph is graph:
            updates.put_back(growth)

    def _on_leading_due(self) -> None:
        if self._canvas.input_dispatcher.gesture is not None:
            return  # the painting after the gesture asks again
        routes = self._scene.routes
        routes.catch_up()
        if routes.is_behind:
            self._leading.request()
        else:
            self._canvas.repaint_scene()

    def _show_new_failure(self) -> None:
        """A node that just failed comes into view, unless its mark is there or the hand is busy."""
        failures = self._session.results.failures
        failed = {
            failure.failed.node: failure for failure in failures if failure.failed.node in self._scene.stack.index
        }
        new, self._failed = [item for item, failure in failed.items() if self._failed.get(item) is not failure], failed
        if (
            new
            and self._canvas.input_dispatcher.gesture is None
            and not any(self._navigation.shows_mark(item) for item in new)
        ):
            self._navigation.bring_into_view(min(new))

    def _on_attention_selection_changed(self) -> None:
        self._navigation.followed.note()
        self._canvas.lit.selection = self._scene.wiring.selection = self._attention.selection
        if self._attention.selection:
            self._canvas.lit.selected_wires, self._canvas.lit.selected_dots = frozenset(), frozenset()
        if self._scene.placement.raise_cards(self._attention.selection):
            self._canvas.picture.invalidate()
        self._canvas.viewport().update()

    def _on_attention_reveal_requested(self, item: object) -> None:
        wanted = ItemId(str(item))
        if wanted not in self._scene.graph and (path := self._session.scope.find(wanted)) is not None:
            self._session.scope.show(path)
            self._attention.select((wanted,))
        self._navigation.reveal(wanted)

    def _on_problems_changed(self) -> None:
        self._remedies.refresh()

    def _on_trials_answered(self, _ends: object) -> None:
        from gradstudio.ui.canvas.gestures.wire_gesture import WireGesture

        gesture = self._canvas.input_dispatcher.gesture
        if isinstance(gesture, WireGesture):
            gesture.say()

    def _on_overlays_changed(self) -> None:
        self._scene.show(visible_sections(self._overlays))
        self._scene.show_wires(self._overlays.wires)
        self._canvas.repaint_scene()

    def _on_settle_timeout(self) -> None:
        was_zooming, self._navigation.zooming = self._navigation.zooming, False
        self._canvas.layer.hurried = False
        is_behind = self._measure_some() or self._canvas.layer.unfinished
        if is_behind:
            self._canvas.picture.relift()
        if is_behind or was_zooming:
            self._canvas.viewport().update()


def visible_sections(overlays: Overlays) -> Shown:
    """The figures that are painted on cards."""
    return overlays.shown
