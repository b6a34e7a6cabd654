"""Paints what lies under the cards: frames of blocks with their ports."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from gradstudio.scene.card.card_layout import PADDING, ROW
from gradstudio.scene.card.frame_titles import title_from_afar, title_in
from gradstudio.scene.geometry import FRAME_TITLE
from gradstudio.scene.items import Frame
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.card.card_background import half_rounded_path
from gradstudio.ui.canvas.paint.card.card_painter import paint_input_port, paint_output_port
from gradstudio.ui.canvas.paint.card.field_painter import field_rect, paint_field, qt_rect
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

if TYPE_CHECKING:
    from gradstudio.scene.words.progress_plates import Plate

RADIUS: Final = 10.0
ABOVE_WIRE: Final = 9.0
"""A label beside which a wire arrives from inside stands so much higher."""
Align = Qt.AlignmentFlag


def paint_frame(painter: QPainter, style: CanvasStyle, frame: Frame, scene: Scene, zoom: float) -> None:
    """A block: ground, title strip as Python, ports. The origin is its top left corner."""
    rect = QRectF(0, 0, frame.box.width, frame.box.height)
    outline = QPainterPath()
    outline.addRoundedRect(rect, RADIUS, RADIUS)
    painter.fillPath(outline, style.color("block"))
    title = title_from_afar(frame, scene, zoom) if zoom < DISTANT else None
    strip_height = FRAME_TITLE if title is None or title.top < 0 else title.height / zoom
    strip = half_rounded_path(QRectF(0, 0, rect.width(), min(strip_height, max(frame.room, 1.0))), RADIUS)
    painter.fillPath(strip, style.faded("block_edge", 0.35))
    dashed = Qt.PenStyle.DashLine if scene.graph.blocks[frame.item].muted else Qt.PenStyle.SolidLine
    painter.setPen(QPen(style.color("block_edge"), 1.2, dashed))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(outline)
    if zoom >= DISTANT:
        text = title_in(style.meter, frame.layout.title, "block", rect.width() - 2 * PADDING)
        _paint_title(painter, style, text, "block", QRectF(PADDING, 0, rect.width() - 2 * PADDING, FRAME_TITLE))
        _paint_ports(painter, style, frame, scene)
    elif title is not None:
        painter.scale(1 / zoom, 1 / zoom)
        line = QRectF(PADDING / 2, title.top, rect.width() * zoom - PADDING / 2, title.height)
        _paint_title(painter, style, title.text, title.role, line)


def paint_progress(painter: QPainter, style: CanvasStyle, plate: "Plate") -> None:
    """How far a loop is, on its plate: filled as far as it is done."""
    box = qt_rect(plate.box)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.color("card"))
    painter.drawRoundedRect(box, 5, 5)
    if plate.share:
        painter.save()
        painter.setClipRect(QRectF(box.x(), box.y(), box.width() * plate.share, box.height()))
        painter.setBrush(style.faded("ok", 0.45))
        painter.drawRoundedRect(box, 5, 5)
        painter.restore()
    painter.setFont(style.meter.font("plate"))
    painter.setPen(style.color("text"))
    painter.drawText(box, Align.AlignCenter, plate.words)


def _paint_title(painter: QPainter, style: CanvasStyle, text: str, role: str, line: QRectF) -> None:
    painter.setFont(style.meter.font(role))
    painter.setPen(style.color("text"))
    painter.drawText(line, Align.AlignVCenter, text)


def _paint_ports(painter: QPainter, style: CanvasStyle, frame: Frame, scene: Scene) -> None:
    wired = dict(scene.looks.input_looks(frame.item))
    painter.setPen(style.color("text"))
    for row in frame.layout.inputs:
        at_right = row.path.startswith("next.")
        side = Align.AlignRight if at_right else Align.AlignLeft
        left = row.x - PADDING - 200 if at_right else row.x + PADDING
        top = row.y - ROW / 2 - (ABOVE_WIRE if at_right else 0.0)
        painter.setFont(style.meter.font("label"))
        painter.setPen(style.color("text"))
        painter.drawText(QRectF(left, top, 200, ROW), Align.AlignVCenter | side, row.label)
        if row.field is not None:
            label_end = row.x + PADDING + style.meter.width(row.label, "label") + 4
            rect = field_rect(style, row, label_end, frame.layout.width - PADDING)
            paint_field(painter, style, row, rect or qt_rect(row.field))
        paint_input_port(painter, style, row, wired.get(row.path))
    for output in frame.layout.outputs:
        painter.setFont(style.meter.font("label"))
        painter.setPen(style.color("text"))
        rect = QRectF(PADDING, output.y - ROW / 2, output.x - PADDING - 10, ROW)
        painter.drawText(rect, Align.AlignVCenter, output.label)
        paint_output_port(painter, style, output, scene.looks.look_of(frame.item, output.index))
