"""The Edit menu: undo and redo; all else is the canvas's own commands."""

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication

from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.actions.drag_commands import ArrangeCommands


class EditCommands:
    """Undo, and the canvas's clipboard."""

    def __init__(self, context: Context, say: Callable[[str], None] = lambda _words: None) -> None:
        """Work on the context's session; `say` shows words in the status bar."""
        self._say = say
        self.canvas, self.arrange = context.canvas, ArrangeCommands(context)
        self._store, self._attention = context.session.graph_store, context.session.attention
        self._stack = self._store.undo_stack

    def undo(self) -> None:
        """Take the newest change back, and say which: it may be one inside a group that is not shown."""
        words = self._stack.undoText()
        self._stack.undo()
        if words:
            self._say(f"Undid: {words}")

    def redo(self) -> None:
        """Make the change again that was taken back."""
        words = self._stack.redoText()
        self._stack.redo()
        if words:
            self._say(f"Redid: {words}")

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
