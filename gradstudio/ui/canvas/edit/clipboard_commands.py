"""What comes from the clipboard and from files, and goes there: statements, Python, numbers."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QGuiApplication

from gradstudio.document.errors import DocumentError
from gradstudio.graph import (
    names,
)
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import SetHeader, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.scene import hit_test
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.selection_commands import SelectionCommands, cards_of, counted_items
from gradstudio.ui.canvas.viewport import Viewport

if TYPE_CHECKING:
    from gradstudio.document.data.model import Prepared
    from gradstudio.protocol.messages.charts import ConfusionDrawn
    from gradstudio.scene.edit.tabular_data import Data

_INPUTS: Final = re.compile(r"X(_\d+)?")
"""The name of the inputs to learn from."""


class ClipboardCommands:
    """Copies, cuts and pastes; each paste is one undo entry."""

    def __init__(
        self,
        canvas: CanvasContext,
        selection: CanvasSelection,
        navigation: Viewport,
        selection_commands: SelectionCommands,
    ) -> None:
        """What is selected goes, what comes is selected."""
        self._canvas, self._selection, self._navigation = canvas, selection, navigation
        self._selection_commands = selection_commands
        self._scene, self._store = canvas.scene, canvas.store

    def copy(self) -> None:
        """Put the selection on the clipboard as text."""
        from gradstudio.document.clipboard import to_text
        from gradstudio.graph.external_inputs import external_inputs
        from gradstudio.graph.recipes import fragments

        items = self._selection.statements()
        if items:
            part = fragments.copy_items(self._scene.graph, sorted(items))
            QGuiApplication.clipboard().setText(to_text(part, external_inputs(self._scene.graph, sorted(items))))
            self._canvas.said.emit(counted_items("Copied", cards_of(self._scene, items)))

    def copy_python(self) -> None:
        """Put the selected statements on the clipboard as Python; without a selection the whole program."""
        from gradstudio.program.forms.selection import write_selection

        items = self._selection.chosen() - CARDS
        QGuiApplication.clipboard().setText(write_selection(self._scene.graph, items))
        count = cards_of(self._scene, items)
        self._canvas.said.emit(
            f"{counted_items('Copied', count)} as Python" if items else "Copied the program as Python"
        )

    def copy_counts(self, drawn: "ConfusionDrawn") -> None:
        """Put the counts of a confusion matrix on the clipboard as a table."""
        from gradstudio.scene.card.confusion_cells import counts_text

        QGuiApplication.clipboard().setText(counts_text(drawn))
        self._canvas.said.emit("Copied the counts as a table")

    def cut(self) -> None:
        """Copy, then delete."""
        self.copy()
        if self._selection.has_statements():
            self._selection_commands.delete_selection()

    def paste_wired(self) -> None:
        """Add what the clipboard holds, and wire its inputs to what they were wired to, where that is here."""
        self.paste(wired=True)

    def paste(self, x: float | None = None, y: float | None = None, *, wired: bool = False) -> None:
        """Add what the clipboard holds, at a scene point or in the middle of what is seen, and bring it into view."""
        from gradstudio.document.clipboard import from_text
        from gradstudio.graph.external_inputs import reconnecting_wires
        from gradstudio.graph.recipes import fragments
        from gradstudio.layout.placement.new_item_places import clear_of
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap
        from gradstudio.scene.words.paste_message import open_inputs_message

        if self.paste_data(QGuiApplication.clipboard().text(), x, y):
            return
        try:
            found = from_text(QGuiApplication.clipboard().text(), self._scene.graph)
        except DocumentError as error:
            self._canvas.refuse(str(error))
            return
        part = found.graph
        places = [place for key, place in part.places.items() if key in part]
        left, top = min((p.x for p in places), default=0.0), min((p.y for p in places), default=0.0)
        at_x, at_y = self._canvas.pointer_or_middle() if x is None or y is None else (x, y)
        again = reconnecting_wires(self._scene.graph, found.outside)
        edits, items = fragments.paste(
            self._scene.graph, part, at_x - left, at_y - top, outer=found.outer, wished=again if wired else (),
            as_typed=found.is_text,
        )  # fmt: skip
        is_first = self._scene.placement.extent() is None
        edits = clear_of(self._scene.graph, edits, items) if found.is_text else avoid_overlap(self._scene, edits)
        if found.header is not None:
            edits = (SetHeader(found.header), *edits)
        self._store.submit(edits, counted_items("Paste", len(card_groups(part).cards(part.bodies[ROOT]))))
        self._selection.select(frozenset(items))
        if found.outside:
            self._canvas.said.emit(open_inputs_message(found, edits, len(again)))
        if is_first:
            self._navigation.open_view()
        else:
            self._navigation.show_items(items)

    # -------------------------------------------------------------- numbers

    def paste_data(self, text: str, x: float | None, y: float | None) -> bool:
        """Add a table of numbers, or what numpy or torch prints, as a tensor; False when the text is something else."""
        from gradstudio.scene.edit import tabular_data

        if not tabular_data.is_data(text):
            return False
        try:
            self.add_data("", tabular_data.read_text(text), x, y)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
        return True

    def add_files(self, paths: tuple[Path, ...], x: float, y: float) -> None:
        """Add the numbers of files as tensors, one below the other."""
        from gradstudio.scene.edit import tabular_data

        try:
            for path in paths:
                for name, data in tabular_data.read_file(path):
                    self.add_data(name, data, x, y, path.name)
                    y += 220.0
        except Refused as refusal:
            self._canvas.refuse(str(refusal))

    def add_data_set(self, data: "Prepared", at: tuple[float, float] | None = None) -> ItemId:
        """Add X and y of imported data at a scene point, or in the middle of what is seen; the card of X."""
        from gradstudio.document.data.data_graph import data_graph
        from gradstudio.graph.recipes import fragments
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap

        part = data_graph(data, set(names.bound_names(self._scene.graph)))
        places = [place for key, place in part.places.items() if key in part]
        left, top = min(place.x for place in places), min(place.y for place in places)
        x, y = at or self._canvas.pointer_or_middle()
        is_first = self._scene.placement.extent() is None
        edits, items = fragments.paste(self._scene.graph, part, x - left, y - top)
        self._store.submit(avoid_overlap(self._scene, edits), f"Import {data.name}")
        inputs = next(item for item in items if any(map(_INPUTS.fullmatch, self._scene.graph.nodes[item].names)))
        self._selection.select(frozenset({inputs}))  # what is added next takes it
        self._canvas.said.emit(f"Imported {data.name}: {data.notes[0]}.")
        if is_first:
            self._navigation.open_view()
        else:
            self._navigation.show_items(items)
        return inputs

    def add_data(self, name: str, data: "Data", x: float | None, y: float | None, source: str = "") -> None:
        """Add numbers as a tensor, and say what became of them.

        Raises:
            Refused: torch has no dtype for them.
        """
        from gradstudio.graph import recipes
        from gradstudio.scene.edit import tabular_data

        at = self._canvas.pointer_or_middle() if x is None or y is None else (x, y)
        graph = self._scene.graph
        body = BodyId(frame) if (frame := hit_test.frame_at(self._scene, *at)) is not None else ROOT
        edits, item = tabular_data.add_tensor(graph, data, round(at[0]), round(at[1]), body, source)
        trial = graph.copy()
        apply_all(trial, edits)
        if name.isidentifier():
            taken = {known for node in graph.nodes.values() for known in node.names}
            edits = (*edits, *recipes.rename(trial, item, (names.fresh_name(taken, name),)))
        self._store.submit(edits, "Paste numbers" if not source else f"Add {source}")
        self._selection.select(frozenset({item}))
        what = "torch.tensor" if data.array is None else "stored tensor, for it is too large to write down"
        self._canvas.said.emit(f"Added the numbers as a {what}{f', {data.said}' if data.said else ''}.")
