"""What the mouse does on the canvas, for the shortcut sheet. No Qt."""

from typing import Final

GESTURES: Final = (
    ("Pan", "Middle button and drag, or Space and drag"),
    ("Zoom at the pointer", "Wheel, or Ctrl+wheel where the wheel scrolls"),
    ("Search at the pointer", "Double-click on the ground, or tap Space"),
    ("Menu of what is there", "Right-click"),
    ("Select several", "Drag on the ground"),
    ("Add to the selection, take from it", "Shift+click, Ctrl+click"),
    ("Move", "Drag a card, a title or a note"),
    ("Take a card out of its wires", "Shake it while dragging: three quick turns"),
    ("Change a number", "Drag on it"),
    ("Rename, edit", "Double-click on a title or a note"),
    ("Draw a wire", "Drag from a port"),
    ("Take a wire off", "Drag from an input"),
    ("Move all wires of an output", "Shift+drag from it"),
    ("Put a dot on a wire", "Double-click on the wire or Ctrl+Shift+click; Alt+click if the desktop leaves it"),
    ("Cut wires", "Ctrl+right button and drag across them"),
    ("Mute wires", "The menu of a wire; Ctrl+Alt+right button and drag across several"),
    ("Wire two cards", "Shift+right button and drag from card to card; Alt too, if the desktop leaves it"),
)
"""What it does, and how."""
