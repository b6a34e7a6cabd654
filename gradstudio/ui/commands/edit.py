"""The Edit menu: undo and redo; all else is the canvas's own commands."""

from gradstudio.ui.commands.arrange import ArrangeCommands
from gradstudio.ui.commands.context import Context


class EditCommands:
    """Undo, and the canvas's clipboard."""

    def __init__(self, context: Context) -> None:
        """Work on the context's session."""
        self.canvas, self.arrange = context.canvas, ArrangeCommands(context)
        self._stack, self._attention = context.session.graph_store.undo_stack, context.session.attention

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
