"""The canvas: a view without scroll bars on an endless scene, which follows the truths of one session.

A plain scroll area with its own camera instead of a QGraphicsView: everything is painted in batches, and
pans and zooms are exact on an endless plane.
"""

from typing import Protocol

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from gradstudio.graph.edits import AddNode
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.recipes.statements import BACKWARD
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.bubble import Bubble
from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.commands import Commands
from gradstudio.ui.canvas.drops import Drops
from gradstudio.ui.canvas.editing import InPlace
from gradstudio.ui.canvas.facts import Shown
from gradstudio.ui.canvas.hand import Hand
from gradstudio.ui.canvas.layer import Layer
from gradstudio.ui.canvas.look import Look
from gradstudio.ui.canvas.navigation import Navigation
from gradstudio.ui.canvas.overlay import OverlayState, paint_hint, paint_overlay
from gradstudio.ui.canvas.screen import SETTLE_MS, Screen
from gradstudio.ui.canvas.searching import Searching
from gradstudio.ui.canvas.tooltips import tooltip
from gradstudio.ui.state.attention import Attention
from gradstudio.ui.state.graph_store import GraphStore
from gradstudio.ui.state.overlays import Overlays
from gradstudio.ui.state.result_store import ResultStore
from gradstudio.ui.theme import Theme


class SessionLike(Protocol):
    """What the canvas needs of a session."""

    graph_store: GraphStore
    attention: Attention
    results: ResultStore


class CanvasView(Commands, Navigation, QAbstractScrollArea):
    """Cards, wires and frames of one session; `Commands` and `Editing` hold what can be done with them.

    Signals:
        status_message(object): why something is refused, for the status bar.
        said(object): what was done, for the status bar.
        view_changed(): zoom or place changed.
    """

    status_message = Signal(object)
    said = Signal(object)
    view_changed = Signal()

    def __init__(self, session: SessionLike, overlays: Overlays, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the session's graph and follow it."""
        super().__init__(parent)
        self.session, self.overlays = session, overlays
        self.store, self.attention = session.graph_store, session.attention
        self.look = Look(theme)
        self.board = Board(self.store.graph, session.results, _shown(overlays), self.look.meter)
        self.layer = Layer(self.board, self.look)
        self.picture = Screen(self.layer)
        self.camera = Camera()
        self.lit = OverlayState()
        self.in_place, self.searching = InPlace(self), Searching(self)
        self.hand, self.drops = Hand(self), Drops(self)
        self.snap_to_grid = True
        self.zooming, self.fit_pending, self.fitted, self.opened = False, True, False, True
        self.kept: tuple[float, float, float] | None = None
        self._failed: frozenset[ItemId] = frozenset()
        self.settle_timer = QTimer(self)
        self.settle_timer.setSingleShot(True)
        self.settle_timer.setInterval(SETTLE_MS)
        self.settle_timer.timeout.connect(self._on_settle_timeout)
        self._set_up_widget()
        self.bubble = Bubble(self.viewport(), theme)
        self._connect_truths()

    def _set_up_widget(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Canvas")
        self.setAccessibleDescription("Nodes and wires of the program")
        self.setAcceptDrops(True)
        view = self.viewport()
        view.setMouseTracking(True)
        view.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def _connect_truths(self) -> None:
        self.store.edited.connect(self._on_store_edited)
        self.store.replaced.connect(self._on_store_replaced)
        self.store.refused.connect(self._on_store_refused)
        self.session.results.changed.connect(self._on_results_changed)
        self.attention.selection_changed.connect(self._on_attention_selection_changed)
        self.attention.reveal_requested.connect(self._on_attention_reveal_requested)
        self.overlays.changed.connect(self._on_overlays_changed)

    # -------------------------------------------------------------- selection and light

    def select(self, items: frozenset[ItemId]) -> None:
        """Select exactly these items, and no wires."""
        self.lit.selected_wires, self.lit.selected_note = frozenset(), None
        self.attention.select(sorted(items))
        self.viewport().update()

    def select_all(self) -> None:
        """Select every item."""
        self.select(frozenset(self.board.graph.nodes) | frozenset(self.board.graph.blocks))

    def select_note(self, item: ItemId) -> None:
        """Select a note, and the statement it belongs to."""
        self.select(frozenset({item}) if item in self.board.graph else frozenset())
        self.lit.selected_note = item

    def clear_selection(self) -> None:
        """Select nothing."""
        self.select(frozenset())

    def select_wires(self, wires: frozenset[Wire]) -> None:
        """Select wires instead of items."""
        self.select(frozenset())
        self.lit.selected_wires = wires

    def set_drop_frame(self, item: ItemId | None) -> None:
        """Light the frame that a drag would drop into."""
        self.lit.drop_frame = item

    def refuse(self, words: str) -> None:
        """Say why something is refused, beside the pointer and in the status bar."""
        at = self.hand.pointer
        where = QPoint(round(at.view_x), round(at.view_y)) if at is not None else self.viewport().rect().center()
        self.bubble.say(words, where)
        self.status_message.emit(words)

    def show_problem(self, item: ItemId) -> None:
        """The whole error of a node, readable, beside its card."""
        failure, box = self.board.results.failure(item), self.board.box(item)
        if failure is not None and box is not None:
            shown = self.camera.box_to_view(box)
            text = f"{failure.explanation}\n\n{failure.what}".strip()
            self.bubble.say(text, QPoint(round(shown.x), round(shown.bottom)), stays=True)

    def pointer_or_middle(self) -> tuple[float, float]:
        """The scene point under the pointer, or in the middle of the view."""
        at = self.viewport().mapFromGlobal(QCursor.pos())
        if not self.viewport().rect().contains(at):
            at = self.viewport().rect().center()
        return self.camera.to_scene(at.x(), at.y())

    def set_theme(self, theme: Theme) -> None:
        """Take another theme's colours."""
        self.look = Look(theme, self.look.meter)
        self.layer.set_look(self.look)
        self.bubble.set_theme(theme)
        self.repaint_board()

    # -------------------------------------------------------------- editing

    def edit_field(self, item: ItemId, path: str) -> None:
        """Edit the literal of a port where it stands."""
        self.in_place.edit_field(item, path)

    def edit_note(self, item: ItemId) -> None:
        """Edit an item's note where it stands, or make one."""
        self.in_place.edit_note(item)

    def rename(self, item: ItemId) -> None:
        """Edit the names a node binds, or a group's title."""
        self.in_place.rename(item)

    def rename_current(self) -> None:
        """Rename the current item."""
        if self.attention.current is not None:
            self.in_place.rename(self.attention.current)

    def close_editor(self) -> None:
        """Close an editor or search that is open."""
        self.in_place.close()
        self.searching.close()

    def toggle_folded(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them."""
        self.board.expand(item)
        self.repaint_board()

    def open_search(self, x: float, y: float) -> None:
        """Search for an operator to put at a scene point."""
        self.searching.open(x, y)

    def search_at_pointer(self) -> None:
        """Search for an operator to put where the pointer is."""
        self.searching.open(*self.pointer_or_middle())

    def devices(self) -> tuple[str, ...]:
        """Names of the devices that torch has, as far as the engine told."""
        engine = getattr(self.session, "engine", None)
        return tuple(device.name for device in engine.devices) if engine is not None else ()

    # -------------------------------------------------------------- following the truths

    def repaint_board(self) -> None:
        """Paint the board anew at the next frame."""
        self.picture.invalidate()
        self.viewport().update()

    def _on_store_edited(self, edits: object) -> None:
        assert isinstance(edits, tuple)
        self.close_editor()
        self.bubble.hide()
        self.board.apply(edits)
        self.fitted = False
        self._forget_gone()
        for edit in edits:
            if isinstance(edit, AddNode) and edit.node.operator == BACKWARD:
                self.bring_into_view(edit.node.id)
        self.repaint_board()

    def _on_store_replaced(self) -> None:
        self.close_editor()
        self.hand.cancel_gesture()
        self.board.rebuild(self.store.graph)
        self.lit = OverlayState()
        self.bubble.hide()
        self.kept, self.fit_pending, self.opened = None, True, True
        self.repaint_board()

    def _forget_gone(self) -> None:
        """Nothing that was deleted stays lit or selected."""
        graph = self.board.graph
        self.lit.selected_wires = frozenset(
            w for w in self.lit.selected_wires if graph.wires.get((w.target, w.port)) == w
        )
        self.lit.hovered_wire = self.lit.hovered_port = None
        self.attention.forget(item for item in self.attention.selection if item not in graph)

    def _on_store_refused(self, words: object) -> None:
        self.refuse(str(words))

    def _on_results_changed(self, items: object) -> None:
        assert isinstance(items, frozenset)
        self.board.results_changed(items)
        self._show_new_failure()
        if self.hand.gesture is None:
            self.picture.invalidate()
        else:
            self.picture.relift()
        self.viewport().update()

    def _show_new_failure(self) -> None:
        """A node that just failed comes into view, unless it is there or the hand is busy."""
        results = self.session.results
        failed = frozenset(item for item in self.board.ids if results.failure(item) is not None)
        new, self._failed = failed - self._failed, failed
        if new and self.hand.gesture is None and not any(self.is_seen(item) for item in new):
            self.bring_into_view(min(new))

    def _on_attention_selection_changed(self) -> None:
        self.lit.selection = self.attention.selection
        if self.attention.selection:
            self.lit.selected_wires = frozenset()
        if self.board.raise_cards(self.attention.selection):
            self.picture.invalidate()
        self.viewport().update()

    def _on_attention_reveal_requested(self, item: object) -> None:
        self.reveal(ItemId(str(item)))

    def _on_overlays_changed(self) -> None:
        self.board.show(_shown(self.overlays))
        self.repaint_board()

    def _on_settle_timeout(self) -> None:
        self.zooming = False
        self.viewport().update()

    # -------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self.viewport()
        if self.fit_pending:
            self.look_again()
        painter = QPainter(view)
        frame = self.picture.frame
        self.picture.paint(painter, self.camera, view.width(), view.height(), view.devicePixelRatioF(), self.zooming)
        if self.board.extent() is None:
            paint_hint(painter, self.look, view.width(), view.height())
        paint_overlay(painter, self.look, self.board, self.camera, view.width(), view.height(), self.lit)
        if self.hand.gesture is not None:
            self.hand.gesture.paint(painter)
        painter.end()
        if self.picture.frame is not frame and (run := getattr(self.session, "run", None)) is not None:
            run.visible = self.visible_items()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What was fitted is fitted again, what was restored restored; else the middle stays in the middle."""
        super().resizeEvent(event)
        self.close_editor()
        self.picture.invalidate()
        if self.fitted:
            self.fit_pending = True
        elif self.kept is not None:
            self.restore_view(*self.kept)
        elif not self.fit_pending and not event.oldSize().isEmpty():
            grown = event.size() - event.oldSize()
            self.set_camera(self.camera.panned(grown.width() / 2, grown.height() / 2))

    def sizeHint(self) -> QSize:
        return QSize(900, 640)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 240)

    # -------------------------------------------------------------- mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.hand.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hand.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.hand.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.hand.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.hand.wheel(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.hand.leave()
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.hand.context_menu(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.hand.press_key(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.hand.release_key(event):
            super().keyReleaseEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab opens the search instead of leaving the canvas."""
        return False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hand.let_go_of_keys()

    def viewportEvent(self, event: QEvent) -> bool:
        """Tooltips for what is under the pointer; pinches on a touchpad."""
        if isinstance(event, QNativeGestureEvent) and self.hand.pinch(event):
            return True
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            at = self.hand.at(event.pos())
            QToolTip.showText(event.globalPos(), tooltip(self.board, self.hand.hit(at)), self.viewport())
            return True
        return super().viewportEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.drops.enter(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self.drops.move(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drops.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        self.drops.drop(event)


def _shown(overlays: Overlays) -> Shown:
    return Shown(*(overlays[name] for name in ("values", "shapes", "dtype_device", "grad_fn", "gradients")))
