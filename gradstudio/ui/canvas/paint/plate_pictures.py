"""Pictures of plates with texts: each is painted once for each revision of its card, size and zoom."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.graph.model import ItemId
from gradstudio.scene.items import Card
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

EDGE: Final = 8
"""View pixels around a plate, for its ports."""
MOST: Final = 600
"""So many pictures are kept."""


class Plate(NamedTuple):
    """A plate as it was painted: of which card at which revision, how large at which zoom and pixel ratio."""

    card: Card
    revision: int
    scale: tuple[float, ...]
    pixmap: QPixmap


class PlatePictures:
    """Keeps the last picture of each plate: another moment or result changes few of those in view."""

    def __init__(self) -> None:
        """None was painted."""
        self._kept: dict[ItemId, Plate] = {}

    def forget(self) -> None:
        """Paint all anew: they look different."""
        self._kept.clear()

    def paint(
        self, painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, rect: Sequence[float], zoom: float
    ) -> None:
        """The plate of a card in a rectangle (x, y, width, height) of whole view pixels."""
        x, y, width, height = rect
        ratio = painter.device().devicePixelRatio()
        card, kept, scale = scene.stack.cards[item], self._kept.get(item), (width, height, zoom, ratio)
        if kept is None or kept.card is not card or kept.revision != card.revision or kept.scale != scale:
            if len(self._kept) >= MOST:
                self._kept.clear()
            kept = self._kept[item] = Plate(card, card.revision, scale, _picture(style, scene, item, scale))
        left, top = round((x - EDGE) * ratio) / ratio, round((y - EDGE) * ratio) / ratio
        painter.drawPixmap(QPointF(left, top), kept.pixmap)


def _picture(style: CanvasStyle, scene: Scene, item: ItemId, scale: tuple[float, ...]) -> QPixmap:
    from gradstudio.ui.canvas.paint.card.distant_card import paint_distant_card

    width, height, zoom, ratio = scale
    pixmap = QPixmap(round((width + 2 * EDGE) * ratio), round((height + 2 * EDGE) * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    paint_distant_card(painter, style, scene, item, QRectF(EDGE, EDGE, width, height), zoom)
    painter.end()
    return pixmap
