"""The Edit menu: undo and redo; all else is the canvas's own commands."""

from PySide6.QtGui import QGuiApplication

from gradstudio.ui.commands.arrange import ArrangeCommands
from gradstudio.ui.commands.context import Context


class EditCommands:
    """Undo, and the canvas's clipboard."""

    def __init__(self, context: Context) -> None:
        """Work on the context's session."""
        self.canvas, self.arrange = context.canvas, ArrangeCommands(context)
        self._store, self._attention = context.session.graph_store, context.session.attention
        self._stack = self._store.undo_stack

    def undo(self) -> None:
        """Take the newest change back."""
        self._stack.undo()

    def redo(self) -> None:
        """Make the change again that was taken back."""
        self._stack.redo()

    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return self._stack.canUndo()

    def can_redo(self) -> bool:
        """Whether there is a change to make again."""
        return self._stack.canRedo()

    def has_selection(self) -> bool:
        """Whether an item is selected."""
        return bool(self._attention.selection)

    def has_items(self) -> bool:
        """Whether anything is on the canvas."""
        return bool(self._store.graph.nodes or self._store.graph.blocks)

    def can_paste(self) -> bool:
        """Whether the clipboard holds a text: cards, a program or numbers."""
        return bool(QGuiApplication.clipboard().text())
