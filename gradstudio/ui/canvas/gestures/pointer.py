"""Where the pointer is, and how far it may drift before a press is a drag."""

from typing import ClassVar, Final

import msgspec
from PySide6.QtCore import Qt

DRAG_DISTANCE: Final = 4.0
"""View pixels after which a press is a drag and no click, where the person chose no other."""


class Drift:
    """How far a press may drift and be a click, view pixels; one for the whole program."""

    px: ClassVar[float] = DRAG_DISTANCE


class Pointer(msgspec.Struct, frozen=True):
    """Where the pointer is: view pixels, scene pixels, the keys held, and when."""

    view_x: float
    view_y: float
    x: float
    y: float
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    time_ms: int = 0

    def is_far_from(self, other: "Pointer") -> bool:
        """Whether the way between is a drag."""
        return max(abs(self.view_x - other.view_x), abs(self.view_y - other.view_y)) >= Drift.px

    def holds(self, modifier: Qt.KeyboardModifier) -> bool:
        """Whether a key such as Shift is held."""
        return bool(self.modifiers & modifier)
