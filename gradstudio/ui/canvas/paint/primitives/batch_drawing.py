"""Many lines or rectangles by one call of QPainter over numpy memory."""

from typing import cast

import numpy as np
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter
from shiboken6 import Shiboken

from gradstudio.scene.geometry import Floats


def draw_lines(painter: QPainter, lines: Floats) -> None:
    """Lines as rows of x1, y1, x2, y2."""
    memory = np.ascontiguousarray(lines)
    if len(memory):
        painter.drawLines(cast(QLineF, Shiboken.wrapInstance(memory.ctypes.data, QLineF)), len(memory))


def draw_rects(painter: QPainter, rects: Floats) -> None:
    """Rectangles as rows of x, y, width, height."""
    memory = np.ascontiguousarray(rects)
    if len(memory):
        painter.drawRects(cast(QRectF, Shiboken.wrapInstance(memory.ctypes.data, QRectF)), len(memory))
