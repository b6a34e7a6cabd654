"""What a press of the right button with a key begins: cutting or muting wires, a wire from card to card."""

from typing import Final

from PySide6.QtCore import Qt

from gradstudio.scene import hit_test
from gradstudio.ui.canvas.gestures.cut_gesture import Knife, MuteSwipe
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.gestures.quick_connect import QuickConnect

CONTROL: Final = Qt.KeyboardModifier.ControlModifier
ALT: Final = Qt.KeyboardModifier.AltModifier
SHIFT: Final = Qt.KeyboardModifier.ShiftModifier
"""As good as Alt for a wire from card to card: some desktops keep Alt for themselves."""


def begin_right(canvas: GestureCanvas, at: Pointer) -> Gesture | None:
    """The gesture of the right button with these keys; None: the context menu."""
    if at.holds(CONTROL) and at.holds(ALT):
        return MuteSwipe(canvas, at)
    if at.holds(CONTROL):
        return Knife(canvas, at)
    card = hit_test.card_at(canvas.scene, at.x, at.y) if at.holds(ALT) or at.holds(SHIFT) else None
    return QuickConnect(canvas, at, card) if card is not None else None


def is_gesture(canvas: GestureCanvas, at: Pointer, keys: Qt.KeyboardModifier) -> bool:
    """Whether the right button with these keys draws, and asks for no menu: Shift does on a card only."""
    return bool(keys & (CONTROL | ALT)) or (
        bool(keys & SHIFT) and hit_test.card_at(canvas.scene, at.x, at.y) is not None
    )
