"""The minimap: the whole graph in a corner of the canvas; a press or a drag in it moves the view.

Where it would cover cards or notes it is folded to a small button until the pointer comes; the button stands
where it covers none, as near to the corner as there is room.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, get_args

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QMenu, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.wire.wire_labels import frame_lines
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.minimap_places import GAP_PX, free_button, in_view, meets_any, opened_from, place_in_corner
from gradstudio.ui.canvas.paint.minimap_painter import (
    MapCamera,
    MapMark,
    MapPicture,
    paint_folded,
    paint_lit,
    paint_marks,
    paint_view,
)
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.settings import Corner
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.widgets.menu_keys import with_keys

GRIP_PX: Final = 14
"""The corner towards the middle of the canvas takes so much to be dragged by."""
LEAST_PX: Final = QSize(72, 48)
"""It is not seen where there is less room for it."""
SIZES: Final = {"Small": QSize(160, 110), "Medium": QSize(220, 150), "Large": QSize(340, 230)}
SHARE: Final = (0.18, 0.2)
"""Of the view's width and height it takes at most so much."""
FEW: Final = 6
"""Fewer cards need no map, unless a person switches it on."""
MOST_MINDED: Final = 12
"""So many selected cards at most make it fade where they lie under it."""
FADED: Final = 0.16
REST_MS: Final = 250
"""The view rests when it did not move for so long: only then it is folded or unfolded."""
NEAR_PX: Final = 40
CORNERS: Final[dict[Corner, str]] = {
    "top_left": "Upper left",
    "top_right": "Upper right",
    "bottom_left": "Lower left",
    "bottom_right": "Lower right",
}
assert set(CORNERS) == set(get_args(Corner))


class Minimap(QWidget):
    """The map of one canvas, over its viewport.

    Attributes:
        marks: asked for the bookmarks to show.
        found: asked for what a search has found.
        is_folded: whether it is a small button, for cards or notes lie where it would stand.

    Signals:
        placed(): a person gave it another corner or size.
        hidden_by_hand(): a person wants it away.
    """

    placed = Signal()
    hidden_by_hand = Signal()

    def __init__(self, canvas: CanvasContext, navigation: Viewport) -> None:
        """In the lower right corner."""
        super().__init__(canvas.viewport())
        self._canvas, self._navigation = canvas, navigation
        self._wanted = True
        self._faded = self._insists = False
        self._is_near = False
        self.is_folded, self._is_open = False, False
        self._button: QRect | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.refresh)
        self._grip: QPoint | None = None
        self._held: Callable[[QPointF], None] | None = None
        self.corner: Corner = "bottom_right"
        self.size_px = SIZES["Medium"]
        self.marks: Callable[[], tuple[MapMark, ...]] = tuple
        self.found: Callable[[], tuple[ItemId, ...]] = tuple
        self._picture = MapPicture(canvas.scene)
        self._soon = Throttle(60, self)
        self._soon.due.connect(self.refresh)
        self.setMouseTracking(True)
        self.setObjectName("minimap")
        self.setAccessibleName("Minimap")
        self.setAccessibleDescription("The whole graph; a click in it moves the view")
        self.setToolTip("Press or drag to look there, turn the wheel to zoom, right-click for its corner and size")
        canvas.view_changed.connect(self._on_view_changed)
        canvas.store.edited.connect(self._soon.request)
        canvas.store.replaced.connect(self._soon.request)
        canvas.session.results.changed.connect(self._soon.request)
        canvas.attention.selection_changed.connect(self._on_attention_selection_changed)
        self.hide()

    # ------------------------------------------------------------------ where it is

    def want(self, wanted: bool) -> None:
        """Show it where the graph is larger than the view, or never."""
        self._wanted = wanted
        self.refresh()

    def insist(self) -> None:
        """A person asks for it: it is shown for a few cards too."""
        self._insists = self._is_open = True
        self.refresh()

    @property
    def is_spared(self) -> bool:
        """Whether it would be shown if there were more cards."""
        return self._wanted and not self._insists and len(self._canvas.scene.stack.cards) < FEW

    def put(self, corner: Corner, size: QSize) -> None:
        """Stand in a corner with that size, as far as there is room."""
        self.corner, self.size_px = corner, size.expandedTo(LEAST_PX)
        self.refresh()

    def refresh(self) -> None:
        """Be seen when something of the graph is out of view; stand in the corner."""
        if self._navigation.fit_pending:
            return  # what is painted next looks from elsewhere, and tells
        extent, place = self._canvas.scene.placement.extent(), self._place()
        shows = extent is not None and place is not None and (self._is_beyond(extent) or self._in_use())
        if shows and place is not None:
            self._fold_or_open(place)
            self.lower()
        self.setVisible(shows)
        self._mind()
        self.update()

    def box_from(self, camera: Camera) -> Box | None:
        """Where it stands in the view that looks from there; None where it is not shown."""
        extent, place = self._canvas.scene.placement.extent(), self._place()
        if extent is None or place is None or not self._is_beyond(extent, camera):
            return None
        return Box(place.x(), place.y(), place.width(), place.height())

    def _place(self) -> QRect | None:
        """Where it stands when there is something to show; None where it is not wanted, or there is no room."""
        port = self._canvas.viewport()
        most = QSize(int(port.width() * SHARE[0]), int(port.height() * SHARE[1]))
        if most.width() < LEAST_PX.width() or most.height() < LEAST_PX.height() or not self._wanted or self.is_spared:
            return None
        return place_in_corner(self.corner, self.size_px.boundedTo(most), self._room())

    def _room(self) -> QRect:
        """The view without a gap at its edges."""
        return self._canvas.viewport().rect().adjusted(GAP_PX, GAP_PX, -GAP_PX, -GAP_PX)

    def make_way(self, x: float, y: float) -> None:
        """Something is dragged, and the pointer is there in the view: fade when it comes near."""
        near = self.geometry().adjusted(-NEAR_PX, -NEAR_PX, NEAR_PX, NEAR_PX)
        self._is_near = self.isVisible() and near.contains(round(x), round(y))
        self._mind()

    def come_back(self) -> None:
        """Nothing is dragged any more."""
        self._is_near = False
        self._mind()

    @property
    def opacity(self) -> float:
        """How much of it is seen now."""
        return FADED if self._faded else 1.0

    def _fold_or_open(self, place: QRect) -> None:
        """Stand there, or as a button near; a map that was opened from a button stands around it."""
        is_in_hand = self._in_use() or self._is_open
        if self._is_moving() and not is_in_hand:
            self.setGeometry(place if self._button is None else self._button)
            return
        taken = [] if is_in_hand else self._what_is_seen()
        self.is_folded = meets_any(place, taken)
        if self.is_folded:
            self._button = free_button(self.corner, self._room(), taken)
        elif not is_in_hand:
            self._button = None
        if self._button is None:
            self.setGeometry(place)
        elif self.is_folded:
            self.setGeometry(self._button)
        else:
            self.setGeometry(opened_from(self._button, self.corner, place.size(), self._room()))

    def _is_moving(self) -> bool:
        """Whether what lies under it is about to be something else."""
        canvas = self._canvas
        is_at_work = self._navigation.travel.is_moving or canvas.input_dispatcher.gesture is not None
        return self.isVisible() and (self._rest.isActive() or is_at_work)

    def _what_is_seen(self) -> list[QRect]:
        """Where cards, notes and words between them lie in the view."""
        port, placement, camera = self._canvas.viewport(), self._canvas.scene.placement, self._canvas.camera
        seen = camera.seen(port.width(), port.height())
        cards = [placement.corners[number] for number in placement.cards_in(seen, 0.0)]
        others = (*(note.box for note in placement.notes.values()), *self._words_between(seen))
        return in_view(camera, cards + [(box.x, box.y, box.right, box.bottom) for box in others])

    def _words_between(self, seen: Box) -> list[Box]:
        """Words and edges of frames, numbers on wires, words at edges that are no wires, scene pixels."""
        canvas, scene, camera = self._canvas, self._canvas.scene, self._canvas.camera
        found = list[Box]()
        for frame in scene.placement.frames.values():
            if frame.box.meets(seen):
                found += frame_lines(frame, scene.state.meter)
        if scene.state.shown.wire_gradients:
            found += [label.box for _, label in canvas.layer.labels.near(seen, camera.zoom)]
        if not scene.state.shown.storage and not scene.results.failures:
            return found
        from gradstudio.ui.canvas.paint.storage_link_painter import edge_words

        edges = edge_words(canvas.canvas_style, scene, camera, seen, canvas.layer.labels)
        return found + [camera.box_to_scene(box) for _, _, box in edges if box is not None]

    def _mind(self) -> None:
        """Fade while what a person works on lies under it."""
        faded = self._is_near or (self.isVisible() and self._covers_selected())
        if faded != self._faded:
            self._faded = faded
            self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, faded)
            self.update()

    def _covers_selected(self) -> bool:
        chosen, here = self._canvas.attention.selection, self.geometry()
        if not 0 < len(chosen) <= MOST_MINDED:
            return False
        over, camera = Box(here.x(), here.y(), here.width(), here.height()), self._canvas.camera
        boxes = (
            self._canvas.scene.placement.box(item) for item in chosen if item not in self._canvas.scene.placement.frames
        )
        return any(camera.box_to_view(box).meets(over) for box in boxes if box is not None)

    def _on_attention_selection_changed(self) -> None:
        self._mind()
        self.update()

    def _is_beyond(self, extent: Box, camera: Camera | None = None) -> bool:
        """Whether something of the graph is out of view, by default where the view comes to rest."""
        shown, port = (camera or self._navigation.travel.target).box_to_view(extent), self._canvas.viewport()
        return shown.x < -1 or shown.y < -1 or shown.right > port.width() + 1 or shown.bottom > port.height() + 1

    def _in_use(self) -> bool:
        return self.isVisible() and (self.underMouse() or self._held is not None)

    def _on_view_changed(self) -> None:
        self._rest.start()
        extent = self._canvas.scene.placement.extent()
        if extent is not None and (self._is_beyond(extent) or self._in_use()) == self.isVisible():
            self._mind()
            self.update()
        else:
            self._soon.request()

    # ------------------------------------------------------------------ the map

    def map_camera(self) -> MapCamera:
        """How the scene lies on it."""
        extent = self._canvas.scene.placement.extent() or Box(0, 0, 1, 1)
        return MapCamera.fitting(extent, self.width(), self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        canvas, style, seen = self._canvas, self._canvas.canvas_style, self.map_camera()
        painter = QPainter(self)
        painter.setOpacity(self.opacity)
        if self.is_folded:
            paint_folded(painter, style, self.width(), self.devicePixelRatioF())
            painter.end()
            return
        painter.fillRect(self.rect(), style.faded("surface", 0.92))
        self._picture.paint(painter, style, seen, self.width(), self.height(), self.devicePixelRatioF())
        paint_lit(painter, style, canvas.scene, seen, canvas.attention.selection, self.found())
        port = canvas.viewport()
        shown = seen.camera.box_to_view(canvas.camera.seen(port.width(), port.height()))
        paint_view(painter, style, shown, self.width(), self.height())
        paint_marks(painter, style, seen, self.marks())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(style.color("line"), 1.0))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    # ------------------------------------------------------------------ the hand

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._canvas.close_editor()
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._is_open = True
        if self.is_folded:
            self.refresh()
            return
        at = event.position()
        if self._on_grip(at):
            self._held = self._resize_to
            return
        seen, port = self.map_camera(), self._canvas.viewport()
        shown = seen.camera.box_to_view(self._canvas.camera.seen(port.width(), port.height()))
        x, y = shown.center if shown.contains(at.x(), at.y()) else (at.x(), at.y())
        self._held = partial(self._look_at, QPointF(at.x() - x, at.y() - y))
        self._held(at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is not None:
            self._held(event.position())
        elif self._on_grip(event.position()) and not self.is_folded:
            falls = self.corner in ("top_left", "bottom_right")
            self.setCursor(Qt.CursorShape.SizeFDiagCursor if falls else Qt.CursorShape.SizeBDiagCursor)
        else:
            self.unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, self._held = self._held, None
        if held == self._resize_to:
            self.placed.emit()
        self.refresh()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the middle of the view."""
        event.accept()
        port, notches = self._canvas.viewport(), event.angleDelta().y() / 120
        self._navigation.set_camera(self._canvas.camera.zoomed(1.2**notches, port.width() / 2, port.height() / 2))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.make_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def make_menu(self) -> QMenu:
        """Its corner, its size, and away with it."""
        menu = QMenu(self)
        for corner, text in CORNERS.items():
            action = menu.addAction(text, partial(self._choose, corner, self.size_px))
            action.setCheckable(True)
            action.setChecked(corner == self.corner)
        menu.addSeparator()
        for name, size in SIZES.items():
            action = menu.addAction(name, partial(self._choose, self.corner, size))
            action.setCheckable(True)
            action.setChecked(size == self.size_px)
        menu.addSeparator()
        menu.addAction(with_keys("Hide minimap\tview.minimap", self._canvas.keys_of), self.hidden_by_hand.emit)
        return menu

    def enterEvent(self, event: QEnterEvent) -> None:
        self._canvas.input_dispatcher.leave()
        self.refresh()

    def leaveEvent(self, event: QEvent) -> None:
        self._is_open = False
        self.update()
        self._soon.request()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """The canvas has another size, or a hand is at work on it."""
        if event.type() == QEvent.Type.MouseButtonPress and self._is_open:
            self._is_open = False
            self._soon.request()
        elif event.type() == QEvent.Type.Resize:
            self._soon.request()
        return False

    def _choose(self, corner: Corner, size: QSize) -> None:
        self.put(corner, size)
        self.placed.emit()

    def _on_grip(self, at: QPointF) -> bool:
        x = self.width() - at.x() if self.corner.endswith("left") else at.x()
        y = self.height() - at.y() if self.corner.startswith("top") else at.y()
        return max(x, y) <= GRIP_PX and min(x, y) >= 0

    def _resize_to(self, at: QPointF) -> None:
        point, here = self.mapToParent(at.toPoint()), self.geometry()
        width = point.x() - here.left() if self.corner.endswith("left") else here.left() + here.width() - point.x()
        height = point.y() - here.top() if self.corner.startswith("top") else here.top() + here.height() - point.y()
        self.put(self.corner, QSize(width, height))

    def _look_at(self, grip: QPointF, at: QPointF) -> None:
        """Bring the scene point under the pointer into the middle; `grip` is where the view's frame is held."""
        x, y = self.map_camera().camera.to_scene(at.x() - grip.x(), at.y() - grip.y())
        canvas, port = self._canvas, self._canvas.viewport()
        zoom = canvas.camera.zoom
        self._navigation.set_camera(Camera(zoom, x - port.width() / zoom / 2, y - port.height() / zoom / 2))
