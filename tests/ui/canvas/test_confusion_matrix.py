"""A confusion matrix on a card: its words are apart at every zoom."""

from itertools import combinations

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import ConfusionDrawn
from gradstudio.ui.canvas.paint.chart.matrix_painter import SAID, TARGET, paint_matrix
from gradstudio.ui.canvas.paint.primitives.canvas_style import LEAST_PX, ZOOM_STEPS, CanvasStyle, Meter
from gradstudio.ui.theme import Theme

DIGITS = ConfusionDrawn(ItemId("n"), counts=tuple(tuple(90 * (k == said) + 1 for said in range(10)) for k in range(10)))
ROOM = QRectF(0, 0, 169, 144)


class Notes(Meter):
    """Knows where its letters stand: as wide as they advance, as high as a digit."""

    def __init__(self, least: float) -> None:
        super().__init__(least)
        self.words: dict[str, list[QRectF]] = {}

    def write(self, painter: QPainter, role: str, text: str, x: float, y: float, height: float) -> None:
        super().write(painter, role, text, x, y, height)
        ink = self.metrics(role).tightBoundingRect("0").height()
        box = QRectF(x, y + (height - ink) / 2, self.width(text, role), ink)
        self.words.setdefault(text, []).append(painter.transform().mapRect(box))


def written(dark: Theme, step: float) -> dict[str, list[QRectF]]:
    notes = Notes(LEAST_PX / step)
    image = QImage(200, 200, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    paint_matrix(painter, CanvasStyle(dark, notes), DIGITS, ROOM)
    painter.end()
    return notes.words


@pytest.mark.parametrize("step", [1.0, *ZOOM_STEPS])
def test_names_of_classes_and_of_axes_do_not_lie_over_each_other(dark: Theme, step: float) -> None:
    words = written(dark, step)
    boxes = [(text, box) for text, places in words.items() for box in places]
    over = [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.intersects(b)]
    assert "0" in words and not over


def test_near_enough_the_axes_are_named(dark: Theme) -> None:
    assert {TARGET, SAID} <= set(written(dark, 1.0)) and {TARGET, SAID} <= set(written(dark, 0.8))
