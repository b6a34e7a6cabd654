"""A picture of the whole canvas as a file: PNG in double resolution, or SVG."""

from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter

from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.geometry import Box
from gradstudio.ui.canvas.layer import Layer

MARGIN_PX = 32.0
RATIO = 2.0
MAX_SIDE_PX = 16_000
"""Of a PNG; larger canvases are drawn smaller."""


def save_picture(layer: Layer, path: Path) -> bool:
    """Write everything on the board to a .png or .svg; False when it cannot be written."""
    if not path.parent.is_dir():
        return False
    box = layer.board.extent() or Box(0.0, 0.0, 320.0, 200.0)
    whole = Box(box.x - MARGIN_PX, box.y - MARGIN_PX, box.width + 2 * MARGIN_PX, box.height + 2 * MARGIN_PX)
    return _save_svg(layer, whole, path) if path.suffix.lower() == ".svg" else _save_png(layer, whole, path)


def _save_png(layer: Layer, whole: Box, path: Path) -> bool:
    ratio = min(RATIO, MAX_SIDE_PX / max(whole.width, whole.height))
    image = QImage(
        max(1, round(whole.width * ratio)),
        max(1, round(whole.height * ratio)),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    image.setDevicePixelRatio(ratio)
    painter = QPainter(image)
    _paint(layer, whole, painter, ratio)
    painter.end()
    return bool(image.save(str(path), "PNG"))  # type: ignore[call-overload]  # the stubs want bytes


def _save_svg(layer: Layer, whole: Box, path: Path) -> bool:
    from PySide6.QtSvg import QSvgGenerator

    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setTitle("GradStudio")
    size = QSize(round(whole.width), round(whole.height))
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    painter = QPainter()
    if not painter.begin(generator):
        return False
    _paint(layer, whole, painter, RATIO)
    return painter.end()


def _paint(layer: Layer, whole: Box, painter: QPainter, ratio: float) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    layer.paint(painter, Camera(1.0, whole.x, whole.y), Box(0.0, 0.0, whole.width, whole.height), ratio)
