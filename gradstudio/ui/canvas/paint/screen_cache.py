"""The newest picture of the scene on the screen: kept, scrolled, scaled while zooming, sharpened when it settles."""

from collections.abc import Collection

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.scene_painter import NOTHING, ScenePainter
from gradstudio.ui.canvas.paint.scrolling import scrolled

SETTLE_MS = 90
"""A sharp picture follows so long after the last step of a zoom."""


class ScreenCache:
    """Holds the last sharp frame, and a snapshot without what is being dragged."""

    def __init__(self, layer: ScenePainter) -> None:
        """Nothing is painted yet."""
        self.layer = layer
        self.frame: QPixmap | None = None
        self.camera = Camera()
        self._size = (0, 0, 1.0)
        self._snapshot: QPixmap | None = None
        self._dragged: Collection[str] = NOTHING

    def invalidate(self) -> None:
        """What was painted is out of date."""
        self.frame = None

    def lift(self, items: Collection[str]) -> None:
        """Take a snapshot without these items at the next painting; they are painted over it."""
        self._snapshot, self._dragged = None, items

    def relift(self) -> None:
        """What lies still changed under what is dragged."""
        self._snapshot = None
        self.invalidate()

    def settle(self) -> None:
        """Nothing is dragged any more."""
        self._snapshot, self._dragged = None, NOTHING
        self.invalidate()

    def prepare(self, camera: Camera, width: int, height: int, ratio: float) -> None:
        """Paint the frame of a place that the view is on its way to; until then it is shown scaled."""
        self._bring_up_to_date(camera, width, height, ratio, moving=False)

    def paint(self, painter: QPainter, camera: Camera, width: int, height: int, ratio: float, moving: bool) -> None:
        """Show the scene. `moving`: while a zoom goes on, the last frame scaled will do."""
        area = Box(0, 0, width, height)
        if camera.zoom >= DISTANT and self.layer.scene.updates.catch_up(camera.box_to_scene(area)):
            self.relift()
        if self._dragged:
            snapshot = self._snapshot
            if snapshot is not None and self.camera != camera and self._size == (width, height, ratio):
                snapshot = self._scrolled(snapshot, camera, self._dragged)
            if snapshot is None or self._size != (width, height, ratio):
                snapshot = self._render(camera, width, height, ratio, self._dragged)
            self._snapshot, self.camera, self._size = snapshot, camera, (width, height, ratio)
            painter.drawPixmap(0, 0, snapshot)
            self.layer.paint_some(painter, camera, area, ratio, self._dragged)
            return
        self._bring_up_to_date(camera, width, height, ratio, moving)
        assert self.frame is not None
        if self.camera == camera:
            painter.drawPixmap(0, 0, self.frame)
            return
        self._paint_scaled(painter, camera, area, ratio)

    def _bring_up_to_date(self, camera: Camera, width: int, height: int, ratio: float, moving: bool) -> None:
        size = (width, height, ratio)
        if self.frame is not None and self._size == size:
            if camera == self.camera or moving:
                return
            scrolled = self._scrolled(self.frame, camera, NOTHING)
            if scrolled is not None:
                self.frame, self.camera = scrolled, camera
                return
        self.frame = self._render(camera, width, height, ratio, NOTHING)
        self.camera, self._size = camera, size

    def _render(self, camera: Camera, width: int, height: int, ratio: float, without: Collection[str]) -> QPixmap:
        pixmap = QPixmap(round(width * ratio), round(height * ratio))
        pixmap.setDevicePixelRatio(ratio)
        painter = QPainter(pixmap)
        self.layer.paint(painter, camera, Box(0, 0, width, height), ratio, without)
        painter.end()
        return pixmap

    def _scrolled(self, frame: QPixmap, camera: Camera, without: Collection[str]) -> QPixmap | None:
        """The frame shifted, the strips that came into view painted; None when nothing of it stays."""
        width, height, ratio = self._size

        def paint(painter: QPainter, strip: Box) -> None:
            self.layer.paint(painter, camera, strip, ratio, without, is_whole=False)

        return scrolled(frame, self.camera, camera, Box(0, 0, width, height), paint)

    def _paint_scaled(self, painter: QPainter, camera: Camera, area: Box, ratio: float) -> None:
        """The last frame where it would be now; the grid goes on around it."""
        assert self.frame is not None
        painter.fillRect(QRectF(0, 0, area.width, area.height), self.layer.style.color("canvas"))
        self.layer.paint_grid(painter, camera, area, ratio)
        seen = camera.box_to_view(self.camera.box_to_scene(area))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, seen.width < area.width * 1.5)
        painter.drawPixmap(QRectF(seen.x, seen.y, seen.width, seen.height), self.frame, QRectF(self.frame.rect()))
