"""The Edit menu: undo, the clipboard, deleting and duplicating."""

from PySide6.QtWidgets import QApplication

from gradstudio.document import clipboard
from gradstudio.document.errors import NotAFragment
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.fragment import copy_items, duplicate, paste
from gradstudio.graph.model import Graph, ItemId
from gradstudio.ui.commands.context import Context

OFFSET_PX = 40.0


class EditCommands:
    """Changes the graph through its store."""

    def __init__(self, context: Context) -> None:
        """Work on the context's session."""
        self._canvas = context.canvas
        self._store, self._attention = context.session.graph_store, context.session.attention

    def undo(self) -> None:
        """Take the newest change back."""
        self._store.undo_stack.undo()

    def redo(self) -> None:
        """Make the change again that was taken back."""
        self._store.undo_stack.redo()

    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return self._store.undo_stack.canUndo()

    def can_redo(self) -> bool:
        """Whether there is a change to make again."""
        return self._store.undo_stack.canRedo()

    def has_selection(self) -> bool:
        """Whether an item is selected."""
        return bool(self._attention.selection)

    def can_delete(self) -> bool:
        """Whether an item or a wire is selected."""
        return self.has_selection() or self._canvas.has_selected_wires()

    def cut(self) -> None:
        """Copy, then delete."""
        if self.has_selection():
            self.copy()
            self._delete("Cut")

    def copy(self) -> None:
        """Put the selection on the clipboard as text."""
        if self.has_selection():
            part = copy_items(self._store.graph, self._attention.selection)
            QApplication.clipboard().setText(clipboard.to_text(part))

    def paste(self) -> None:
        """Put what was copied onto the canvas, and select it."""
        try:
            part = clipboard.from_text(QApplication.clipboard().text())
        except NotAFragment as error:
            self._store.refused.emit(str(error))
            return
        edits, items = paste(self._store.graph, part, OFFSET_PX, OFFSET_PX)
        self._submit(edits, "Paste", items)

    def duplicate(self) -> None:
        """Copy the selection in place, and select the copies."""
        if self.has_selection():
            chosen = self._attention.selection
            edits, items = duplicate(self._store.graph, chosen, OFFSET_PX, OFFSET_PX)
            self._submit(edits, "Duplicate", items)

    def delete(self) -> None:
        """Delete the selected items or wires."""
        if self._canvas.has_selected_wires():
            self._canvas.delete_wires()
        self._delete("Delete")

    def select_all(self) -> None:
        """Select every node and block."""
        graph = self._store.graph
        self._attention.select((*graph.blocks, *graph.nodes))

    def _delete(self, text: str) -> None:
        chosen = self._attention.selection
        if not chosen:
            return
        if self._store.attempt(_delete, text, chosen):
            self._attention.select(())

    def _submit(self, edits: Edits, text: str, items: tuple[ItemId, ...]) -> None:
        self._store.submit(edits, text)
        self._attention.select(items)


def _delete(graph: Graph, items: frozenset[ItemId]) -> Edits:
    return recipes.delete(graph, items)
