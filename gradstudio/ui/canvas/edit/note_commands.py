"""What is done with notes beside writing them: links are opened, colours chosen. Methods of the canvas."""

import math
from typing import TYPE_CHECKING, Final

import msgspec
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.edits import Edits, SetPlaces, SetTail
from gradstudio.graph.model import ROOT, BodyId, ItemId, Place
from gradstudio.graph.names import title
from gradstudio.graph.text.notes import note_of
from gradstudio.scene import hit_test
from gradstudio.scene.geometry import Box
from gradstudio.scene.note.note_layout import NOTE_EDGE

NEAR: Final = 600.0
"""A note farther than so many scene pixels from all cards is a comment at the program's end."""

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.edit.in_place_editing import InPlace
    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.state.document.graph_store import GraphStore


class NoteCommands:
    """Methods of `CanvasView`; what they need of it is declared here."""

    if TYPE_CHECKING:
        board: Board
        store: GraphStore
        in_place: InPlace
        said: SignalInstance

        def refuse(self, words: str) -> None: ...

    def color_note(self, item: ItemId, color: str) -> None:
        """Give a note another colour; "" is the usual one."""
        note = self.board.notes.get(item)
        if note is not None:
            place = self.board.graph.places.get(note.key, Place(note.box.x, note.box.y))
            self.store.submit((SetPlaces({note.key: msgspec.structs.replace(place, color=color)}),), "Colour note")

    def add_note_at(self, x: float, y: float) -> None:
        """Write a note at a scene point; the code keeps it as a comment of what is nearest and has none."""
        item = owner_of_note(self.board, x, y)
        if item is None:
            self.refuse("Every statement here has a note already: double-click one to write more.")
            return
        self.in_place.edit_note(item, (x, y))

    def make_note(self, item: ItemId, at: tuple[float, float], text: str) -> str:
        """Keep what was written at a scene point as an item's note, and say where the code has it."""
        if not text.strip():
            return ""
        graph = self.board.graph
        edits: Edits = (
            recipes.set_note(graph, item, text) if item in graph else (SetTail(BodyId(item), text.strip("\n")),)
        )
        self.store.submit((*edits, SetPlaces({f"note:{item}": Place(round(at[0]), round(at[1]))})), "Add note")
        where = f"above '{title(graph, item)}'" if item in graph else "at the end of the program"
        self.said.emit(f"The code keeps the note as a comment {where}.")
        return ""

    def link_at(self, item: ItemId, x: float, y: float) -> str:
        """The address of a link in a note at a scene point; "" for none."""
        note = self.board.notes.get(item)
        return note.words.link_at(x - note.box.x - NOTE_EDGE, y - note.box.y - NOTE_EDGE) if note is not None else ""


def owner_of_note(board: "Board", x: float, y: float) -> ItemId | None:
    """Whose note a free one at a scene point becomes: of the nearest card in that frame without one.

    Where nothing is near, of the program's end (""); None: all have one.
    """
    graph, frame = board.graph, hit_test.frame_at(board, x, y)
    body = BodyId(frame) if frame is not None else ROOT
    boxes = ((item, board.box(item)) for item in graph.bodies[body] if board.home(item) == item)
    found = [
        (_distance(box, x, y), item)
        for item, box in boxes
        if box is not None and item not in CARDS and not note_of(graph.nodes.get(item) or graph.blocks[item])
    ]
    nearest, item = min(found, default=(NEAR, frame))
    if frame is None and not graph.tails.get(ROOT) and graph.edges is None and nearest >= NEAR:
        return ItemId(ROOT)
    return item if item is not frame or (frame is not None and frame not in board.notes) else None


def _distance(box: Box, x: float, y: float) -> float:
    """From a point to a rectangle; 0 inside."""
    return math.hypot(max(box.x - x, 0.0, x - box.right), max(box.y - y, 0.0, y - box.bottom))


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
