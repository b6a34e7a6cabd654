"""Cards seen from afar: coloured plates, with a title, a number or a picture where there is room.

Few plates are drawn one by one; thousands in batches, with one tint a card for what it computed.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.records import PlainRecord, Summary, TensorRecord
from gradstudio.ui.canvas import formatting, heat
from gradstudio.ui.canvas.batches import draw_rects
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.face import HEADER
from gradstudio.ui.canvas.geometry import Floats
from gradstudio.ui.canvas.look import Look

DISTANT: Final = 0.5
"""Below this scale cards are plates."""
LEGIBLE_WIDTH: Final = 30.0
"""A plate at least so many view pixels wide gets its title."""
TITLE_HEIGHT: Final = 15.0
LINE: Final = 13.0
FEW: Final = 150
"""So many plates are drawn with titles and values."""
TINT: Final = 0.55
Align = Qt.AlignmentFlag


def paint_plates(painter: QPainter, look: Look, board: Board, camera: Camera, which: NDArray[np.intp]) -> None:
    """The cards `which` as plates."""
    rects = _view_rects(board, camera, which)
    heads = np.minimum(rects[:, 3], np.maximum(HEADER * camera.zoom, TITLE_HEIGHT if len(which) <= FEW else 3.0))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.color("card_edge"))
    draw_rects(painter, rects + np.array([-1.0, -1.0, 2.0, 2.0]))
    painter.setBrush(look.color("card_well"))
    draw_rects(painter, rects)
    if len(which) > FEW:
        _paint_tints(painter, look, board, which, rects)
    _paint_headers(painter, look, board, which, rects, heads)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    if len(which) <= FEW:
        for k, rect, head in zip(which.tolist(), rects.tolist(), heads.tolist(), strict=True):
            if rect[2] >= LEGIBLE_WIDTH:
                _paint_inside(painter, look, board, board.ids[k], QRectF(*rect), head)


def _view_rects(board: Board, camera: Camera, which: NDArray[np.intp]) -> Floats:
    bounds = board.bounds[which]
    rects = np.empty((len(which), 4))
    rects[:, :2] = np.round((bounds[:, :2] - (camera.x, camera.y)) * camera.zoom)
    rects[:, 2:] = np.maximum(np.round((bounds[:, 2:] - bounds[:, :2]) * camera.zoom), 2.0)
    return rects


def _paint_headers(
    painter: QPainter, look: Look, board: Board, which: NDArray[np.intp], rects: Floats, heights: Floats
) -> None:
    groups: dict[str, list[int]] = {}
    for row, k in enumerate(which.tolist()):
        item = board.ids[k]
        failed = board.results.failure(item) is not None
        groups.setdefault("!" if failed else board.cards[item].face.category, []).append(row)
    heads = rects.copy()
    heads[:, 3] = heights
    for category, rows in groups.items():
        painter.setBrush(look.color("danger") if category == "!" else look.theme.category_color(category))
        draw_rects(painter, heads[rows])


def _paint_tints(painter: QPainter, look: Look, board: Board, which: NDArray[np.intp], rects: Floats) -> None:
    """One colour a card for what it computed, where values are shown."""
    if not board.shown.values:
        return
    groups: dict[int, list[int]] = {}
    for row, k in enumerate(which.tolist()):
        summary = _summary(board, board.ids[k])
        if summary is not None:
            groups.setdefault(heat.tint(summary, look.theme).rgb(), []).append(row)
    for rgb, rows in groups.items():
        color = QColor.fromRgb(rgb)
        color.setAlphaF(TINT)
        painter.setBrush(color)
        draw_rects(painter, rects[rows])


def _summary(board: Board, item: ItemId) -> Summary | None:
    records = board.results.outputs(item)
    return records[0].summary if records and isinstance(records[0], TensorRecord) else None


def _paint_inside(painter: QPainter, look: Look, board: Board, item: ItemId, rect: QRectF, head: float) -> None:
    face = board.cards[item].face
    painter.setFont(look.meter.font("plate"))
    painter.setPen(look.color("header_text"))
    title = look.meter.elided(face.names or face.title, "plate", rect.width() - 6)
    painter.drawText(QRectF(rect.x() + 4, rect.y(), rect.width() - 6, head), Align.AlignVCenter, title)
    body = rect.adjusted(4, head + 3, -4, -4)
    records = board.results.outputs(item)
    if body.height() < LINE or not records:
        return
    if board.results.stale(item):
        painter.setOpacity(0.45)
    record = records[0]
    if isinstance(record, TensorRecord):
        _paint_tensor(painter, look, board, record.summary, body)
    elif isinstance(record, PlainRecord) and board.shown.values:
        _line(painter, look, formatting.plain(record), "text", body, 0)
    painter.setOpacity(1.0)
    _paint_gradient(painter, look, board, item, body)


def _paint_tensor(painter: QPainter, look: Look, board: Board, summary: Summary, body: QRectF) -> None:
    """The number, or the shape above a picture."""
    scalar = summary.shape == ()
    if scalar and board.shown.values:
        _line(painter, look, formatting.number(summary.value), "text", body, 0)
        return
    rows = _written_out(look, board, summary, body)
    if rows:
        for number, text in enumerate(rows):
            _line(painter, look, text, "text", body, number)
        return
    if board.shown.shapes:
        _line(painter, look, formatting.shape(summary.shape), "text_dim", body, 0)
    picture = heat.image(summary, look.theme) if board.shown.values else None
    room = body.adjusted(0, LINE + 1, 0, -LINE - 1)
    if picture is None or room.height() < 6:
        return
    ratio = max(0.5, min(4.0, picture.width() / picture.height()))
    height = min(room.height(), room.width() / ratio)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(QRectF(room.x(), room.y(), height * ratio, height), picture)


def _written_out(look: Look, board: Board, summary: Summary, body: QRectF) -> list[str]:
    """The numbers of a small tensor as lines; [] when they do not fit."""
    if not board.shown.values or summary.value is None or not formatting.is_written_out(summary.shape):
        return []
    rows = ["  ".join(row) for row in formatting.grid(summary)]
    fits = len(rows) * LINE <= body.height() and max(look.meter.width(row, "mono") for row in rows) <= body.width()
    return rows if fits else []


def _paint_gradient(painter: QPainter, look: Look, board: Board, item: ItemId, body: QRectF) -> None:
    row = board.results.grad(item, 0)
    if row is None or row.grad is None or not board.shown.gradients or body.height() < 2 * LINE:
        return
    value = formatting.number(row.grad.value) if row.grad.shape == () else formatting.norm(row.grad)
    painter.setPen(look.gradient)
    last = QRectF(body.x(), body.bottom() - LINE, body.width(), LINE)
    painter.setFont(look.meter.font("mono"))
    painter.drawText(last, Align.AlignVCenter, look.meter.elided(f"∇ {value}", "mono", body.width()))


def _line(painter: QPainter, look: Look, text: str, role: str, body: QRectF, number: int) -> None:
    painter.setFont(look.meter.font("mono"))
    painter.setPen(look.color(role))
    line = QRectF(body.x(), body.y() + LINE * number, body.width(), LINE)
    painter.drawText(line, Align.AlignVCenter, look.meter.elided(text, "mono", body.width()))
