"""Many lines or rectangles by one call of QPainter over numpy memory."""

from array import array
from typing import cast

from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QPainter
from shiboken6 import Shiboken

from gradstudio.scene.geometry import Floats


def draw_lines(painter: QPainter, lines: Floats) -> None:
    """Lines as rows of x1, y1, x2, y2."""
    import numpy as np

    memory = np.ascontiguousarray(lines)
    if len(memory):
        painter.drawLines(cast(QLineF, Shiboken.wrapInstance(memory.ctypes.data, QLineF)), len(memory))


def draw_line_array(painter: QPainter, lines: "array[float]") -> None:
    """Lines as x1, y1, x2, y2, one behind the other."""
    if lines:
        address = lines.buffer_info()[0]
        painter.drawLines(cast(QLineF, Shiboken.wrapInstance(address, QLineF)), len(lines) // 4)


def draw_rects(painter: QPainter, rects: Floats) -> None:
    """Rectangles as rows of x, y, width, height."""
    import numpy as np

    memory = np.ascontiguousarray(rects)
    if len(memory):
        painter.drawRects(cast(QRectF, Shiboken.wrapInstance(memory.ctypes.data, QRectF)), len(memory))
