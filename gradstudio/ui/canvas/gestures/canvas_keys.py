"""Keys that are the canvas's own, beside those of the window's commands: which they are, and what they do."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from gradstudio.ui.canvas.gestures.pointer_canvas import PointerCanvas


class OwnKey(NamedTuple):
    """What keys do on the canvas.

    Attributes:
        id: as a person's own choice of keys names it.
        command: what they do; None where the input dispatcher itself knows, and the keys stay as they are.
    """

    id: str
    text: str
    keys: tuple[str, ...]
    command: "Callable[[PointerCanvas], object] | None" = None


OWN_KEYS: Final = (
    OwnKey(
        "canvas.search",
        "Add behind the selected card, else at the pointer",
        ("Tab",),
        lambda canvas: canvas.searching.open_behind(),
    ),
    OwnKey(
        "canvas.edit", "Edit the current node", ("Return", "Enter"), lambda canvas: canvas.field_commands.edit_current()
    ),
    OwnKey(
        "canvas.menu", "Menu of the current node", ("Menu",), lambda canvas: canvas.keyboard_navigation.menu_by_key()
    ),
    OwnKey("canvas.cancel", "Cancel a gesture, else select nothing", ("Esc",)),
    OwnKey("canvas.pan", "Pan while held and dragged", ("Space",)),
    OwnKey("canvas.nudge", "Move the selection", ("Left", "Right", "Up", "Down")),
    OwnKey(
        "canvas.nudge_far",
        "Move the selection farther",
        ("Shift+Left", "Shift+Right", "Shift+Up", "Shift+Down"),
    ),
)
ALONE: "Final[Mapping[str, Callable[[PointerCanvas], object]]]" = {
    "Del": lambda canvas: canvas.selection_commands.delete_selection(),
    "Ctrl+Del": lambda canvas: canvas.card_arrangement.delete_and_reconnect(),
    "Backspace": lambda canvas: canvas.selection_commands.delete_selection(),
    "Home": lambda canvas: canvas.navigation.fit_all(),
    "F": lambda canvas: canvas.navigation.fit_selection(),
    "F2": lambda canvas: canvas.field_commands.rename_current(),
    "Ctrl+A": lambda canvas: canvas.selection.select_all(),
    "Ctrl+C": lambda canvas: canvas.clipboard_commands.copy(),
    "Ctrl+D": lambda canvas: canvas.selection_commands.duplicate_selection(),
    "Ctrl+V": lambda canvas: canvas.clipboard_commands.paste(),
    "Ctrl+X": lambda canvas: canvas.clipboard_commands.cut(),
}
"""What a canvas without a window around it understands, too."""


def table(
    canvas: "PointerCanvas", chosen: Mapping[str, tuple[str, ...]], *, alone: bool
) -> dict[str, Callable[[], object]]:
    """What each key does, as `key_names` names it; `chosen` are a person's keys by `OwnKey.id`."""
    commands = dict(ALONE) if alone else {}
    for own in OWN_KEYS:
        if own.command is not None:
            commands |= dict.fromkeys(chosen.get(own.id, own.keys), own.command)
    return {keys: partial(command, canvas) for keys, command in commands.items()}


def key_names(event: QKeyEvent) -> str:
    """The keys of an event as files write them, e.g. "Ctrl+A"; those of the number pad as all others."""
    bare = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return QKeySequence(QKeyCombination(bare, Qt.Key(event.key()))).toString()
