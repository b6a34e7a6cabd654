"""What the person looks at: the selection and what the pointer is over. Never undone."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId


class Attention(QObject):
    """The selection, shared by canvas, code and inspector.

    Signals:
        selection_changed(): the set or the current item changed.
        reveal_requested(object): show this item (a click in a list of problems).
    """

    selection_changed = Signal()
    reveal_requested = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is selected."""
        super().__init__(parent)
        self.selection: frozenset[ItemId] = frozenset()
        self.current: ItemId | None = None
        self.output = 0

    def select(self, items: Iterable[ItemId], current: ItemId | None = None, output: int = 0) -> None:
        """Select exactly these; `current` is the one whose details are shown (default: any one)."""
        chosen = list(items)
        selection = frozenset(chosen)
        if current is None and selection:
            current = self.current if self.current in selection else chosen[-1]
        if (selection, current, output) == (self.selection, self.current, self.output):
            return
        self.selection, self.current, self.output = selection, current, output
        self.selection_changed.emit()

    def reveal(self, item: ItemId) -> None:
        """Select the item and ask the canvas to bring it into view."""
        self.select((item,))
        self.reveal_requested.emit(item)

    def forget(self, items: Iterable[ItemId]) -> None:
        """Drop items that no longer exist from the selection."""
        gone = frozenset(items)
        if gone & self.selection:
            self.select(self.selection - gone)
