"""What is done with notes beside writing them: links are opened, colours chosen. Methods of the canvas."""

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox

from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.ui.canvas.things import NOTE_EDGE

if TYPE_CHECKING:
    from gradstudio.ui.canvas.board import Board
    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.state.graph_store import GraphStore


class NoteCommands:
    """Methods of `CanvasView`; what they need of it is declared here."""

    if TYPE_CHECKING:
        board: Board
        store: GraphStore

    def color_note(self, item: ItemId, color: str) -> None:
        """Give a note another colour; "" is the usual one."""
        note = self.board.notes.get(item)
        if note is not None:
            place = self.board.graph.places.get(note.key, Place(note.box.x, note.box.y))
            self.store.submit((SetPlaces({note.key: msgspec.structs.replace(place, color=color)}),), "Colour note")

    def link_at(self, item: ItemId, x: float, y: float) -> str:
        """The address of a link in a note at a scene point; "" for none."""
        note = self.board.notes.get(item)
        return note.words.link_at(x - note.box.x - NOTE_EDGE, y - note.box.y - NOTE_EDGE) if note is not None else ""


def ask_for_link(canvas: "CanvasView", url: str) -> None:
    """Show where a link leads, and open it in the browser when the person says so."""
    if not url:
        return
    box = QMessageBox(canvas)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("Open link")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText("Open this address in the browser?")
    box.setInformativeText(url)
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.button(QMessageBox.StandardButton.Open).clicked.connect(lambda: QDesktopServices.openUrl(QUrl(url)))
    box.open()
