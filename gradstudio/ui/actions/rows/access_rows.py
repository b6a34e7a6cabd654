"""Rows of the action table for working without a mouse: walking, wiring, going round the window."""

from collections.abc import Iterator

from gradstudio.ui.actions.access_commands import AccessCommands
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.canvas.view import CanvasView

WALKS = "View/Walk"


def access_rows(canvas: CanvasView, c: AccessCommands) -> Iterator[Row]:
    """Everything that a mouse does without a menu."""
    yield from _walk_rows(canvas)
    next_words = "Canvas, timeline and docks that are seen get the keys one after the other"
    yield ActionRow("access.next_part", "Next Part", WALKS, 2, c.next_part, ("Ctrl+F6",), tooltip=next_words)
    yield ActionRow("access.previous_part", "Previous Part", WALKS, 2, c.previous_part, ("Ctrl+Shift+F6",))
    yield from _wire_rows(canvas)


def _walk_rows(canvas: CanvasView) -> Iterator[Row]:
    yield ActionRow(
        "access.back",
        "To What Feeds It",
        WALKS,
        1,
        canvas.walk_back,
        ("Alt+Left",),
        tooltip="Go along the first wire into the current card, or back",
        canvas_only=True,
    )
    yield ActionRow(
        "access.on",
        "To What Follows",
        WALKS,
        1,
        canvas.walk_on,
        ("Alt+Right",),
        tooltip="Go along the first wire out of the current card, or back",
        canvas_only=True,
    )
    yield ActionRow(
        "access.before",
        "Statement Before",
        WALKS,
        1,
        canvas.statement_before,
        ("Ctrl+Up",),
        tooltip="Go to the statement in front of the current one",
        canvas_only=True,
    )
    yield ActionRow(
        "access.after",
        "Statement After",
        WALKS,
        1,
        canvas.statement_after,
        ("Ctrl+Down",),
        tooltip="Go to the statement behind the current one",
        canvas_only=True,
    )


def _wire_rows(canvas: CanvasView) -> Iterator[Row]:
    yield ActionRow(
        "access.wire_from",
        "Wire from Here…",
        "Graph",
        3,
        canvas.wire_from_here,
        ("W",),
        tooltip="Choose, by typing, what a result of the current card shall flow into",
        canvas_only=True,
    )
    yield ActionRow(
        "access.wire_into",
        "Wire into Here…",
        "Graph",
        3,
        canvas.wire_into_here,
        ("Shift+W",),
        tooltip="Choose, by typing, what shall flow into an input of the current card",
        canvas_only=True,
    )
