"""The operators that a person keeps at hand: favourites, and what was used last."""

from typing import Final

from PySide6.QtCore import QObject, Signal

from gradstudio.ui.state.library.published_groups import PublishedGroups

MAX_RECENT: Final = 12
MAX_FAVOURITES: Final = 200


class Favourites(QObject):
    """Favourites in the order they were chosen, and recently used operators, the last first; both as keys.

    Attributes:
        published: the groups a person published; None where there is no folder for them.
        carries: whether what is chosen with the mouse hangs at the cursor until a click places it.

    Signals:
        changed(): either is another one now; on the window's thread.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is kept yet."""
        super().__init__(parent)
        self.favourites: tuple[str, ...] = ()
        self.recent: tuple[str, ...] = ()
        self.carries = True
        self.published: PublishedGroups | None = None

    def restore(self, favourites: tuple[str, ...], recent: tuple[str, ...]) -> None:
        """Begin with what was kept; a key that no catalogue knows any more does no harm."""
        self.favourites, self.recent = favourites[:MAX_FAVOURITES], recent[:MAX_RECENT]
        self.changed.emit()

    @property
    def preferred(self) -> frozenset[str]:
        """What comes first among operators that fit a search alike."""
        return frozenset((*self.favourites, *self.recent))

    def toggle(self, key: str) -> bool:
        """Make an operator a favourite, or no longer; whether it is one now."""
        is_one = key not in self.favourites
        rest = tuple(other for other in self.favourites if other != key)
        self.favourites = (*rest, key)[-MAX_FAVOURITES:] if is_one else rest
        self.changed.emit()
        return is_one

    def use(self, key: str) -> None:
        """An operator was put onto the canvas; groups have places of their own."""
        if key.startswith(("group:", "published:")):
            return
        recent = (key, *(other for other in self.recent if other != key))[:MAX_RECENT]
        if recent != self.recent:
            self.recent = recent
            self.changed.emit()
