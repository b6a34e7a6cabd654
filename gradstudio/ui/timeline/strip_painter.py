"""Paints the strip in batches: what stands still into a picture that is kept, what moves over it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.timeline.band_layout import SECTION_PX, TURN_PX, Bands
from gradstudio.ui.timeline.tick_arrays import BACKWARD, NOT_FINITE, Cells, TickArrays
from gradstudio.ui.timeline.time_scale import TAIL_PX, Scale

if TYPE_CHECKING:
    from gradstudio.ui.timeline.pixel_columns import Run
    from gradstudio.ui.timeline.section_labels import Label

SINGLE_PX = 4.0
NAMED_PX = 15.0
ARROW_PX = 30.0
SIGNED_PX = 9.0
"""From this width on a cell is drawn alone; has a name; an arrow before it; a sign that something is wrong."""
SMALL_PX, READABLE_PX = 10, 8.0
DOT_PX = 12.0
"""The dot of a breakpoint takes so much beside a name."""
GAP_PX, RADIUS_PX = 1.0, 3.0
PLAIN, PALE = 0.52, 0.2
"""How much of its colour a cell has that is not lit; that is of a backward that is not shown."""


class Picture(NamedTuple):
    """Everything that is drawn and stands still.

    Attributes:
        lit: numbers of nodes whose cells are bright; `hits` cells where a breakpoint was met.
        name: what stands in a cell. `failed`: what failed behind the last cell; "" when nothing did.
        alone: the backward that is shown alone, those of others are pale; None: all.
    """

    recording: TickArrays
    cells: Cells
    scale: Scale
    bands: Bands
    width_px: float
    lit: tuple[int, ...]
    hits: tuple[int, ...]
    name: Callable[[int], str]
    failed: str
    alone: int | None = None


class Painter:
    """The colours and fonts of a theme, made ready."""

    def __init__(self, theme: Theme) -> None:
        """Mix the colours once."""
        self.theme = theme
        surface = theme.color("surface")
        self._full = (theme.color("forward"), theme.color("backward"))
        self._plain = tuple(mix_colors(color, surface, PLAIN) for color in self._full)
        self._pale = mix_colors(self._full[1], surface, PALE)
        self._font = ui_font(SMALL_PX)
        self._metrics = QFontMetricsF(self._font)

    def paint(self, painter: QPainter, picture: Picture) -> None:
        """The bands: titles, brackets, cells, marks."""
        theme, bands = self.theme, picture.bands
        painter.setFont(self._font)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRectF(0, bands.axis - 0.5, picture.width_px, 1), theme.color("line"))
        self._paint_labels(painter, picture)
        if picture.scale.cell_px >= SINGLE_PX:
            self._paint_cells(painter, picture)
        else:
            self._paint_columns(painter, picture)
            self._paint_hits(painter, picture)
        if picture.failed:
            self._paint_failure(painter, picture)

    def paint_moment(
        self, painter: QPainter, picture: Picture, at: float | None, cell: int | None, hovered: tuple[int, ...]
    ) -> None:
        """The playhead behind `at` cells (None: now), the cell looked at, cells of the node that is hovered."""
        bands, scale, theme = picture.bands, picture.scale, self.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_hovered(painter, picture, hovered)
        end = scale.x(len(picture.cells))
        if at is None:
            self._paint_now(painter, end, picture)
            return
        x = scale.x(at)
        veil = theme.color("past")
        veil.setAlpha(165)
        painter.fillRect(QRectF(x, SECTION_PX, max(picture.width_px - x, 0), bands.bottom - SECTION_PX + 1), veil)
        painter.setFont(self._font)
        painter.setPen(theme.color("text_dim"))
        self._say_now(painter, end, picture)
        if cell is not None and scale.cell_px >= SINGLE_PX:
            self._paint_cell(painter, picture, cell, True)
            painter.setPen(QPen(theme.color("text"), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self._rect(picture, cell).adjusted(-0.5, -0.5, 0.5, 0.5), RADIUS_PX, RADIUS_PX)
        self._paint_head(painter, x, bands, theme.color("text"))

    # ------------------------------------------------------------------ inner workings

    def _paint_now(self, painter: QPainter, x: float, picture: Picture) -> None:
        color = self.theme.color("accent")
        self._paint_head(painter, x + 2, picture.bands, color)
        painter.setFont(self._font)
        painter.setPen(color)
        self._say_now(painter, x, picture)

    def _say_now(self, painter: QPainter, x: float, picture: Picture) -> None:
        """The word behind the last cell; under the box of what failed."""
        bands = picture.bands
        y = bands.backward + bands.lane / 2 + 5 if picture.failed else bands.axis + 4
        painter.drawText(QPointF(x + 8, y), "now")

    def _paint_head(self, painter: QPainter, x: float, bands: Bands, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        top = bands.forward - 9
        painter.drawPolygon(QPolygonF((QPointF(x - 5, top), QPointF(x + 5, top), QPointF(x, top + 6))))
        painter.drawRect(QRectF(x - 0.75, top + 3, 1.5, bands.bottom - top - 2))

    def _paint_hovered(self, painter: QPainter, picture: Picture, hovered: tuple[int, ...]) -> None:
        from gradstudio.ui.timeline.pixel_columns import cells_in_view, merge_columns

        if not hovered:
            return
        color = self.theme.color("text")
        if picture.scale.cell_px >= SINGLE_PX:
            first, last = cells_in_view(picture.cells, picture.scale, picture.width_px)
            painter.setPen(QPen(color, 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            codes = picture.cells.codes
            for cell in (cell for cell in range(first, last) if int(codes[cell]) in hovered):
                painter.drawRoundedRect(self._rect(picture, cell), RADIUS_PX, RADIUS_PX)
            return
        columns = merge_columns(picture.cells, picture.scale, picture.width_px, hovered)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        bands = picture.bands
        painter.drawRects([QRectF(x, bands.forward - 2, max(width, 2), 2) for x, width, _ in columns.lit_forward])
        painter.drawRects([QRectF(x, bands.bottom, max(width, 2), 2) for x, width, _ in columns.lit_backward])

    def _rect(self, picture: Picture, cell: int) -> QRectF:
        bands, scale = picture.bands, picture.scale
        top = bands.backward if picture.cells.marks[cell] & BACKWARD else bands.forward
        gap = GAP_PX if scale.cell_px < 12 else 2 * GAP_PX
        return QRectF(scale.x(cell) + gap / 2, top, scale.cell_px - gap, bands.lane)

    def _paint_cells(self, painter: QPainter, picture: Picture) -> None:
        """Every cell alone, with its name where there is room."""
        from gradstudio.ui.timeline.pixel_columns import cells_in_view

        first, last = cells_in_view(picture.cells, picture.scale, picture.width_px)
        lit = frozenset(picture.lit)
        for cell in range(first, last):
            self._paint_cell(painter, picture, cell, int(picture.cells.codes[cell]) in lit)

    def _paint_cell(self, painter: QPainter, picture: Picture, cell: int, bright: bool) -> None:
        marks = int(picture.cells.marks[cell])
        way = marks & BACKWARD
        pale = bool(way) and picture.alone is not None and not self._is_of(picture, cell, picture.alone)
        if marks & NOT_FINITE:
            fill, ink = self.theme.color("danger"), self.theme.color("accent_text")
        elif pale:
            fill, ink = self._pale, self.theme.color("text_dim")
        elif bright:
            fill, ink = self._full[way], self.theme.color("accent_text")
        else:
            fill, ink = self._plain[way], self.theme.color("text")
        rect = self._rect(picture, cell)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        radius = min(RADIUS_PX, rect.width() / 3)
        painter.drawRoundedRect(rect, radius, radius)
        if cell not in picture.hits:
            self._paint_text(painter, picture, cell, rect, ink)
        elif rect.width() >= NAMED_PX + DOT_PX:  # the name gives way
            self._paint_hit(painter, QPointF(rect.left() + DOT_PX / 2, rect.center().y()))
            self._paint_text(painter, picture, cell, rect.adjusted(DOT_PX - 2, 0, 0, 0), ink)
        else:
            self._paint_text(painter, picture, cell, rect, ink)
            self._paint_hit(painter, QPointF(rect.center().x(), picture.bands.axis))

    def _is_of(self, picture: Picture, cell: int, backward: int) -> bool:
        section = picture.recording.section_of(int(picture.cells.starts[cell]))
        return section is not None and section.backward == backward

    def _paint_text(self, painter: QPainter, picture: Picture, cell: int, rect: QRectF, ink: QColor) -> None:
        """The name, behind an arrow in a backward and a sign where something is not finite."""
        marks = int(picture.cells.marks[cell])
        sign = "!" if marks & NOT_FINITE else ""
        text = sign
        if rect.width() >= NAMED_PX:
            arrow = "◂ " if marks & BACKWARD and rect.width() >= ARROW_PX else ""
            text = (
                fitting_name(self._metrics, f"{arrow}{sign}{' ' if sign else ''}{picture.name(cell)}", rect.width())
                or sign
            )
        if text and rect.width() >= SIGNED_PX and rect.height() >= READABLE_PX:
            painter.setPen(ink)
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_columns(self, painter: QPainter, picture: Picture) -> None:
        """Cells too narrow to tell apart, as columns."""
        from gradstudio.ui.timeline.pixel_columns import merge_columns

        columns, bands = merge_columns(picture.cells, picture.scale, picture.width_px, picture.lit), picture.bands
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        danger = self.theme.color("danger")
        for color, up, down in (
            (None, columns.forward, columns.backward),
            (self._full, columns.lit_forward, columns.lit_backward),
            ((danger, danger), columns.odd_forward, columns.odd_backward),
        ):
            colors = color or self._plain
            painter.setBrush(colors[0])
            painter.drawRects([_above(run, bands) for run in up])
            painter.setBrush(colors[1])
            painter.drawRects([_below(run, bands) for run in down])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_signs(painter, columns.odd_forward, bands.forward - 1)
        self._paint_signs(painter, columns.odd_backward, bands.forward - 1)

    def _paint_signs(self, painter: QPainter, runs: "Iterable[Run]", bottom: float) -> None:
        """A "!" over what is not finite, where there is room between two of them."""
        painter.setPen(self.theme.color("danger"))
        before = -20.0
        for x, width, _ in runs:
            if x - before >= 12:
                painter.drawText(QPointF(x + width / 2 - 1.5, bottom), "!")
                before = x

    def _paint_hits(self, painter: QPainter, picture: Picture) -> None:
        """A dot on the axis where a breakpoint was met."""
        from gradstudio.ui.timeline.pixel_columns import cells_in_view

        first, last = cells_in_view(picture.cells, picture.scale, picture.width_px)
        places = {
            round(picture.scale.x(cell) + picture.scale.cell_px / 2) for cell in picture.hits if first <= cell < last
        }
        for x in places:
            self._paint_hit(painter, QPointF(x, picture.bands.axis))

    def _paint_hit(self, painter: QPainter, at: QPointF) -> None:
        painter.setPen(QPen(self.theme.color("surface"), 1.4))
        painter.setBrush(self.theme.color("danger"))
        painter.drawEllipse(at, 4.0, 4.0)

    def _paint_failure(self, painter: QPainter, picture: Picture) -> None:
        """Behind the last cell: what did not come about."""
        x, bands = picture.scale.x(len(picture.cells)), picture.bands
        painter.setPen(QPen(self.theme.color("danger"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        rect = QRectF(x + 6, bands.forward, TAIL_PX - 10, bands.lane)
        painter.drawRoundedRect(rect, RADIUS_PX, RADIUS_PX)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "✕")

    def _paint_labels(self, painter: QPainter, picture: Picture) -> None:
        """Passes and backwards on top, turns of loops as brackets under them."""
        from gradstudio.ui.timeline.section_labels import section_labels, turn_labels

        theme = self.theme
        recording = picture.recording
        cells = picture.cells
        scale = picture.scale
        width = picture.width_px
        for label in section_labels(recording, cells, scale, width):
            color = self._full[1] if label.backward else theme.color("text_dim")
            painter.fillRect(QRectF(label.x, SECTION_PX - 2.5, label.width - 1, 1.5), color)
            self._paint_label(painter, label, 0.0, SECTION_PX - 3, color)
        for depth, top in enumerate(picture.bands.turns):
            for label in turn_labels(recording, cells, scale, width, depth):
                color = theme.color("text_dim")
                painter.setPen(QPen(color, 1.0))
                left, right, low = label.x + 0.5, label.x + label.width - 1.5, top + TURN_PX - 1
                painter.drawPolyline(
                    QPolygonF(
                        (QPointF(left, low), QPointF(left, low - 3), QPointF(right, low - 3), QPointF(right, low))
                    )
                )
                self._paint_label(painter, label, top - 2, TURN_PX - 2, color)

    def _paint_label(self, painter: QPainter, label: "Label", top: float, height: float, color: QColor) -> None:
        for text in label.texts:
            room = label.width - (3 if text == label.texts[-1] else 12)
            if self._metrics.horizontalAdvance(text) <= room:
                painter.setPen(color)
                painter.drawText(QRectF(label.x + 1, top, label.width, height), Qt.AlignmentFlag.AlignVCenter, text)
                return


def _above(run: "Run", bands: Bands) -> QRectF:
    x, width, share = run
    return QRectF(x, bands.forward + bands.lane * (1 - share), width, bands.lane * share)


def _below(run: "Run", bands: Bands) -> QRectF:
    x, width, share = run
    return QRectF(x, bands.backward, width, bands.lane * share)


def mix_colors(one: QColor, other: QColor, share: float) -> QColor:
    """So much of one colour, the rest of the other."""
    rest = 1 - share
    return QColor(
        round(one.red() * share + other.red() * rest),
        round(one.green() * share + other.green() * rest),
        round(one.blue() * share + other.blue() * rest),
    )


def fitting_name(metrics: QFontMetricsF, text: str, width: float) -> str:
    """As much of a name as a cell has room for; "" where that is no letter.

    ``W_q`` stands up to the edges, and is ``Wq``, before it is cut, and such names are cut in the middle: those
    beside it begin as it does.
    """
    if "_" in text and metrics.horizontalAdvance(text) <= width - 2:
        return text
    room = width - (6 if width >= ARROW_PX else 2)
    for wording in (text, text.replace("_", "")):
        if metrics.horizontalAdvance(wording) <= room:
            return wording
    side = Qt.TextElideMode.ElideMiddle if "_" in text else Qt.TextElideMode.ElideRight
    shortened = metrics.elidedText(text, side, room)
    return shortened if shortened.strip("…◂ ") else ""
