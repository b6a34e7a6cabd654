"""Pictures of the canvas as its overlays show it: for the clipboard, for a file, and small for a preview."""

from pathlib import Path
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from gradstudio.graph.model import ItemId
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.dialogs.picture_dialog import PictureChoice
from gradstudio.ui.pictures.picture_formats import Style, format_of
from gradstudio.ui.pictures.picture_request import PictureRequest, Subject
from gradstudio.ui.theme import Theme, theme

USUAL = PictureChoice()
FORMULAS: Final = Shown(
    values=False, shapes=False, dtype_device=False, grad_fn=False, gradients=False, wire_gradients=False
)
"""Of a run nothing."""


def selected_items(context: Context) -> frozenset[ItemId]:
    """What is selected of the program that a picture shows."""
    graph = context.session.graph_store.graph
    return frozenset(item for item in context.session.attention.selection if item in graph)


def canvas_picture(context: Context, choice: PictureChoice = USUAL) -> QImage:
    """The canvas, or what is chosen of it."""
    from gradstudio.ui.pictures.picture_files import picture_image

    return picture_image(_subject(context, choice), _request(context, choice, choice.scale))


def preview(context: Context, choice: PictureChoice, room: QSize) -> tuple[QImage, QSize]:
    """A picture that fits the room, and the size in pixels of the one that would be written."""
    from gradstudio.ui.pictures.picture_files import image_size, picture_image

    subject = _subject(context, choice)
    whole = image_size(subject, _request(context, choice, 1.0))
    scale = min(1.0, room.width() / whole.width(), room.height() / whole.height())
    image = picture_image(subject, _request(context, choice, scale))
    return image, image_size(subject, _request(context, choice, choice.scale))


def save_canvas_picture(context: Context, path: Path, choice: PictureChoice = USUAL) -> str:
    """Write the canvas in the format of the file's name; a PNG holds the whole document, whatever it shows.

    A format that is written in another style alone is written in that.

    Returns:
        What a person has to know of the picture; "" for nothing.

    Raises:
        PictureRefused: it cannot be made so.
        OSError: the file cannot be written.
    """
    from gradstudio.ui.pictures.picture_files import write_picture

    row = format_of(path)
    if row is not None and choice.style not in row.styles:
        choice = choice._replace(style=row.styles[0])
    return write_picture(_subject(context, choice), _request(context, choice, choice.scale), path)


def _subject(context: Context, choice: PictureChoice) -> Subject:
    session = context.session
    items = selected_items(context) if choice.selection else frozenset()
    view = context.canvas.bookmark_commands.kept_view()
    return Subject(session.graph_store.graph, session.results, items or None, view, session.subject)


def _request(context: Context, choice: PictureChoice, scale: float) -> PictureRequest:
    is_bare = choice.formulas and choice.style == "paper"
    shown = FORMULAS if is_bare else context.overlays.shown
    return PictureRequest(
        choice.style, _theme(context, choice.style, choice.theme), scale, shown, not choice.transparent
    )


def _theme(context: Context, style: Style, name: str) -> Theme:
    """The chosen one; else that of the window, and white for a paper."""
    match name:
        case "light" | "dark":
            return theme("light" if name == "light" else "dark")
        case _ if style == "paper":
            return theme("light")
        case _:
            return context.canvas.canvas_style.theme
