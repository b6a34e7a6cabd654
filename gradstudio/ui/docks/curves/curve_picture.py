"""The plot of the Curves dock as a picture file."""

from typing import Final

from PySide6.QtCore import QBuffer, QIODevice, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsView

from gradstudio.ui.canvas.paint.picture_export import png_of

SCALE: Final = 2
"""Pixels of a picture for each that is seen."""


def png(plot: QGraphicsView) -> bytes:
    """What is seen, twice as fine."""
    image = QImage(plot.viewport().size() * SCALE, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    plot.render(painter, QRectF(image.rect()), plot.viewport().rect())
    painter.end()
    return png_of(image)


def svg(plot: QGraphicsView, title: str) -> bytes:
    """What is seen, in lines and letters."""
    buffer, made = QBuffer(), QSvgGenerator()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    made.setOutputDevice(buffer)
    made.setSize(plot.viewport().size())
    made.setViewBox(plot.viewport().rect())
    made.setTitle(title)
    painter = QPainter(made)
    plot.render(painter, QRectF(plot.viewport().rect()), plot.viewport().rect())
    painter.end()
    return bytes(buffer.data().data())
