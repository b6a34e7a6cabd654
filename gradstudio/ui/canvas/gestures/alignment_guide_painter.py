"""Paints the guides of a drag over the canvas, in view pixels."""

import math
from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.scene.camera import Camera
from gradstudio.scene.edit.alignment_guides import Line
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

TICK: Final = 4.0
"""View pixels of the strokes at the ends of a gap, to each side."""
BEYOND: Final = 8.0
"""View pixels by which a line leads past what it joins."""


def paint_guides(painter: QPainter, style: CanvasStyle, camera: Camera, lines: Iterable[Line]) -> None:
    """Lines through edges and middles; equal gaps as measures."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(QPen(style.color("accent"), 1.0, Qt.PenStyle.SolidLine))
    drawn: list[QLineF] = []
    for line in lines:
        x1, y1 = (math.floor(value) + 0.5 for value in camera.to_view(line.x1, line.y1))
        x2, y2 = (math.floor(value) + 0.5 for value in camera.to_view(line.x2, line.y2))
        upright = x1 == x2
        if line.gap:
            drawn.append(QLineF(x1, y1, x2, y2))
            for x, y in ((x1, y1), (x2, y2)):
                drawn.append(QLineF(x - TICK, y, x + TICK, y) if upright else QLineF(x, y - TICK, x, y + TICK))
        elif upright:
            drawn.append(QLineF(x1, y1 - BEYOND, x2, y2 + BEYOND))
        else:
            drawn.append(QLineF(x1 - BEYOND, y1, x2 + BEYOND, y2))
    painter.drawLines(drawn)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
