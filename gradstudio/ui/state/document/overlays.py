"""Which facts are painted on the cards, and how wires are drawn."""

from PySide6.QtCore import QObject, Signal

from gradstudio.scene.wire.wire_options import WireView

OVERLAYS = ("values", "shapes", "dtype_device", "grad_fn", "gradients", "wire_gradients", "storage", "cost")
OFF_AT_FIRST = frozenset(("storage", "cost"))
"""What answers a question that is asked now and then."""


class Overlays(QObject):
    """A switch per overlay; `wires` is how wires are drawn.

    Signals:
        changed(): one was switched, or wires are drawn otherwise.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Everything a beginner looks for is on."""
        super().__init__(parent)
        self.wires = WireView()
        self._on = {name: name not in OFF_AT_FIRST for name in OVERLAYS}

    def __getitem__(self, name: str) -> bool:
        """Whether the overlay is on."""
        return self._on[name]

    @property
    def key(self) -> tuple[bool, ...]:
        """All of them, in order: a cache key for painters."""
        return tuple(self._on.values())

    def switch(self, name: str, on: bool) -> None:
        """Turn one on or off."""
        if self._on[name] != on:
            self._on[name] = on
            self.changed.emit()

    def show_wires(self, wires: WireView) -> None:
        """Draw wires in another way."""
        if self.wires != wires:
            self.wires = wires
            self.changed.emit()
