"""An operator that hangs at the cursor as a pale card until a click puts it down."""

from typing import Final

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter

from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Wire
from gradstudio.operators.catalogue.block_rows import KINDS
from gradstudio.scene import hit_test
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.operator_commands import GRIP, OperatorCommands
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.canvas.paint.card_picture import CardPictures
from gradstudio.ui.state.library.user_groups import is_own

OPACITY: Final = 0.72
LEAST_ZOOM: Final = 0.3
_KEEPS: Final = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
_PLACES: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class GhostCard(QObject):
    """Follows the pointer over one canvas; a click or Enter places it, Esc or the right button lets it go.

    The wheel zooms and the middle button pans meanwhile.
    """

    def __init__(self, canvas: CanvasContext, operator_commands: OperatorCommands, minimap: Minimap) -> None:
        """Nothing hangs at the cursor."""
        super().__init__(canvas.widget)
        self._canvas, self._operator_commands, self._minimap = canvas, operator_commands, minimap
        self.pictures = CardPictures()
        self.key = ""
        self._at: tuple[float, float] | None = None
        self._dragged: tuple[str, tuple[float, float]] | None = None
        self._fits: dict[Wire, bool] = {}
        canvas.widget.installEventFilter(self)
        canvas.viewport().installEventFilter(self)
        canvas.store.edited.connect(self._on_store_edited)
        canvas.store.replaced.connect(self.cancel)

    def carries(self, key: str) -> bool:
        """Whether an operator chosen with the mouse hangs at the cursor; a block is put around a selection at once."""
        return (
            self._canvas.shelf.carries
            and not is_own(key)
            and not (key in KINDS and bool(self._canvas.attention.selection))
        )

    def carry_operator(self, key: str) -> None:
        """An operator was chosen with the mouse: it hangs at the cursor, or stands where there is room."""
        if self.carries(key):
            self.carry(key, *self._canvas.pointer_or_middle())
        else:
            self._operator_commands.add_operator(key)

    def carry(self, key: str, x: float, y: float) -> None:
        """Let an operator hang at the cursor, which is at a scene point."""
        self.cancel()
        canvas = self._canvas
        self.key, self._fits = key, {}
        canvas.widget.setFocus()
        canvas.said.emit("Click to place it, Esc to let it go.")
        self.move(x, y)

    def move(self, x: float, y: float) -> None:
        """The cursor is at a scene point: light what it would fall into."""
        canvas, self._at = self._canvas, (x, y)
        self._minimap.make_way(*canvas.camera.to_view(x, y))
        wire = self.wire_at(self.key, x, y)
        canvas.lit.hovered_wire = wire
        canvas.lit.hovered_port, canvas.lit.hovered_item = None, hit_test.NOWHERE
        canvas.lit.drop_frame = hit_test.frame_at(canvas.scene, x, y) if wire is None else None
        canvas.viewport().update()

    def place(self) -> None:
        """Put it down where it hangs."""
        key, at = self.key, self._at
        self.cancel()
        if key and at is not None:
            self._operator_commands.put_operator(key, *at)

    def cancel(self) -> None:
        """Nothing hangs at the cursor any more."""
        if not self.key:
            return
        self.key, self._at = "", None
        self._canvas.lit.hovered_wire = None
        self._canvas.lit.drop_frame = None
        self._minimap.come_back()
        self._canvas.said.emit("")
        self._canvas.viewport().update()

    def show_dragged(self, key: str, at: tuple[float, float] | None) -> None:
        """Paint what is dragged in from elsewhere as the card it will be, at a scene point; None: it is gone."""
        self._dragged = (key, at) if key and at is not None else None

    def paint(self, painter: QPainter) -> None:
        """The pale card, with its header under the cursor."""
        hangs = (self.key, self._at) if self.key and self._at is not None else self._dragged
        if hangs is None:
            return
        canvas = self._canvas
        zoom = max(canvas.camera.zoom, LEAST_ZOOM)
        picture = self.pictures.of(hangs[0], canvas.canvas_style.theme, zoom, canvas.widget.devicePixelRatioF())
        x, y = canvas.camera.to_view(*hangs[1])
        painter.save()
        painter.setOpacity(OPACITY)
        corner = QPointF(x - GRIP[0] * zoom - picture.edge, y - GRIP[1] * zoom - picture.edge)
        painter.drawPixmap(corner, picture.pixmap)
        painter.restore()

    def wire_at(self, key: str, x: float, y: float) -> Wire | None:
        """The wire under a scene point into which an operator could go."""
        from gradstudio.scene.edit.insert_room import insert_with_room

        canvas = self._canvas
        if key in KINDS:
            return None
        wire = hit_test.hit(canvas.scene, x, y, canvas.camera.zoom).wire
        if wire is not None and wire not in self._fits:
            try:
                insert_with_room(canvas.scene, wire, key, x, y)
                self._fits[wire] = True
            except Refused:
                self._fits[wire] = False
        return wire if wire is not None and self._fits[wire] else None

    def forget(self) -> None:
        """Another operator is asked about, or another graph."""
        self._fits = {}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While something hangs at the cursor the mouse and a few keys are its own."""
        if not self.key:
            return False
        if isinstance(event, QMouseEvent):
            return self._mouse(event)
        if event.type() in (QEvent.Type.ContextMenu, QEvent.Type.ToolTip):
            return True
        if isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in _KEEPS:
            self.cancel()
            return False
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return self._press_key(event)
        return False

    def _mouse(self, event: QMouseEvent) -> bool:
        at = event.position()
        place = self._canvas.camera.to_scene(at.x(), at.y())
        if event.type() == QEvent.Type.MouseMove:
            self.move(*place)
            return event.buttons() == Qt.MouseButton.NoButton
        if event.button() == Qt.MouseButton.MiddleButton:
            return False
        if event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton:
            self.move(*place)
            self.place()
        elif event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.RightButton:
            self.cancel()
        return True

    def _press_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key != Qt.Key.Key_Escape and key not in _PLACES:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
        elif key == Qt.Key.Key_Escape:
            self.cancel()
        else:
            self.place()
        return True

    def _on_store_edited(self, _edits: object) -> None:
        self.forget()
