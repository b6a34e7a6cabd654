"""Keys that are the canvas's own, beside those of the window's commands: which they are, and what they do."""

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView


class OwnKey(NamedTuple):
    """What keys do on the canvas.

    Attributes:
        id: as a person's own choice of keys names it.
        method: of the canvas or, behind a dot, of a part of it; "" where the hand itself knows what to do, and the
            keys stay as they are.
    """

    id: str
    text: str
    keys: tuple[str, ...]
    method: str = ""


OWN_KEYS: Final = (
    OwnKey("canvas.search", "Search at the Pointer", ("Tab",), "searching.open_at_pointer"),
    OwnKey("canvas.edit", "Edit the Current Node", ("Return", "Enter"), "field_commands.edit_current"),
    OwnKey("canvas.menu", "Menu of the Current Node", ("Menu",), "keyboard_navigation.menu_by_key"),
    OwnKey("canvas.cancel", "Cancel a Gesture, else Select Nothing", ("Esc",)),
    OwnKey("canvas.pan", "Pan while Held and Dragged", ("Space",)),
    OwnKey("canvas.nudge", "Move the Selection", ("Left", "Right", "Up", "Down")),
    OwnKey(
        "canvas.nudge_far",
        "Move the Selection Farther",
        ("Shift+Left", "Shift+Right", "Shift+Up", "Shift+Down"),
    ),
)
ALONE: Final = {
    "Del": "selection_commands.delete_selection",
    "Ctrl+Del": "card_arrangement.delete_and_reconnect",
    "Backspace": "selection_commands.delete_selection",
    "Home": "navigation.fit_all",
    "F": "navigation.fit_selection",
    "F2": "field_commands.rename_current",
    "Ctrl+A": "selection.select_all",
    "Ctrl+C": "clipboard_commands.copy",
    "Ctrl+D": "selection_commands.duplicate_selection",
    "Ctrl+V": "clipboard_commands.paste",
    "Ctrl+X": "clipboard_commands.cut",
}
"""What a canvas without a window around it understands, too."""


def table(
    canvas: "CanvasView", chosen: Mapping[str, tuple[str, ...]], *, alone: bool
) -> dict[str, Callable[[], object]]:
    """What each key does, as `written` names it; `chosen` are a person's keys by `OwnKey.id`."""
    methods = dict(ALONE) if alone else {}
    for own in OWN_KEYS:
        if own.method:
            methods |= dict.fromkeys(chosen.get(own.id, own.keys), own.method)
    return {keys: partial(_do, canvas, method) for keys, method in methods.items()}


def _do(canvas: "CanvasView", method: str) -> object:
    return attrgetter(method)(canvas)()


def written(event: QKeyEvent) -> str:
    """The keys of an event as files write them, e.g. "Ctrl+A"; those of the number pad as all others."""
    bare = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return QKeySequence(QKeyCombination(bare, Qt.Key(event.key()))).toString()
