"""The canvas: a view without scroll bars on an endless scene, which follows the truths of one session.

A plain scroll area with its own camera instead of a QGraphicsView: everything is painted in batches, and
pans and zooms are exact on an endless plane.
"""

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal
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

from gradstudio.graph.model import ItemId
from gradstudio.scene.camera import Camera
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.accessibility import Speaking
from gradstudio.ui.canvas.breadcrumbs import Breadcrumbs
from gradstudio.ui.canvas.canvas_context import DragOptions, SessionLike
from gradstudio.ui.canvas.card_animation import CardAnimation
from gradstudio.ui.canvas.edit.bookmark_commands import BookmarkCommands
from gradstudio.ui.canvas.edit.canvas_debugging import CanvasDebugging
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.card_arrangement import CardArrangement
from gradstudio.ui.canvas.edit.clipboard_commands import ClipboardCommands
from gradstudio.ui.canvas.edit.field_commands import FieldCommands
from gradstudio.ui.canvas.edit.group_commands import GroupCommands
from gradstudio.ui.canvas.edit.in_place_editing import InPlaceEditing
from gradstudio.ui.canvas.edit.module_commands import ModuleCommands
from gradstudio.ui.canvas.edit.note_commands import NoteCommands
from gradstudio.ui.canvas.edit.operator_commands import OperatorCommands
from gradstudio.ui.canvas.edit.quick_search import QuickSearch
from gradstudio.ui.canvas.edit.selection_commands import SelectionCommands
from gradstudio.ui.canvas.edit.size_follow_up import SizeFollowUp
from gradstudio.ui.canvas.edit.wire_commands import WireCommands
from gradstudio.ui.canvas.find_in_graph import FindInGraph
from gradstudio.ui.canvas.gestures.auto_pan import AutoPan
from gradstudio.ui.canvas.gestures.ghost_card import GhostCard
from gradstudio.ui.canvas.gestures.input_dispatcher import InputDispatcher
from gradstudio.ui.canvas.gestures.keyboard_navigation import KeyboardNavigation
from gradstudio.ui.canvas.gestures.operator_drop import OperatorDrop
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.canvas.paint.interaction_painter import OverlayState, paint_hint, paint_overlay
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.scene_painter import ScenePainter
from gradstudio.ui.canvas.paint.screen_cache import ScreenCache
from gradstudio.ui.canvas.popups.hint_bubble import HintBubble
from gradstudio.ui.canvas.popups.problem_popup import ProblemPopup
from gradstudio.ui.canvas.popups.quick_fixes import QuickFixes
from gradstudio.ui.canvas.session_sync import SessionSync, visible_sections
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.canvas.wheel import Wheeling
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.document.view_bookmarks import Bookmarks
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.state.settings import Preferences
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.menu_keys import KeysOf, no_keys


class CanvasView(QAbstractScrollArea):
    """Cards, wires and frames of one session; its parts hold what can be done with them, each given what it needs.

    Signals:
        status_message(object): why something is refused, for the status bar.
        said(object): what was done, for the status bar.
        view_changed(): zoom or place changed.
        what_if_requested(object): a person wants to try another value at this node.
        command_requested(object): the id of a command of the window, chosen in a menu of the canvas.
        data_dropped(object, object): files of data, and the scene point where they were dropped.
    """

    status_message = Signal(object)
    said = Signal(object)
    view_changed = Signal()
    what_if_requested = Signal(object)
    command_requested = Signal(object)
    data_dropped = Signal(object, object)

    selection: CanvasSelection
    navigation: Viewport
    in_place: InPlaceEditing
    note_commands: NoteCommands
    module_commands: ModuleCommands
    wire_commands: WireCommands
    group_commands: GroupCommands
    field_commands: FieldCommands
    card_arrangement: CardArrangement
    selection_commands: SelectionCommands
    clipboard_commands: ClipboardCommands
    operator_commands: OperatorCommands
    minimap: Minimap
    ghost: GhostCard
    searching: QuickSearch

    def __init__(self, session: SessionLike, overlays: Overlays, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the session's graph and follow it."""
        super().__init__(parent)
        self.session, self.overlays = session, overlays
        self.store: GraphStore = session.shown_store
        self.attention = session.attention
        self.canvas_style = CanvasStyle(theme)
        self.scene = Scene(self.store.graph, session.results, visible_sections(overlays), self.canvas_style.meter)
        self.layer = ScenePainter(self.scene, self.canvas_style)
        self.picture = ScreenCache(self.layer)
        self.camera = Camera()
        self.lit = OverlayState()
        self.shelf, self.drag_options = Favourites(parent=self), DragOptions()
        self.keys_of: KeysOf = no_keys
        self.bubble = HintBubble(self.viewport(), theme)
        self._set_up_widget()
        self._make_commands()
        problems = getattr(session, "problems", None)
        self.trouble = ProblemPopup(self.viewport(), theme, problems.apply) if problems is not None else None
        if self.trouble is not None:
            self.view_changed.connect(self.trouble.hide)
        self.remedies = QuickFixes(self, self.trouble)
        self.scene.show_wires(overlays.wires)
        self.session_sync = SessionSync(self, self.navigation, self.remedies, self.is_in_use)
        self.breadcrumbs = Breadcrumbs(
            self, self.group_commands, theme, lambda top: self.setViewportMargins(0, top, 0, 0)
        )
        self._make_placing()
        self.speaking = Speaking(self)
        self.debugging = CanvasDebugging(self, self.navigation)
        self.finding = FindInGraph(self, self.navigation, self.selection, self.minimap)
        self._connect_map()
        self.keyboard_navigation = KeyboardNavigation(self, self.navigation, self.wire_commands)
        self.input_dispatcher = InputDispatcher(self)

    def _make_commands(self) -> None:
        """What changes the graph, and where the canvas looks."""
        self.selection, self.navigation = CanvasSelection(self), Viewport(self)
        self.finish_timer = QTimer(self)
        self.finish_timer.setSingleShot(True)
        self.finish_timer.timeout.connect(self.repaint_scene)
        self.in_place = InPlaceEditing(self)
        self.note_commands = NoteCommands(self, self.in_place)
        self.module_commands = ModuleCommands(self, self.selection)
        self.wire_commands = WireCommands(self, self.selection)
        self.group_commands = GroupCommands(self, self.selection, self.navigation, self.in_place)
        self.field_commands = FieldCommands(self, self.in_place, self.group_commands)
        self.card_arrangement = CardArrangement(self, self.selection)
        self.selection_commands = SelectionCommands(self, self.selection, self.navigation, self.wire_commands)
        self.clipboard_commands = ClipboardCommands(self, self.selection, self.navigation, self.selection_commands)
        self.bookmarks = Bookmarks(self)
        self.bookmark_commands = BookmarkCommands(self, self.navigation, self.bookmarks)

    def _make_placing(self) -> None:
        """What puts operators down: at the cursor, from the search, dragged in."""
        self.gliding = CardAnimation(self)
        self.operator_commands = OperatorCommands(
            self,
            self.selection,
            self.navigation,
            self.selection_commands,
            self.group_commands,
            self.module_commands,
            self.clipboard_commands,
            self.gliding,
        )
        self.minimap = Minimap(self, self.navigation)
        self.ghost = GhostCard(self, self.operator_commands, self.minimap)
        follow_up = SizeFollowUp(self, self.is_in_use)
        self.searching = QuickSearch(
            self, self.selection, self.navigation, self.operator_commands, self.ghost, follow_up
        )
        self.border, self.wheeling = AutoPan(self, self.navigation, self.minimap, self._follow_drag), Wheeling()
        self.drops = OperatorDrop(self, self.ghost, self.border, self.operator_commands, self.clipboard_commands)

    def is_in_use(self) -> bool:
        """Whether a person drags, or types into an editor or a search that an edit would close."""
        is_open = self.in_place.editor is not None or self.searching.popup is not None
        return is_open or self.input_dispatcher.gesture is not None

    def _follow_drag(self) -> None:
        """The scene has moved under what is dragged."""
        self.input_dispatcher.follow()
        self.drops.follow()

    def _connect_map(self) -> None:
        self.navigation.covered_box = self.minimap.box_from
        self.minimap.marks, self.minimap.found = self.bookmark_commands.marks, self.finding.lit
        self.bookmarks.changed.connect(self.minimap.update)
        self.viewport().installEventFilter(self.minimap)  # the last: it sees what the ghost keeps from all others

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

    @property
    def widget(self) -> QWidget:
        """The canvas as a widget."""
        return self

    def close_editor(self) -> None:
        """Close an editor or search that is open."""
        self.in_place.close()
        self.searching.close()
        self.wire_commands.close_links()

    # -------------------------------------------------------------- words

    def refuse(self, words: str) -> None:
        """Say why something is refused, beside the pointer and in the status bar."""
        at = self.input_dispatcher.pointer
        where = QPoint(round(at.view_x), round(at.view_y)) if at is not None else self.viewport().rect().center()
        self.bubble.say(words, where)
        self.status_message.emit(words)

    def show_problem(self, item: ItemId) -> None:
        """The words of a node's worst problem beside its card, and what can be done."""
        problems, box = getattr(self.session, "problems", None), self.scene.placement.box(item)
        if problems is not None and not problems.of(item) and self.scene.results.failure(item) is not None:
            problems.refresh()  # it has just failed, and they are collected a few times a second only
        found = problems.of(item) if problems is not None else ()
        found = tuple(one for one in found if one.kind != "incomplete" or one.fixes)  # the card says it all
        if found and box is not None and self.trouble is not None:
            shown = self.camera.box_to_view(box)
            self.trouble.show_problem(found[0], QRect(*map(round, (shown.x, shown.y, shown.width, shown.height))))

    def hide_words(self) -> None:
        """Take away what is said over the canvas: a person does something else."""
        self.bubble.hide()
        if self.trouble is not None:
            self.trouble.hide()

    def pointer_or_middle(self) -> tuple[float, float]:
        """The scene point under the pointer, or in the middle of the view."""
        at = self.viewport().mapFromGlobal(QCursor.pos())
        if not self.viewport().rect().contains(at):
            at = self.viewport().rect().center()
        return self.camera.to_scene(at.x(), at.y())

    def take_preferences(self, preferences: Preferences) -> None:
        """Move as this person wants it."""
        self.gliding.reduced_motion = preferences.reduced_motion
        self.navigation.scale_text(preferences.canvas_scale / 100)
        self.navigation.travel.smooth = not preferences.reduced_motion
        self.minimap.put(preferences.minimap_corner, QSize(*preferences.minimap_px))
        self.minimap.want(preferences.minimap)
        self.wheeling.scrolls = preferences.wheel == "scrolls"

    def set_theme(self, theme: Theme) -> None:
        """Take another theme's colours."""
        self.canvas_style = CanvasStyle(theme, self.canvas_style.meter)
        self.layer.set_style(self.canvas_style)
        self.bubble.set_theme(theme)
        self.finding.set_theme(theme)
        self.breadcrumbs.set_theme(theme)
        if self.trouble is not None:
            self.trouble.set_theme(theme)
        self.repaint_scene()

    # -------------------------------------------------------------- painting

    def repaint_scene(self) -> None:
        """Paint the scene anew at the next frame."""
        self.picture.invalidate()
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self.viewport()
        if self.navigation.fit_pending:
            self.navigation.look_again()
        self.navigation.follow_current()
        painter, frame = QPainter(view), self.picture.frame
        try:
            self._paint(painter, view.width(), view.height())
        finally:
            painter.end()
        if self.layer.unfinished:
            self.finish_timer.start()
        self.session_sync.lead_wires()
        if self.picture.frame is not frame and (run := getattr(self.session, "run", None)) is not None:
            run.visible = self.navigation.visible_items()

    def _paint(self, painter: QPainter, width: int, height: int) -> None:
        ratio = self.viewport().devicePixelRatioF()
        self.picture.paint(painter, self.camera, width, height, ratio, self.navigation.zooming)
        if self.scene.placement.extent() is None:
            paint_hint(painter, self.canvas_style, width, height)
        self.wire_commands.paint_trace(painter)
        paint_overlay(painter, self.canvas_style, self.scene, self.camera, width, height, self.lit, self.layer.labels)
        self.keyboard_navigation.paint_focus(painter)
        self.finding.paint(painter)
        self.debugging.paint(painter)
        if self.input_dispatcher.gesture is None:
            self.remedies.paint(painter)
        else:
            self.input_dispatcher.gesture.paint(painter)
        self.ghost.paint(painter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """What was fitted is fitted again, what was restored restored; else the middle stays in the middle."""
        super().resizeEvent(event)
        self.close_editor()
        self.picture.invalidate()
        if self.navigation.fitted:
            self.navigation.fit_pending = True
        elif self.navigation.kept is not None:
            self.navigation.restore_view(*self.navigation.kept)
        elif not self.navigation.fit_pending and not event.oldSize().isEmpty():
            grown = event.size() - event.oldSize()
            self.navigation.set_camera(self.camera.panned(grown.width() / 2, grown.height() / 2))

    def sizeHint(self) -> QSize:
        return QSize(900, 640)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 240)

    # -------------------------------------------------------------- mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.input_dispatcher.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.input_dispatcher.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.input_dispatcher.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.input_dispatcher.double_click(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.input_dispatcher.wheel(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.input_dispatcher.leave()
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.input_dispatcher.context_menu(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.input_dispatcher.press_key(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.input_dispatcher.release_key(event):
            super().keyReleaseEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab opens the search instead of leaving the canvas."""
        return False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.input_dispatcher.let_go_of_keys()

    def viewportEvent(self, event: QEvent) -> bool:
        """Tooltips for what is under the pointer; pinches on a touchpad."""
        if isinstance(event, QNativeGestureEvent) and self.input_dispatcher.pinch(event):
            return True
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            from gradstudio.scene.words.tooltips import NO_PAGES, tooltip

            at = self.input_dispatcher.at(event.pos())
            pages = getattr(self.session, "pages", NO_PAGES)
            pill = self.remedies.hit(at.view_x, at.view_y)
            words = pill.fix.title if pill is not None else tooltip(self.scene, self.input_dispatcher.hit(at), pages)
            QToolTip.showText(event.globalPos(), words, self.viewport())
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
