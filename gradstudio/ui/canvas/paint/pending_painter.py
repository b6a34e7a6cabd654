"""Paints what had not run yet at the moment that is looked at: a veil over the card, and the words."""

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from gradstudio.graph.model import ItemId
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.results import at_work
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_rects
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

PALE: Final = 0.5
WORDS: Final = "not run yet"
WORDS_PX: Final = 18.0
"""Height of the words at the lower edge of a card, view pixels; one with less that is empty has the veil alone."""


def paint_pending(painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box) -> None:
    """A veil over every card that had not run yet at the moment looked at, and the words so where they can be read."""
    if scene.results.moment is None:
        return
    near = scene.placement.cards_in(seen, 0.0)
    begun, ids = begun_items(scene), scene.stack.ids
    rows = scene.updates.rows([ids[k] for k in near])
    late = [k for k, row in zip(near, rows, strict=True) if row is None and not has_run(scene, ids[k], begun)]
    if not late:
        return
    cards = [scene.stack.cards[scene.stack.ids[k]] for k in late]
    rects = scene.placement.bounds[late].copy()
    rects[:, 2:] -= rects[:, :2]
    rects[:, 3] = [card.drawn_height for card in cards]  # not the room that is kept below
    rects[:, :2] -= (camera.x, camera.y)
    rects *= camera.zoom
    rects += (-1.0, -1.0, 2.0, 2.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.faded("past", PALE))
    draw_rects(painter, rects)
    if camera.zoom >= DISTANT:
        painter.setFont(style.meter.font("small_italic"))
        painter.setPen(style.color("text_dim"))
        for k, card, (x, y, width, _) in zip(late, cards, rects.tolist(), strict=True):
            if _empty_height(scene, scene.stack.ids[k]) * camera.zoom >= WORDS_PX:
                below = y + (card.layout.height + card.drawn) * camera.zoom
                line = QRectF(x + 12 * camera.zoom, below - WORDS_PX, width - 24 * camera.zoom, WORDS_PX)
                painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, WORDS)


def _empty_height(scene: Scene, item: ItemId) -> float:
    """Of the lower part of a well, scene pixels: expected leaves have rows before their module is made."""
    well = scene.updates.well(item)
    if well.problem or well.chart is not None:
        return 0.0
    return scene.stack.cards[item].drawn - well.leaves.height


def begun_items(scene: Scene) -> tuple[ItemId, ...]:
    """What has begun and may have no row yet: what is at work, and a backward, which has none until it is over."""
    active = scene.results.active
    working = at_work(scene.results)
    return (working, active.node) if active is not None else (working,)


def has_run(scene: Scene, item: ItemId, begun: tuple[ItemId, ...]) -> bool:
    """Whether an item has begun at the moment that is looked at, or never does; `begun`: of `begun_items`."""
    return item in scene.numbers.left_out or item in begun or scene.updates.row(item) is not None
