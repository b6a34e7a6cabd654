"""What is done with notes on the canvas: they are written, coloured, and their links opened."""

import math
from functools import partial
from typing import Final

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.edits import Edits, SetPlaces, SetTail
from gradstudio.graph.model import ROOT, BodyId, ItemId, Place
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.notes import note_of
from gradstudio.scene import hit_test
from gradstudio.scene.geometry import Box
from gradstudio.scene.note.note_layout import NOTE_EDGE
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.in_place_editing import InPlaceEditing

NEAR: Final = 600.0
"""A note farther than so many scene pixels from all cards is a comment at the program's end."""


class NoteCommands:
    """Writes, colours and reads notes; each is one undo entry."""

    def __init__(self, canvas: CanvasContext, in_place: InPlaceEditing) -> None:
        """Notes of this canvas, written where they stand."""
        self._canvas, self._in_place = canvas, in_place
        self._scene, self._store = canvas.scene, canvas.store

    def edit_note(self, item: ItemId) -> None:
        """Edit an item's note where it stands, or make one."""
        self._in_place.edit_note(item, partial(self.set_note, item))

    def set_note(self, item: ItemId, text: str) -> str:
        """Write an item's note, or the last comment of the program (""), or of a block that shows it for a note.

        Returns:
            Why it is none; "" when it was written.
        """
        if words := recipes.note_refusal(text):
            return words
        store, graph = self._store, self._scene.graph
        block = graph.blocks.get(item)
        if item in graph and (block is None or note_of(block) or not graph.tails.get(BodyId(item))):
            store.attempt(recipes.set_note, "Edit note", item, text)
        else:
            gap = "\n" if text.strip() and graph.tails.get(BodyId(item), "").startswith("\n") else ""
            store.submit((SetTail(BodyId(item), gap + text.strip("\n")),), "Edit note")
        return ""

    def color_note(self, item: ItemId, color: str) -> None:
        """Give a note another colour; "" is the usual one."""
        note = self._scene.placement.notes.get(item)
        if note is not None:
            place = self._scene.graph.places.get(note.key, Place(note.box.x, note.box.y))
            self._store.submit((SetPlaces({note.key: msgspec.structs.replace(place, color=color)}),), "Colour note")

    def add_note_at(self, x: float, y: float) -> None:
        """Write a note at a scene point; the code keeps it as a comment of what is nearest and has none."""
        item = owner_of_note(self._scene, x, y)
        if item is None:
            self._canvas.refuse("Every statement here has a note already: double-click one to write more.")
            return
        commit = (
            partial(self.make_note, item, (x, y))
            if item not in self._scene.placement.notes
            else partial(self.set_note, item)
        )
        self._in_place.edit_note(item, commit, (x, y))

    def make_note(self, item: ItemId, at: tuple[float, float], text: str) -> str:
        """Keep what was written at a scene point as an item's note, and say where the code has it."""
        if not text.strip():
            return ""
        if words := recipes.note_refusal(text):
            return words
        graph = self._scene.graph
        edits: Edits = (
            recipes.set_note(graph, item, text) if item in graph else (SetTail(BodyId(item), text.strip("\n")),)
        )
        self._store.submit((*edits, SetPlaces({f"note:{item}": Place(round(at[0]), round(at[1]))})), "Add note")
        where = f"above '{title(graph, item)}'" if item in graph else "at the end of the program"
        self._canvas.said.emit(f"The code keeps the note as a comment {where}.")
        return ""

    def link_at(self, item: ItemId, x: float, y: float) -> str:
        """The address of a link in a note at a scene point; "" for none."""
        note = self._scene.placement.notes.get(item)
        return note.words.link_at(x - note.box.x - NOTE_EDGE, y - note.box.y - NOTE_EDGE) if note is not None else ""


def owner_of_note(scene: Scene, x: float, y: float) -> ItemId | None:
    """Whose note a free one at a scene point becomes: of the nearest card in that frame without one.

    Where nothing is near, of the program's end (""); None: all have one.
    """
    graph, frame = scene.graph, hit_test.frame_at(scene, x, y)
    body = BodyId(frame) if frame is not None else ROOT
    boxes = (
        (item, scene.placement.box(item)) for item in graph.bodies[body] if scene.state.card_groups.home(item) == item
    )
    found = [
        (_distance(box, x, y), item)
        for item, box in boxes
        if box is not None and item not in CARDS and not note_of(graph.nodes.get(item) or graph.blocks[item])
    ]
    nearest, item = min(found, default=(NEAR, frame))
    if frame is None and not graph.tails.get(ROOT) and graph.edges is None and nearest >= NEAR:
        return ItemId(ROOT)
    return item if item is not frame or (frame is not None and frame not in scene.placement.notes) else None


def _distance(box: Box, x: float, y: float) -> float:
    """From a point to a rectangle; 0 inside."""
    return math.hypot(max(box.x - x, 0.0, x - box.right), max(box.y - y, 0.0, y - box.bottom))


def ask_for_link(widget: QWidget, url: str) -> None:
    """Show where a link leads, and open it in the browser when the person says so."""
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QDesktopServices
    from PySide6.QtWidgets import QMessageBox

    if not url:
        return
    box = QMessageBox(widget)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("Open link")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText("Open this address in the browser?")
    box.setInformativeText(url)
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.button(QMessageBox.StandardButton.Open).clicked.connect(lambda: QDesktopServices.openUrl(QUrl(url)))
    box.open()
