"""Pictures of plates with texts: each is painted once for each revision of its card, size and zoom."""

import functools
from collections.abc import Callable, Sequence
from math import floor
from typing import Final, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.graph.model import ItemId
from gradstudio.scene.geometry import UPWARDS
from gradstudio.scene.items import Card
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

EDGE: Final = 8
"""View pixels around a plate, for its ports."""
MOST: Final = 600
"""So many pictures are kept."""
Scale = tuple[float, float, float, float]
"""Width and height of a plate in view pixels, zoom, device pixels by view pixel."""
Paint = Callable[[QPainter, CanvasStyle, Scene, ItemId, QRectF, float], None]


class Plate(NamedTuple):
    """A plate as it was painted: of which card at which revision, how large at which zoom and pixel ratio."""

    card: Card
    revision: int
    scale: Scale
    pixmap: QPixmap


class Ground(NamedTuple):
    """What stays of a plate while its values change, and by what it is another one."""

    key: tuple[object, ...]
    pixmap: QPixmap


class PlatePictures:
    """Keeps the last picture of each plate: another moment or result changes few of those in view.

    Of a plate whose values change the ground is kept, too: another run changes all of them.
    """

    def __init__(self) -> None:
        """None was painted."""
        self._kept: dict[ItemId, Plate] = {}
        self._grounds: dict[ItemId, Ground] = {}

    def forget(self) -> None:
        """Paint all anew: they look different."""
        self._kept.clear()
        self._grounds.clear()

    def paint(
        self, painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, rect: Sequence[float], zoom: float
    ) -> None:
        """The plate of a card in a rectangle (x, y, width, height) of whole view pixels."""
        x, y, width, height = rect
        ratio = painter.device().devicePixelRatio()
        card, kept, scale = scene.stack.read(item), self._kept.get(item), (width, height, zoom, ratio)
        if kept is None or kept.card is not card or kept.revision != card.revision or kept.scale != scale:
            if len(self._kept) >= MOST:
                self.forget()
            has_other_values = kept is not None and kept.scale == scale
            picture = (
                self._on_ground(style, scene, item, scale) if has_other_values else _whole(style, scene, item, scale)
            )
            kept = self._kept[item] = Plate(card, card.revision, scale, picture)
        left, top = floor((x - EDGE) * ratio + UPWARDS) / ratio, floor((y - EDGE) * ratio + UPWARDS) / ratio
        painter.drawPixmap(QPointF(left, top), kept.pixmap)

    def _on_ground(self, style: CanvasStyle, scene: Scene, item: ItemId, scale: Scale) -> QPixmap:
        ground_key, paint_plate_ground, paint_plate_results = _parts()
        key, ground = (scale, *ground_key(style, scene, item)), self._grounds.get(item)
        if ground is None or ground.key != key:
            ground = self._grounds[item] = Ground(
                key, _painted(_empty(scale), paint_plate_ground, style, scene, item, scale)
            )
        return _painted(QPixmap(ground.pixmap), paint_plate_results, style, scene, item, scale)


@functools.cache
def _parts() -> tuple[Callable[[CanvasStyle, Scene, ItemId], tuple[object, ...]], Paint, Paint]:
    """What paints a ground and what stands on it, imported when the first is: an import is asked for 8 us each time."""
    from gradstudio.ui.canvas.paint.card.distant_card import paint_plate_results
    from gradstudio.ui.canvas.paint.card.plate_ground import ground_key, paint_plate_ground

    return ground_key, paint_plate_ground, paint_plate_results


def _whole(style: CanvasStyle, scene: Scene, item: ItemId, scale: Scale) -> QPixmap:
    from gradstudio.ui.canvas.paint.card.distant_card import paint_distant_card

    return _painted(_empty(scale), paint_distant_card, style, scene, item, scale)


def _empty(scale: Scale) -> QPixmap:
    width, height, _, ratio = scale
    pixmap = QPixmap(round((width + 2 * EDGE) * ratio), round((height + 2 * EDGE) * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    return pixmap


def _painted(pixmap: QPixmap, paint: Paint, style: CanvasStyle, scene: Scene, item: ItemId, scale: Scale) -> QPixmap:
    width, height, zoom, _ = scale
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    paint(painter, style, scene, item, QRectF(EDGE, EDGE, width, height), zoom)
    painter.end()
    return pixmap
