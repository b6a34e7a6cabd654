"""Which facts are painted on the cards, and how wires are drawn."""

from collections.abc import Collection
from typing import Final

from PySide6.QtCore import QObject, Signal

from gradstudio.scene.overlay_registry import OVERLAYS as ROWS
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.wire.wire_options import WireOptions

OVERLAYS: Final = tuple(row.id for row in ROWS)


class Overlays(QObject):
    """A switch per overlay; `wires` is how wires are drawn, `over_ranks` whether cards are about all processes.

    Signals:
        changed(): one was switched, or wires are drawn otherwise.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Everything a beginner looks for is on."""
        super().__init__(parent)
        self.wires = WireOptions()
        self.over_ranks = False
        self._on = {row.id: row.is_on_at_first for row in ROWS}

    def __getitem__(self, name: str) -> bool:
        """Whether the overlay is on."""
        return self._on[name]

    @property
    def key(self) -> tuple[bool, ...]:
        """All of them, in order: a cache key for painters."""
        return (*self._on.values(), self.over_ranks)

    @property
    def shown(self) -> Shown:
        """All of them, by name: what is painted now."""
        return Shown(**self._on, over_ranks=self.over_ranks)

    def restore(self, off: Collection[str], on: Collection[str]) -> None:
        """Switch those that a person wants otherwise than they are at first."""
        for name in OVERLAYS:
            self.switch(name, (self._on[name] or name in on) and name not in off)

    def changes(self, *, on: bool) -> tuple[str, ...]:
        """Those that are on and were not at first, or the other way round: as settings keep them."""
        return tuple(row.id for row in ROWS if self._on[row.id] is on and row.is_on_at_first is not on)

    def switch(self, name: str, on: bool) -> None:
        """Turn one on or off."""
        if self._on[name] != on:
            self._on[name] = on
            self.changed.emit()

    def show_over_ranks(self, on: bool) -> None:
        """Have cards say whether all of several processes agree, or show the numbers of one."""
        if self.over_ranks != on:
            self.over_ranks = on
            self.changed.emit()

    def show_wires(self, wires: WireOptions) -> None:
        """Draw wires in another way."""
        if self.wires != wires:
            self.wires = wires
            self.changed.emit()
