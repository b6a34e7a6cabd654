"""Paints what a card's words stand on: its body, header, well and outline. Cards of one shape share a picture of it."""

import functools
import math
from typing import Final, NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from gradstudio.scene.card.card_layout import HEADER, CardLayout
from gradstudio.scene.card.result_sections import ProblemKind, ResultSections
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.paint.card.card_state import CardState
from gradstudio.ui.canvas.paint.card.result_section_painter import problem_box
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.card_shadows import MARGIN, RADIUS, CardShadows

MOST: Final = 64
"""So many pictures are kept, all of one scale."""


class Ground(NamedTuple):
    """What of a card decides how its ground looks.

    Attributes:
        ports: height of header and ports; `well`: of what stands below them.
        head: the header's colour where cards are coloured by a figure, as 0xaarrggbb; None: its category's.
        problem: where the words of a problem stand; `over`: something stands below them.
    """

    width: float
    ports: float
    well: float
    category: str
    head: int | None
    problem: Box | None
    problem_kind: ProblemKind
    over: bool
    collapsed: bool
    stacked: bool
    set_up: bool
    left_out: bool


def ground_of(layout: CardLayout, well: ResultSections, state: CardState) -> Ground:
    """The ground of a card."""
    box = problem_box(layout, well) if well.problem else None
    return Ground(
        width=layout.width,
        ports=layout.height,
        well=well.height + state.extras.height,
        category=layout.category,
        head=state.head.ground.rgba() if state.head is not None else None,
        problem=Box(box.x(), box.y(), box.width(), box.height()) if box is not None else None,
        problem_kind=well.problem_kind,
        over=bool(state.extras.height),
        collapsed=layout.display_flags.collapsed,
        stacked=layout.is_group,
        set_up=state.set_up and not layout.display_flags.collapsed,
        left_out=state.left_out,
    )


def paint_background(painter: QPainter, style: CanvasStyle, ground: Ground) -> None:
    """The ground without its shadow; the painter's origin is the card's top left corner."""
    width, height = ground.width, ground.ports + ground.well
    outline = QPainterPath()
    outline.addRoundedRect(QRectF(0, 0, width, height), RADIUS, RADIUS)
    if ground.stacked:
        _paint_stack(painter, style, width, height)
    painter.fillPath(outline, style.color("canvas" if ground.left_out else "card"))
    head = outline if ground.collapsed else half_rounded_path(QRectF(0, 0, width, HEADER), RADIUS)
    color = QColor.fromRgba(ground.head) if ground.head is not None else style.header(ground.category, width)
    painter.fillPath(head, color)
    if ground.well:
        _paint_well(painter, style, ground)
    if ground.set_up:
        painter.fillRect(QRectF(0.5, HEADER, 3, height - HEADER - RADIUS), style.faded("text_dim", 0.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    failed = QPen(style.color("danger"), 2.0) if ground.problem_kind == "error" else style.edge
    painter.setPen(QPen(style.color("text_dim"), 1.6, Qt.PenStyle.DashLine) if ground.left_out else failed)
    painter.drawPath(outline)


def half_rounded_path(rect: QRectF, radius: float, *, top: bool = True) -> QPainterPath:
    """A rectangle with two round corners. Drawn so instead of clipped: pictures in SVG know no clipping."""
    return _half_rounded((rect.x(), rect.y(), rect.width(), rect.height()), radius, top)


@functools.lru_cache(maxsize=512)
def _half_rounded(sides: tuple[float, float, float, float], radius: float, top: bool) -> QPainterPath:
    rect = QRectF(*sides)
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRoundedRect(rect, radius, radius)
    path.addRect(rect.adjusted(0, radius, 0, 0) if top else rect.adjusted(0, 0, 0, -radius))
    return path.simplified()


def _paint_stack(painter: QPainter, style: CanvasStyle, width: float, height: float) -> None:
    """Sheets behind a card that has an inside."""
    painter.setBrush(style.color("card_well"))
    for far in (6.0, 3.0):
        painter.setPen(QPen(style.color("card_edge"), 1.0))
        painter.drawRoundedRect(QRectF(far + 0.5, far + 0.5, width - 1, height - 1), RADIUS, RADIUS)


def _paint_well(painter: QPainter, style: CanvasStyle, ground: Ground) -> None:
    well = QRectF(0, ground.ports, ground.width, ground.well)
    painter.fillPath(half_rounded_path(well, RADIUS, top=False), style.color("card_well"))
    painter.fillRect(QRectF(0, ground.ports, ground.width, 1), style.faded("card_edge", 0.7))
    if ground.problem is not None:
        role = "danger" if ground.problem_kind == "error" else "warning"
        color = style.faded(role, 0.1 if ground.problem_kind != "incomplete" else 0.08)
        box = ground.problem
        painter.fillPath(
            half_rounded_path(QRectF(box.x, box.y, box.width, box.height), 0 if ground.over else RADIUS, top=False),
            color,
        )


class Grounds:
    """Keeps pictures of grounds with their shadows, for the scale it was last asked for."""

    def __init__(self) -> None:
        """Nothing is painted yet."""
        self._shadows = CardShadows()
        self._scale: tuple[CanvasStyle, float, float] | None = None
        self._kept: dict[Ground, QPixmap] = {}

    def picture(self, style: CanvasStyle, ground: Ground, zoom: float, ratio: float) -> QPixmap:
        """The ground at `zoom`, in a pixmap with `MARGIN` scene pixels around it; one to paint on."""
        if self._scale != (style, zoom, ratio) or len(self._kept) >= MOST:
            self._scale = style, zoom, ratio
            self._kept.clear()
        found = self._kept.get(ground)
        if found is None:
            found = self._kept[ground] = self._painted(style, ground, zoom, ratio)
        return QPixmap(found)  # shared until it is painted on

    def _painted(self, style: CanvasStyle, ground: Ground, zoom: float, ratio: float) -> QPixmap:
        width, height = ground.width + 2 * MARGIN, ground.ports + ground.well + 2 * MARGIN
        pixmap = QPixmap(math.ceil(width * zoom * ratio), math.ceil(height * zoom * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(1 / ratio, 1 / ratio)
        if not ground.left_out:  # it would show through
            self._shadows.paint(painter, style, pixmap.width(), pixmap.height(), zoom * ratio)
        painter.scale(zoom * ratio, zoom * ratio)
        painter.translate(MARGIN, MARGIN)
        paint_background(painter, style, ground)
        painter.end()
        return pixmap
