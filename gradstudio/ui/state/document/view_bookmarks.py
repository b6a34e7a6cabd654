"""The bookmarks of one canvas: views behind the digits 1 to 9. They belong to the file, never to undo."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from gradstudio.document.bookmarks import Bookmark


class Bookmarks(QObject):
    """What is remembered, by digit.

    Signals:
        changed(): another one is.
        edited(): the same, when a person has set or forgotten some: the file does not hold that yet.
    """

    changed = Signal()
    edited = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is remembered."""
        super().__init__(parent)
        self.entries: dict[str, Bookmark] = {}

    def put(self, digit: str, mark: Bookmark) -> None:
        """Remember a view."""
        self.entries[digit] = mark
        self.changed.emit()
        self.edited.emit()

    def take_all(self, entries: Mapping[str, Bookmark]) -> None:
        """Those of another document."""
        if entries != self.entries:
            self.entries = dict(entries)
            self.changed.emit()

    def clear(self) -> None:
        """Forget all."""
        if self.entries:
            self.take_all({})
            self.edited.emit()
