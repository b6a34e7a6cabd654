"""Writes a picture in any of the formats: cards by the canvas's painters, figures by those of `scene.figure`."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.fragments import copy_items
from gradstudio.scene.figure.drawing import Drawing
from gradstudio.scene.figure.figure_style import FigureStyle
from gradstudio.scene.figure.page_writer import page_text
from gradstudio.scene.figure.svg_writer import svg_text
from gradstudio.scene.figure.tikz_writer import tikz_text
from gradstudio.ui.canvas.paint.picture_export import (
    MAXIMUM_SIDE,
    picture_size,
    png_of,
    render_picture,
    replace_file,
    save_picture,
    with_document,
)
from gradstudio.ui.pictures.errors import PictureRefused
from gradstudio.ui.pictures.figure_painter import paint_figure
from gradstudio.ui.pictures.figures import Stepping, stepping_figures, still_figure, style_of
from gradstudio.ui.pictures.film import gif_film, mp4_film
from gradstudio.ui.pictures.picture_formats import format_of, suffix_words
from gradstudio.ui.pictures.picture_request import PictureRequest, Subject

POINTS_PER_INCH: Final = 72
FILM_SCALE: Final = 2.0
PAPER_SCALE: Final = 2.0
"""A figure's points are smaller than the canvas's pixels: so many picture pixels more at the same scale."""


class Made(NamedTuple):
    """A picture as a file holds it, and what a person has to know of it; "" for nothing."""

    data: bytes
    note: str = ""


def write_picture(subject: Subject, request: PictureRequest, path: Path) -> str:
    """Write a picture in the format that the file's name says.

    Returns:
        What a person has to know of it, such as what is left out; else "".

    Raises:
        PictureRefused: it cannot be made so; with what can.
        OSError: the file cannot be written.
    """
    row = format_of(path)
    if row is None:
        raise PictureRefused(f"'{path}' cannot be written as a picture; use a name that ends in {suffix_words()}")
    if request.style not in row.styles:
        raise PictureRefused(f"a {row.suffix} is drawn in the style {row.styles[0]}, not {request.style}")
    if request.style == "window":
        return save_picture(
            subject.graph, subject.results, request.theme, path, request.scale, request.shown, subject.view,
            drawn=_drawn(subject), ground=request.is_filled,
        )  # fmt: skip
    made = _FIGURES[row.suffix](subject, request)
    replace_file(path, made.data)
    return made.note


def picture_image(subject: Subject, request: PictureRequest) -> QImage:
    """The picture as pixels: for the clipboard, a preview, a PNG."""
    if request.style == "window":
        return render_picture(
            _drawn(subject), subject.results, request.theme, request.scale, request.shown, ground=request.is_filled
        )
    drawing = still_figure(subject, request)
    size, scale = _figure_size(drawing, request)
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.scale(scale, scale)
    paint_figure(painter, drawing, style_of(request))
    painter.end()
    return image


def image_size(subject: Subject, request: PictureRequest) -> QSize:
    """How large `picture_image` makes it, pixels."""
    if request.style == "window":
        return picture_size(_drawn(subject), subject.results, request.theme, request.scale, request.shown)
    return _figure_size(still_figure(subject, request), request)[0]


def _drawn(subject: Subject) -> Graph:
    """The part of the document that is seen, with whole cards."""
    if subject.only is None:
        return subject.graph
    return copy_items(subject.graph, card_groups(subject.graph).whole(subject.only))


def _figure_size(drawing: Drawing, request: PictureRequest) -> tuple[QSize, float]:
    scale = min(request.scale * PAPER_SCALE, MAXIMUM_SIDE / max(drawing.width, drawing.height))
    return QSize(round(drawing.width * scale), round(drawing.height * scale)), scale


def _png(subject: Subject, request: PictureRequest) -> Made:
    return Made(*with_document(png_of(picture_image(subject, request)), subject.graph, subject.view))


def _svg(subject: Subject, request: PictureRequest) -> Made:
    return Made(svg_text(still_figure(subject, request), style_of(request), subject.title).encode())


def _tikz(subject: Subject, request: PictureRequest) -> Made:
    return Made(tikz_text(still_figure(subject, request), style_of(request), subject.title).encode())


def _pdf(subject: Subject, request: PictureRequest) -> Made:
    return Made(_page(still_figure(subject, request), style_of(request), subject.title))


def _html(subject: Subject, request: PictureRequest) -> Made:
    stepping = stepping_figures(subject, request)
    note = _left_out(stepping)
    return Made(page_text(stepping.drawings, stepping.captions, subject.title or "GradStudio", note).encode(), note)


def _gif(subject: Subject, request: PictureRequest) -> Made:
    stepping = stepping_figures(subject, request)
    return Made(gif_film(stepping, style_of(request), FILM_SCALE), _left_out(stepping))


def _mp4(subject: Subject, request: PictureRequest) -> Made:
    stepping = stepping_figures(subject, request)
    return Made(mp4_film(stepping, style_of(request), FILM_SCALE), _left_out(stepping))


_FIGURES: Final[dict[str, Callable[[Subject, PictureRequest], Made]]] = {
    ".png": _png,
    ".svg": _svg,
    ".pdf": _pdf,
    ".tex": _tikz,
    ".html": _html,
    ".gif": _gif,
    ".mp4": _mp4,
}


def _left_out(stepping: Stepping) -> str:
    steps = len(stepping.drawings)
    return f"It holds the first {steps:,} of {steps + stepping.left_out:,} steps." if stepping.left_out else ""


def _page(drawing: Drawing, style: FigureStyle, title: str) -> bytes:
    """A page as large as the figure, its letters in fonts that travel with it."""
    data = QBuffer()
    data.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(data)
    writer.setTitle(title or "GradStudio")
    writer.setCreator("GradStudio")
    writer.setPageMargins(QMarginsF())
    writer.setPageSize(
        QPageSize(QSizeF(drawing.width, drawing.height), QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    )
    painter = QPainter(writer)
    scale = writer.resolution() / POINTS_PER_INCH
    painter.scale(scale, scale)
    paint_figure(painter, drawing, style)
    painter.end()
    return bytes(data.data().data())
