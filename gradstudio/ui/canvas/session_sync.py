"""How the canvas follows the truths of its session: slots for the graph, results, attention and overlays."""

from typing import TYPE_CHECKING, Final

from gradstudio.graph.edits import AddNode
from gradstudio.graph.model import ItemId
from gradstudio.graph.recipes.effect_statements import BACKWARD
from gradstudio.scene.card.result_sections import Shown
from gradstudio.ui.canvas.gestures.wire_gesture import WireGesture
from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.throttle import Throttle

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.canvas_context import SessionLike
    from gradstudio.ui.canvas.gestures.input_dispatcher import Hand
    from gradstudio.ui.canvas.paint.scene_painter import Layer
    from gradstudio.ui.canvas.paint.screen_cache import Screen
    from gradstudio.ui.canvas.popups.hint_bubble import Bubble
    from gradstudio.ui.canvas.popups.quick_fixes import Remedies
    from gradstudio.ui.canvas.viewport import Navigation
    from gradstudio.ui.state.document.attention import Attention
    from gradstudio.ui.state.document.graph_store import GraphStore
    from gradstudio.ui.state.document.overlays import Overlays


BEHIND_MS: Final = 120
"""Cards out of view are measured so long after their results changed."""


class Following:
    """Slots of `CanvasView`; what they need of it is declared here."""

    if TYPE_CHECKING:
        navigation: Navigation
        session: SessionLike
        overlays: Overlays
        store: GraphStore
        attention: Attention
        board: Board
        layer: Layer
        lit: OverlayState
        picture: Screen
        bubble: Bubble
        remedies: Remedies
        hand: Hand
        _failed: dict[ItemId, Failure]
        _behind: Throttle

        def viewport(self) -> QWidget: ...
        def close_editor(self) -> None: ...
        def refuse(self, words: str) -> None: ...
        def hide_words(self) -> None: ...

    def _connect_truths(self) -> None:
        self.store.edited.connect(self._on_store_edited)
        self.store.replaced.connect(self._on_store_replaced)
        self.store.refused.connect(self._on_store_refused)
        self.session.results.changed.connect(self._on_results_changed)
        self._behind = Throttle(BEHIND_MS, self.viewport())
        self._behind.due.connect(self._on_behind_due)
        self.attention.selection_changed.connect(self._on_attention_selection_changed)
        self.attention.reveal_requested.connect(self._on_attention_reveal_requested)
        self.overlays.changed.connect(self._on_overlays_changed)
        if (trials := getattr(self.session, "trials", None)) is not None:
            trials.answered.connect(self._on_trials_answered)
        if (problems := getattr(self.session, "problems", None)) is not None:
            problems.changed.connect(self._on_problems_changed)

    def repaint_board(self) -> None:
        """Paint the board anew at the next frame."""
        self.picture.invalidate()
        self.viewport().update()

    def _on_store_edited(self, edits: object) -> None:
        assert isinstance(edits, tuple)
        self.close_editor()
        self.hide_words()
        self.board.apply(edits)
        self.navigation.fitted = False
        self._forget_gone()
        for edit in edits:
            if isinstance(edit, AddNode) and edit.node.operator == BACKWARD:
                self.navigation.show_with_its_sources(edit.node.id)
        self.repaint_board()

    def _on_store_replaced(self) -> None:
        self.close_editor()
        self.hand.cancel_gesture()
        self.board.rebuild(self.store.graph)
        self.lit = OverlayState()
        self.hide_words()
        self.navigation.kept, self.navigation.fit_pending, self.navigation.opened, self.navigation.shows_all = (
            None,
            True,
            True,
            False,
        )
        self.repaint_board()

    def _forget_gone(self) -> None:
        """Nothing that was deleted stays lit or selected."""
        graph = self.board.graph
        self.lit.selected_wires = frozenset(wire for wire in self.lit.selected_wires if wire in self.board.wire_index)
        self.lit.selected_dots &= graph.places.keys()
        self.lit.hovered_wire = self.lit.hovered_port = None
        self.attention.forget(item for item in self.attention.selection if item not in graph)

    def _on_store_refused(self, words: object) -> None:
        self.refuse(str(words))

    def _on_results_changed(self, items: object) -> None:
        assert isinstance(items, frozenset)
        self.board.results_changed(items)
        if self.board.is_behind and self.session.results.moment is None:
            self._behind.request()
        self._show_new_failure()
        if self.hand.gesture is None:
            self.picture.invalidate()
        else:
            self.picture.relift()
        self.viewport().update()

    def _on_behind_due(self) -> None:
        """There is time for the cards out of view."""
        if self.session.results.moment is None and self.board.catch_up():
            self.picture.relift()
            self.viewport().update()

    def _show_new_failure(self) -> None:
        """A node that just failed comes into view, unless it is there or the hand is busy."""
        failures = self.session.results.failures
        failed = {failure.failed.node: failure for failure in failures if failure.failed.node in self.board.index}
        new, self._failed = [item for item, failure in failed.items() if self._failed.get(item) is not failure], failed
        if new and self.hand.gesture is None and not any(self.navigation.is_seen(item) for item in new):
            self.navigation.bring_into_view(min(new))

    def _on_attention_selection_changed(self) -> None:
        self.lit.selection = self.board.selection = self.attention.selection
        if self.attention.selection:
            self.lit.selected_wires, self.lit.selected_dots = frozenset(), frozenset()
        if self.board.raise_cards(self.attention.selection):
            self.picture.invalidate()
        self.viewport().update()

    def _on_attention_reveal_requested(self, item: object) -> None:
        wanted = ItemId(str(item))
        if wanted not in self.board.graph and (path := self.session.scope.find(wanted)) is not None:
            self.session.scope.show(path)
            self.attention.select((wanted,))
        self.navigation.reveal(wanted)

    def _on_problems_changed(self) -> None:
        self.remedies.refresh()

    def _on_trials_answered(self, _ends: object) -> None:
        if isinstance(self.hand.gesture, WireGesture):
            self.hand.gesture.say()

    def _on_overlays_changed(self) -> None:
        self.board.show(shown_by(self.overlays))
        self.board.show_wires(self.overlays.wires)
        self.repaint_board()

    def _on_settle_timeout(self) -> None:
        self.navigation.zooming = False
        self.layer.hurried = False
        if self.board.catch_up() or self.layer.unfinished:
            self.picture.relift()
        self.viewport().update()


def shown_by(overlays: "Overlays") -> Shown:
    """The facts that are painted on cards."""
    return overlays.shown
