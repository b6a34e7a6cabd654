"""What lies under labels and cards, as a picture: another moment changes little of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.scrolling import scrolled

Paint = Callable[[QPainter, Camera, Box, float], None]


@dataclass(frozen=True, slots=True)
class View:
    """What decides how the ground looks.

    Attributes:
        key: anything else but the wires' colours.
        wires: which of them show; `colours`: a number for that of each wire.
    """

    camera: Camera
    area: Box
    ratio: float
    key: tuple[object, ...]
    wires: Sequence[int] = field(compare=False)
    colours: Sequence[int] = field(compare=False)


class KeptGround:
    """Paints the ground; from the second time on that it is the same, or near what it was, from a picture."""

    def __init__(self, paint: Paint) -> None:
        """`paint`: paints a part of the view, view pixels."""
        self._paint = paint
        self._view: View | None = None
        self._shown: list[int] = []
        self._picture: QPixmap | None = None

    def forget(self) -> None:
        """Paint all anew next time."""
        self._view = self._picture = None

    def paint(self, painter: QPainter, view: View) -> None:
        """Paint all of a view."""
        old, picture = self._view, self._picture
        is_alike = old is not None and (old.area, old.ratio, old.key) == (view.area, view.ratio, view.key)
        if old is not None and is_alike and _colours(view.colours, old.wires) == self._shown:
            if old.camera == view.camera:
                self._picture = picture if picture is not None else self._painted(view)
            elif picture is not None:
                self._picture = scrolled(
                    picture,
                    old.camera,
                    view.camera,
                    view.area,
                    lambda onto, strip: self._paint_strip(onto, view, strip),
                )
        else:
            self._picture = None
        self._view, self._shown = view, _colours(view.colours, view.wires)
        if self._picture is not None:
            painter.drawPixmap(QPointF(0.0, 0.0), self._picture)
        else:
            self._paint(painter, view.camera, view.area, view.ratio)

    def _painted(self, view: View) -> QPixmap:
        pixmap = QPixmap(math.ceil(view.area.width * view.ratio), math.ceil(view.area.height * view.ratio))
        pixmap.setDevicePixelRatio(view.ratio)
        painter = QPainter(pixmap)
        self._paint(painter, view.camera, view.area, view.ratio)
        painter.end()
        return pixmap

    def _paint_strip(self, painter: QPainter, view: View, strip: Box) -> None:
        painter.setClipRect(QRectF(strip.x, strip.y, strip.width, strip.height))
        self._paint(painter, view.camera, strip, view.ratio)
        painter.setClipping(False)


def _colours(of_all: Sequence[int], wires: Sequence[int]) -> list[int]:
    return [of_all[wire] for wire in wires]
