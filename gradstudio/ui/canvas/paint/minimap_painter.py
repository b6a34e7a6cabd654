"""The whole scene as a small picture: cards as rectangles, drawn from arrays; kept until something of it changes."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import msgspec
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPixmap

from gradstudio.graph.model import ItemId
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.results import at_work
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_lines, draw_rects
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import icon_pixmap

MARGIN: Final = 6.0
LEAST_PX: Final = 2.0
MANY: Final = 100
"""Thin lines around more cards than these: they are drawn many times faster."""
CROSS_PX: Final = 3.5
"""Half the size of the mark on a card that failed."""


class MapMark(NamedTuple):
    """A bookmark: its digit and the scene point in its middle."""

    digit: str
    x: float
    y: float


class MapCamera(msgspec.Struct, frozen=True):
    """Where scene points lie on the map: everything fits, with a margin."""

    camera: Camera

    @classmethod
    def fitting(cls, extent: Box, width: float, height: float) -> "MapCamera":
        """The map of an extent."""
        room_x, room_y = max(width - 2 * MARGIN, 1.0), max(height - 2 * MARGIN, 1.0)
        zoom = min(room_x / max(extent.width, 1.0), room_y / max(extent.height, 1.0))
        x, y = extent.center
        return cls(Camera(zoom, x - width / 2 / zoom, y - height / 2 / zoom))

    def rects(self, bounds: Floats) -> Floats:
        """Left, top, right, bottom in the scene as x, y, width, height on the map, none smaller than a dot."""
        import numpy as np

        zoom, camera = self.camera.zoom, self.camera
        rects = np.empty((len(bounds), 4))
        rects[:, :2] = (bounds[:, :2] - (camera.x, camera.y)) * zoom
        rects[:, 2:] = np.maximum((bounds[:, 2:] - bounds[:, :2]) * zoom, LEAST_PX)
        return rects


class MapPicture:
    """Cards and frames of a scene at one size; the picture is made anew only when they changed."""

    def __init__(self, scene: Scene) -> None:
        """Nothing is painted yet."""
        self._scene = scene
        self._key: object = None
        self._pixmap = QPixmap()

    def paint(
        self, painter: QPainter, style: CanvasStyle, seen: MapCamera, width: int, height: int, ratio: float
    ) -> None:
        """Show it."""
        scene = self._scene
        failed = frozenset(failure.failed.node for failure in scene.results.failures if scene.results.moment is None)
        key = (scene.state.geometry_revision, scene.state.graph_revision, id(style), failed, seen, width, height, ratio)
        if key != self._key:
            self._key = key
            self._pixmap = self._render(style, seen, failed, width, height, ratio)
        painter.drawPixmap(QPointF(0.0, 0.0), self._pixmap)

    def _render(
        self, style: CanvasStyle, seen: MapCamera, failed: Collection[ItemId], width: int, height: int, ratio: float
    ) -> QPixmap:
        pixmap = QPixmap(round(width * ratio), round(height * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self._paint_frames(painter, style, seen)
        self._paint_cards(painter, style, seen, failed)
        painter.end()
        return pixmap

    def _paint_frames(self, painter: QPainter, style: CanvasStyle, seen: MapCamera) -> None:
        import numpy as np

        painter.setPen(style.color("block_edge"))
        painter.setBrush(style.color("block"))
        for frame in self._scene.placement.frames.values():
            box = seen.camera.box_to_view(frame.box)
            painter.drawRect(QRectF(box.x, box.y, box.width, box.height))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(style.color("note"))
        notes = [note.box for note in self._scene.placement.notes.values()]
        draw_rects(painter, seen.rects(np.array([(b.x, b.y, b.right, b.bottom) for b in notes]).reshape(-1, 4)))

    def _paint_cards(self, painter: QPainter, style: CanvasStyle, seen: MapCamera, failed: Collection[ItemId]) -> None:
        scene, nodes = self._scene, self._scene.graph.nodes
        if not scene.stack.ids:
            return
        rects = seen.rects(scene.placement.bounds)
        by_category: dict[str, list[int]] = {}
        hollow: list[int] = []
        for k, item in enumerate(scene.stack.ids):
            node = nodes[item]
            if node.muted or node.bypassed:
                hollow.append(k)
            elif item not in failed:
                by_category.setdefault(scene.stack.cards[item].layout.category, []).append(k)
        painter.setPen(Qt.PenStyle.NoPen)
        for category, which in by_category.items():
            painter.setBrush(style.theme.category_mark(category))
            draw_rects(painter, rects[which])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(style.color("text_dim"), 0.0))
        draw_rects(painter, rects[hollow])
        self._paint_failed(
            painter, style, rects[[scene.stack.index[item] for item in failed if item in scene.stack.index]]
        )

    def _paint_failed(self, painter: QPainter, style: CanvasStyle, rects: Floats) -> None:
        """In the colour of danger, with a cross."""
        import numpy as np

        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(style.color("danger"))
        draw_rects(painter, rects + np.array([-1.0, -1.0, 2.0, 2.0]))
        painter.setPen(QPen(style.color("text"), 1.4))
        x, y, d = rects[:, 0] + rects[:, 2] / 2, rects[:, 1] + rects[:, 3] / 2, CROSS_PX
        falling = np.stack([x - d, y - d, x + d, y + d], 1)
        rising = np.stack([x - d, y + d, x + d, y - d], 1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        draw_lines(painter, np.concatenate([falling, rising]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def paint_lit(
    painter: QPainter, style: CanvasStyle, scene: Scene, seen: MapCamera, selection: Collection[ItemId],
    found: Collection[ItemId] = (),
) -> None:  # fmt: skip
    """Outlines: what was found (dotted), the selection, and what runs now or next, which has a dot beside it."""
    import numpy as np

    painter.setBrush(Qt.BrushStyle.NoBrush)
    matching = sorted(scene.stack.index[item] for item in found if item in scene.stack.index)
    painter.setPen(QPen(style.color("warning"), 1.5, Qt.PenStyle.DotLine))
    draw_rects(painter, seen.rects(scene.placement.bounds[matching]) + np.array([-2.0, -2.0, 4.0, 4.0]))
    chosen = sorted({scene.stack.index[item] for item in selection if item in scene.stack.index})
    painter.setPen(QPen(style.color("accent"), 1.5 if len(chosen) < MANY else 1.0))
    draw_rects(painter, seen.rects(scene.placement.bounds[chosen]) + np.array([-1.0, -1.0, 2.0, 2.0]))
    current = at_work(scene.results) or scene.results.next_node
    k = scene.stack.index.get(current) if current else None
    if k is not None:
        rects = seen.rects(scene.placement.bounds[[k]])
        painter.setPen(QPen(style.color("ok"), 1.5))
        draw_rects(painter, rects + np.array([-2.0, -2.0, 4.0, 4.0]))
        painter.setBrush(style.color("ok"))
        x, y, _, height = rects[0].tolist()
        painter.drawEllipse(QPointF(x - 6.0, y + height / 2), 2.0, 2.0)


def paint_view(painter: QPainter, style: CanvasStyle, box: Box, width: int, height: int) -> None:
    """The rectangle that is seen; what lies around it is darker. A view beside everything is a line at the edge."""
    import numpy as np

    left, right = (min(max(at, 1.0), width - 2.0) for at in (box.x, box.right))
    top, bottom = (min(max(at, 1.0), height - 2.0) for at in (box.y, box.bottom))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.faded("canvas", 0.45))
    rows: list[tuple[float, float, float, float]] = [(0, 0, width, top), (0, bottom, width, height - bottom)]
    rows += [(0, top, left, bottom - top), (right, top, width - right, bottom - top)]
    draw_rects(painter, np.array(rows, dtype=np.float64))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.color("text"), 1.0))
    painter.drawRect(QRectF(round(left) + 0.5, round(top) + 0.5, round(right - left), round(bottom - top)))


def paint_folded(painter: QPainter, style: CanvasStyle, side: int, ratio: float) -> None:
    """The button to which the map is folded."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(style.color("line"), 1.0))
    painter.setBrush(style.color("surface_raised"))
    painter.drawRoundedRect(QRectF(0.5, 0.5, side - 1.0, side - 1.0), 5.0, 5.0)
    size = round(side * 0.65)
    painter.drawPixmap(
        QPointF((side - size) / 2, (side - size) / 2), icon_pixmap("minimap", style.color("text"), size, ratio)
    )


def paint_marks(painter: QPainter, style: CanvasStyle, seen: MapCamera, marks: Sequence[MapMark]) -> None:
    """Bookmarks: a flag with a digit at each."""
    painter.setFont(style.meter.font("badge"))
    for mark in marks:
        x, y = seen.camera.to_view(mark.x, mark.y)
        plate = QRectF(round(x) - 6.0, round(y) - 15.0, 12.0, 12.0)
        painter.setPen(QPen(style.color("text"), 1.0))
        painter.drawLine(QLineF(round(x), plate.bottom(), round(x), round(y)))
        painter.setPen(QPen(style.color("line"), 1.0))
        painter.setBrush(style.color("surface_raised"))
        painter.drawRoundedRect(plate, 3.0, 3.0)
        painter.setPen(style.color("text"))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, mark.digit)
