"""Cards seen from afar: coloured plates in batches, titles where they can be read, a tint for values."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.records import TensorRecord
from gradstudio.ui.canvas import heat
from gradstudio.ui.canvas.batches import draw_rects
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.face import HEADER
from gradstudio.ui.canvas.geometry import Floats
from gradstudio.ui.canvas.look import Look

LEGIBLE_WIDTH: Final = 34.0
"""A plate at least so many view pixels wide gets its title."""
TITLE_SIZE: Final = 10
MAXIMUM_TITLES: Final = 400


def paint_plates(painter: QPainter, look: Look, board: Board, camera: Camera, which: NDArray[np.intp]) -> None:
    """The cards `which` as plates: body, header in the category's colour, tint, title."""
    rects = _view_rects(board, camera, which)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    _draw_rects(painter, look.color("card"), rects)
    _paint_headers(painter, look, board, camera, which, rects)
    _paint_tints(painter, look, board, camera, which, rects)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    if rects[:, 2].max() >= LEGIBLE_WIDTH and len(which) <= MAXIMUM_TITLES:
        _paint_titles(painter, look, board, which, rects)


def _view_rects(board: Board, camera: Camera, which: NDArray[np.intp]) -> Floats:
    bounds = board.bounds[which]
    rects = np.empty((len(which), 4))
    rects[:, :2] = (bounds[:, :2] - (camera.x, camera.y)) * camera.zoom
    rects[:, 2:] = np.maximum((bounds[:, 2:] - bounds[:, :2]) * camera.zoom, 2.0)
    return rects


def _draw_rects(painter: QPainter, color: QColor, rects: Floats) -> None:
    if len(rects):
        painter.setBrush(color)
        draw_rects(painter, rects)


def _paint_headers(
    painter: QPainter, look: Look, board: Board, camera: Camera, which: NDArray[np.intp], rects: Floats
) -> None:
    groups: dict[str, list[int]] = {}
    for row, k in enumerate(which.tolist()):
        item = board.ids[k]
        groups.setdefault("" if _has_failed(board, item) else board.cards[item].face.category, []).append(row)
        if _has_failed(board, item):
            groups.setdefault("!", []).append(row)
    heads = rects.copy()
    heads[:, 3] = np.minimum(heads[:, 3], np.maximum(HEADER * camera.zoom * 1.5, 3.0))
    for category, rows in groups.items():
        color = look.color("danger") if category == "!" else look.theme.category_color(category)
        _draw_rects(painter, color, heads[rows])


def _has_failed(board: Board, item: ItemId) -> bool:
    return board.results.failure(item) is not None


def _paint_tints(
    painter: QPainter, look: Look, board: Board, camera: Camera, which: NDArray[np.intp], rects: Floats
) -> None:
    """One colour a card for what it computed, where values are shown."""
    if not board.shown.values:
        return
    groups: dict[int, list[int]] = {}
    for row, k in enumerate(which.tolist()):
        records = board.results.outputs(board.ids[k])
        if records and isinstance(records[0], TensorRecord):
            groups.setdefault(heat.tint(records[0].summary, look.theme).rgb(), []).append(row)
    inset = np.minimum(rects[:, 2:] * 0.08, 4.0)
    plates = rects.copy()
    head = np.minimum(plates[:, 3], np.maximum(HEADER * camera.zoom * 1.5, 3.0))
    plates[:, 0] += inset[:, 0]
    plates[:, 1] += head + inset[:, 1]
    plates[:, 2] -= 2 * inset[:, 0]
    plates[:, 3] = np.maximum(plates[:, 3] - head - 2 * inset[:, 1], 0.0)
    for rgb, rows in groups.items():
        _draw_rects(painter, QColor.fromRgb(rgb), plates[rows])


def _paint_titles(painter: QPainter, look: Look, board: Board, which: NDArray[np.intp], rects: Floats) -> None:
    font = look.meter.font("badge")
    painter.setFont(font)
    painter.setPen(look.color("header_text"))
    for k, (x, y, width, height) in zip(which.tolist(), rects.tolist(), strict=True):
        face = board.cards[board.ids[k]].face
        text = look.meter.elided(face.names or face.title, "badge", width - 4)
        if len(text) > 1 or width > LEGIBLE_WIDTH:
            painter.drawText(QRectF(x + 3, y, width - 4, min(height, 14.0)), Qt.AlignmentFlag.AlignVCenter, text)
