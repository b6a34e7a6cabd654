"""Cards seen from afar are plates: few are drawn one by one, thousands in batches with one tint a card."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.scene.camera import LEAST_READABLE, Camera
from gradstudio.scene.card.card_layout import HEADER
from gradstudio.scene.geometry import UPWARDS, Floats
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.card.distant_gradient_signs import LEAST_DOTTED, States, paint_dots
from gradstudio.ui.canvas.paint.card.header_colours import color_of
from gradstudio.ui.canvas.paint.plate_pictures import PlatePictures
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_rects
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme

DISTANT: Final = LEAST_READABLE
"""Below this scale cards are plates."""
FEW: Final = 150
"""So many plates are drawn with titles, values and ports."""
TINT: Final = 0.55


class Tints:
    """One colour a card for what it computed, worked out once for each value; the states of gradients; pictures."""

    def __init__(self) -> None:
        """No colour is known."""
        self._theme: Theme | None = None
        self._known: dict[ItemId, tuple[Row | None, int | None]] = {}
        self.states = States()
        self.pictures = PlatePictures()

    def of(self, scene: Scene, style: CanvasStyle, items: Sequence[ItemId]) -> list[int | None]:
        """A colour as 0xffrrggbb for each of these cards; None where there is nothing to be coloured."""
        if self._theme is not style.theme:
            self._theme = style.theme
            self._known.clear()
        known, found = self._known, list[int | None]()
        for item, row in zip(items, scene.updates.rows(items), strict=True):
            old = known.get(item)
            if old is None or old[0] is not row:
                old = known[item] = (row, _tint(row, style.theme))
            found.append(old[1])
        return found


def _tint(row: Row | None, theme: Theme) -> int | None:
    record = row.outputs[0] if row is not None and row.outputs else None
    return tensor_image.tint(record.summary, theme).rgb() if isinstance(record, TensorRecord) else None


def paint_plates(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, which: Sequence[int], tints: Tints
) -> None:
    """The cards `which` as plates."""
    import numpy as np

    rects = _view_rects(scene, camera, which)
    painter.setPen(Qt.PenStyle.NoPen)
    if len(which) <= FEW:
        for k, rect in zip(which, rects.tolist(), strict=True):
            tints.pictures.paint(painter, style, scene, scene.stack.ids[k], rect, camera.zoom)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setBrush(style.color("card_edge"))
    draw_rects(painter, rects + np.array([-1.0, -1.0, 2.0, 2.0]))
    painter.setBrush(style.color("card_well"))
    draw_rects(painter, rects)
    items = [scene.stack.ids[k] for k in which]
    _paint_tints(painter, style, scene, items, rects, tints)
    _paint_headers(painter, style, scene, items, rects, np.maximum(HEADER * camera.zoom, 3.0))
    if scene.state.shown.gradients and LEAST_DOTTED[0] <= rects[:, 2].max() and LEAST_DOTTED[1] <= rects[:, 3].max():
        paint_dots(painter, style, rects, tints.states.of(scene, items))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)


def _view_rects(scene: Scene, camera: Camera, which: Sequence[int]) -> Floats:
    import numpy as np

    bounds = scene.placement.bounds[np.array(which, dtype=np.intp)]
    cards, ids = scene.stack.cards, scene.stack.ids
    kept = [cards[ids[k]].result_height - cards[ids[k]].drawn for k in which]  # room of which nothing is seen
    bounds[:, 3] -= kept
    rects = np.empty((len(which), 4))
    rects[:, :2] = np.floor((bounds[:, :2] - (camera.x, camera.y)) * camera.zoom + UPWARDS)
    rects[:, 2:] = np.maximum(np.round((bounds[:, 2:] - bounds[:, :2]) * camera.zoom), 2.0)
    return rects


def _paint_headers(
    painter: QPainter, style: CanvasStyle, scene: Scene, items: Sequence[ItemId], rects: Floats, height: float
) -> None:
    import numpy as np

    heads = rects.copy()
    heads[:, 3] = np.minimum(heads[:, 3], height)
    failed = {failure.failed.node for failure in scene.results.failures if scene.results.moment is None}
    danger = style.color("danger").rgb()
    colors = _header_colors(style, scene, items)
    _fill(painter, heads, [danger if item in failed else rgb for item, rgb in zip(items, colors, strict=True)])


def _header_colors(style: CanvasStyle, scene: Scene, items: Sequence[ItemId]) -> list[int]:
    if scene.colours.scale is not None:
        return [color_of(scene.colours.scale, style, item).rgb() for item in items]
    cards = scene.stack.cards
    categories = [cards[item].layout.category for item in items]
    rgb_of = {category: style.category_rgb(category) for category in set(categories)}
    return [rgb_of[category] for category in categories]


def _paint_tints(
    painter: QPainter, style: CanvasStyle, scene: Scene, items: Sequence[ItemId], rects: Floats, tints: Tints
) -> None:
    """One colour a card for the figure it is coloured by, or for what it computed, where values are shown."""
    if scene.colours.scale is not None:
        figures = scene.colours.scale.figures
        colors = [color_of(scene.colours.scale, style, item).rgb() if item in figures else None for item in items]
        _fill(painter, rects, colors, TINT)
    elif scene.state.shown.values:
        _fill(painter, rects, tints.of(scene, style, items), TINT)


def _fill(painter: QPainter, rects: Floats, colors: Sequence[int | None], alpha: float = 1.0) -> None:
    """Each rectangle in its colour, those of one colour at once."""
    groups: dict[int, list[int]] = {}
    for k, rgb in enumerate(colors):
        if rgb is not None:
            groups.setdefault(rgb, []).append(k)
    for rgb, which in groups.items():
        color = QColor.fromRgb(rgb)
        color.setAlphaF(alpha)
        painter.setBrush(color)
        draw_rects(painter, rects[which])
