"""Pictures of the canvas as its overlays show it: for the clipboard, for a file, and small for a preview."""

from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.fragments import copy_items
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.dialogs.picture_dialog import PictureChoice
from gradstudio.ui.theme import Theme, theme

USUAL = PictureChoice()


def selected_items(context: Context) -> frozenset[ItemId]:
    """What is selected of the program that a picture shows."""
    graph = context.session.graph_store.graph
    return frozenset(item for item in context.session.attention.selection if item in graph)


def canvas_picture(context: Context) -> QImage:
    """Everything on the canvas."""
    from gradstudio.ui.canvas.paint.picture_export import render_picture

    graph, session = _drawn(context, USUAL), context.session
    return render_picture(graph, session.results, _theme(context, USUAL), USUAL.scale, context.overlays.shown)


def preview(context: Context, choice: PictureChoice, room: QSize) -> tuple[QImage, QSize]:
    """A picture that fits the room, and the size in pixels of the one that would be written."""
    from gradstudio.ui.canvas.paint.picture_export import picture_size, render_picture

    graph, results = _drawn(context, choice), context.session.results
    made, shown = _theme(context, choice), context.overlays.shown
    whole = picture_size(graph, results, made, 1.0, shown)
    scale = min(1.0, room.width() / whole.width(), room.height() / whole.height())
    image = render_picture(graph, results, made, scale, shown, ground=not choice.transparent)
    return image, picture_size(graph, results, made, choice.scale, shown)


def save_canvas_picture(context: Context, path: Path, choice: PictureChoice = USUAL) -> None:
    """Write the canvas as PNG, SVG or PDF; a PNG holds the whole document, whatever it shows.

    Raises:
        OSError: the file cannot be written.
    """
    from gradstudio.ui.canvas.paint.picture_export import save_picture

    session, view = context.session, context.canvas.bookmark_commands.kept_view()
    graph = session.graph_store.graph
    drawn, shown = _drawn(context, choice), context.overlays.shown
    save_picture(
        graph, session.results, _theme(context, choice), path, choice.scale, shown, view,
        drawn=drawn, ground=not choice.transparent,
    )  # fmt: skip


def _drawn(context: Context, choice: PictureChoice) -> Graph:
    graph = context.session.graph_store.graph
    items = selected_items(context) if choice.selection else frozenset()
    return copy_items(graph, items) if items else graph


def _theme(context: Context, choice: PictureChoice) -> Theme:
    match choice.theme:
        case "light" | "dark":
            return theme("light" if choice.theme == "light" else "dark")
        case _:
            return context.canvas.canvas_style.theme
