"""Paints what a program printed and drew at a node: lines below the values, and the last figure below them."""

import functools
from typing import Final

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QImage, QPainter

from gradstudio.protocol.messages.drawn_figures import FigurePicture
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.card.section_heights import EDGE, FIGURE, LINE
from gradstudio.scene.printout import Printout
from gradstudio.ui.canvas.paint.primitives.canvas_style import STALE_OPACITY, CanvasStyle
from gradstudio.ui.theme import Theme

LEAST_FIGURE_PX: Final = 14.0
"""Of less height a figure shows nothing."""
STEP_PX: Final = 32
"""Widths in which figures are kept."""
KEPT: Final = 64
"""So many figures are kept as they are painted."""


def paint_printout(
    painter: QPainter, style: CanvasStyle, printout: Printout, top: float, width: float, *, stale: bool
) -> None:
    """What stands on a card of that width, from `top` on."""
    room = width - 2 * PADDING
    most = len(printout.shown())  # so many have room
    columns = max(1, int(room / style.meter.width("0", "mono_small")))
    for number, text in enumerate(printout.shown(columns, most)):
        painter.setPen(style.color("text_dim" if number == 0 and text.startswith("…") else "text"))
        shown = style.meter.elided(text.expandtabs(4), "mono_small", room)
        style.meter.write(painter, "mono_small", shown, PADDING, top + LINE * number, LINE)
    if not printout.figures:
        return
    below = top + (LINE * most + EDGE if most else 0.0)
    painter.save()
    painter.setOpacity(painter.opacity() * (STALE_OPACITY if stale else 1.0))
    box = paint_figure_picture(painter, style.theme, printout.figures[-1].picture, QRectF(PADDING, below, room, FIGURE))
    painter.restore()
    if len(printout.figures) > 1:
        words = f"{len(printout.figures)} figures"
        painter.setPen(style.color("text_dim"))
        style.meter.write(painter, "small", words, box.left(), below + FIGURE - LINE, LINE)


def paint_distant_printout(painter: QPainter, style: CanvasStyle, printout: Printout, body: QRectF) -> bool:
    """On a card that is seen from afar: the last figure, which says more than names do; whether there is one."""
    if not printout.figures or body.height() < LEAST_FIGURE_PX:
        return False
    paint_figure_picture(painter, style.theme, printout.figures[-1].picture, body)
    return True


def paint_figure_picture(painter: QPainter, theme: Theme, picture: FigurePicture, room: QRectF) -> QRectF:
    """A figure for the ground of a theme, as large as a room allows; where it stands."""
    size = QSizeF(picture.width, picture.height).scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio)
    box = QRectF(room.left() + (room.width() - size.width()) / 2, room.top(), size.width(), size.height())
    width = box.width() * abs(painter.deviceTransform().m11())
    image = _scaled(picture.dark if theme.dark else picture.light, -(-int(width) // STEP_PX) * STEP_PX)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(box, image)
    return box


@functools.lru_cache(maxsize=KEPT)
def _scaled(data: bytes, width: int) -> QImage:
    """A picture of at most that width: what Qt's painter makes smaller by more than half loses its lines."""
    image = QImage.fromData(data)
    if 0 < width < image.width():
        return image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
    return image
