"""Cards seen from afar are plates: few are drawn one by one, thousands in batches with one tint a card."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.records import Summary, TensorRecord
from gradstudio.ui.canvas import heat
from gradstudio.ui.canvas.batches import draw_rects
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.camera import Camera
from gradstudio.ui.canvas.face import HEADER
from gradstudio.ui.canvas.geometry import Floats
from gradstudio.ui.canvas.heads import color_of
from gradstudio.ui.canvas.look import Look
from gradstudio.ui.canvas.plate_painter import paint_plate

DISTANT: Final = 0.62
"""Below this scale cards are plates."""
FEW: Final = 150
"""So many plates are drawn with titles, values and ports."""
TINT: Final = 0.55


def paint_plates(painter: QPainter, look: Look, board: Board, camera: Camera, which: NDArray[np.intp]) -> None:
    """The cards `which` as plates."""
    rects = _view_rects(board, camera, which)
    painter.setPen(Qt.PenStyle.NoPen)
    if len(which) <= FEW:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for k, rect in zip(which.tolist(), rects.tolist(), strict=True):
            paint_plate(painter, look, board, board.ids[k], QRectF(*rect), camera.zoom)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setBrush(look.color("card_edge"))
    draw_rects(painter, rects + np.array([-1.0, -1.0, 2.0, 2.0]))
    painter.setBrush(look.color("card_well"))
    draw_rects(painter, rects)
    _paint_tints(painter, look, board, which, rects)
    _paint_headers(painter, look, board, which, rects, np.maximum(HEADER * camera.zoom, 3.0))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)


def _view_rects(board: Board, camera: Camera, which: NDArray[np.intp]) -> Floats:
    bounds = board.bounds[which]
    rects = np.empty((len(which), 4))
    rects[:, :2] = np.round((bounds[:, :2] - (camera.x, camera.y)) * camera.zoom)
    rects[:, 2:] = np.maximum(np.round((bounds[:, 2:] - bounds[:, :2]) * camera.zoom), 2.0)
    return rects


def _paint_headers(
    painter: QPainter, look: Look, board: Board, which: NDArray[np.intp], rects: Floats, height: float
) -> None:
    groups: dict[int, list[int]] = {}
    for row, k in enumerate(which.tolist()):
        groups.setdefault(_header_color(look, board, board.ids[k]).rgb(), []).append(row)
    heads = rects.copy()
    heads[:, 3] = np.minimum(heads[:, 3], height)
    for rgb, rows in groups.items():
        painter.setBrush(QColor.fromRgb(rgb))
        draw_rects(painter, heads[rows])


def _header_color(look: Look, board: Board, item: ItemId) -> QColor:
    if board.results.failure(item) is not None:
        return look.color("danger")
    if board.colouring is not None:
        return color_of(board.colouring, look, item)
    return look.category(board.cards[item].face.category)


def _paint_tints(painter: QPainter, look: Look, board: Board, which: NDArray[np.intp], rects: Floats) -> None:
    """One colour a card for the figure it is coloured by, or for what it computed, where values are shown."""
    if not board.shown.values and board.colouring is None:
        return
    groups: dict[int, list[int]] = {}
    for row, k in enumerate(which.tolist()):
        color = _tint(look, board, board.ids[k])
        if color is not None:
            groups.setdefault(color.rgb(), []).append(row)
    for rgb, rows in groups.items():
        color = QColor.fromRgb(rgb)
        color.setAlphaF(TINT)
        painter.setBrush(color)
        draw_rects(painter, rects[rows])


def _tint(look: Look, board: Board, item: ItemId) -> QColor | None:
    if board.colouring is not None:
        return color_of(board.colouring, look, item) if item in board.colouring.figures else None
    summary = _summary(board, item)
    return heat.tint(summary, look.theme) if summary is not None else None


def _summary(board: Board, item: ItemId) -> Summary | None:
    records = board.results.outputs(item)
    return records[0].summary if records and isinstance(records[0], TensorRecord) else None
