"""Rows of the action table about where cards stand, how they are worn, and what becomes of their wires."""

from collections.abc import Iterator
from functools import partial

from gradstudio.layout.placement.alignment import Side
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.edit_commands import EditCommands

ALIGN, DRAGGING = "Edit/Align", "Edit/While Dragging"
SIDES: tuple[tuple[Side, str, tuple[str, ...]], ...] = (
    ("left", "Left Edges", ("Ctrl+Alt+Left",)),
    ("right", "Right Edges", ("Ctrl+Alt+Right",)),
    ("top", "Upper Edges", ("Ctrl+Alt+Up",)),
    ("bottom", "Lower Edges", ("Ctrl+Alt+Down",)),
    ("center", "Centres in a Column", ()),
    ("middle", "Middles in a Row", ()),
)


def arrange_rows(c: EditCommands) -> tuple[Row, ...]:
    """Deleting with reconnect, pasting with wires, aligning, snapping, collapsing, muting."""
    return (*_clipboard_rows(c), *_align_rows(c), *_drag_rows(c), *_worn_rows(c))


def _clipboard_rows(c: EditCommands) -> Iterator[Row]:
    canvas = c.canvas
    some = canvas.selection.has_statements
    yield ActionRow(
        "edit.paste_wired", "Paste with Inputs", "Edit", 3, canvas.paste_wired, ("Ctrl+Shift+V",), "paste", c.can_paste,
        tooltip="Paste, and wire the inputs to what they were wired to, where that is here", canvas_only=True,
    )  # fmt: skip
    yield ActionRow(
        "edit.duplicate_wired", "Duplicate with Inputs", "Edit", 3, canvas.duplicate_wired, ("Ctrl+Shift+D",),
        "duplicate", some, tooltip="The copies read what the originals read", canvas_only=True,
    )  # fmt: skip
    yield ActionRow(
        "edit.delete_reconnect", "Delete and Reconnect", "Edit", 3, canvas.delete_and_reconnect, ("Ctrl+Del",),
        when=some, tooltip="Delete the selection; what fed it feeds what read from it", canvas_only=True,
    )  # fmt: skip


def _align_rows(c: EditCommands) -> Iterator[Row]:
    some, canvas = c.has_selection, c.canvas
    for side, text, keys in SIDES:
        align = partial(canvas.align_selection, side)
        yield ActionRow(
            f"edit.align_{side}", text, ALIGN, 6, align, keys, f"align_{side}", some,
            tooltip=f"{text} of the selected cards and frames on one line",
        )  # fmt: skip
    for axis, text in (("across", "Equal Gaps Across"), ("down", "Equal Gaps Down")):
        handler = partial(canvas.distribute_selection, axis)  # type: ignore[arg-type] # the two axes are spelled out
        yield ActionRow(f"edit.distribute_{axis}", text, ALIGN, 6, handler, (), f"distribute_{axis}", some)


def _drag_rows(c: EditCommands) -> Iterator[Row]:
    arrange = c.arrange
    yield ActionRow(
        "edit.snap", "Snap to Grid", DRAGGING, 6, arrange.toggle_snap, ("Shift+Tab",), "snap", checked=arrange.snaps,
        tooltip="What is dragged snaps to the grid; Ctrl while dragging does the opposite", short="Snap",
        canvas_only=True,
    )  # fmt: skip
    yield ActionRow(
        "edit.guides", "Guides While Dragging", DRAGGING, 6, arrange.toggle_guides, (), checked=arrange.guides,
        tooltip="What is dragged comes in line with its neighbours; Shift while dragging suspends it",
    )  # fmt: skip
    yield ActionRow(
        "edit.shake", "Shake to Take Out of Wires", DRAGGING, 6, arrange.toggle_shake, (), checked=arrange.shakes,
        tooltip="Shaking a card while dragging takes it out of its wires; what fed it feeds what read from it",
    )  # fmt: skip


def _worn_rows(c: EditCommands) -> Iterator[Row]:
    some, statements, canvas = c.has_selection, c.canvas.selection.has_statements, c.canvas
    for key, text, handler, keys, words in (
        ("mute", "Mute", canvas.toggle_muted, "M", "Take the selection, and what reads from it, out of the program"),
        ("bypass", "Bypass", canvas.toggle_bypassed, "Shift+M", "Let the selected nodes pass their input on unchanged"),
    ):
        yield ActionRow(
            f"graph.{key}", text, "Graph", 3, handler, (keys,), key, statements, tooltip=words, canvas_only=True
        )  # fmt: skip
    for name, text, handler, keys, words in (
        ("collapsed", "Collapse", canvas.toggle_collapsed, "H", "Show only the header of the selected cards"),
        ("tucked", "Hide Unused Ports", canvas.toggle_tucked, "Ctrl+H", "Hide the inputs that nothing feeds"),
        ("pinned", "Pin", canvas.toggle_pinned, "P", "The selected cards stay where they are"),
    ):
        yield ActionRow(
            f"edit.{name}", text, "Edit/Cards", 6, handler, (keys,), when=some, checked=partial(canvas.is_worn, name),
            tooltip=words, canvas_only=True,
        )  # fmt: skip
