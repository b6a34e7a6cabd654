"""Rows of the action table about adding: replacing, defaults, how new nodes come."""

from collections.abc import Callable

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.canvas.view import CanvasView


def adding_rows(canvas: CanvasView, switch_ghost: Callable[[], None]) -> tuple[Row, ...]:
    """What is done with operators that are there or about to be."""
    return (
        ActionRow(
            "graph.replace",
            "Replace Operator…",
            "Graph",
            1,
            canvas.replace_current,
            ("Ctrl+R",),
            "replace",
            canvas.can_replace,
            tooltip="Another operator in the place of the selected one: its name, wires and values stay",
        ),
        ActionRow(
            "graph.reset",
            "Reset to Default",
            "Graph",
            1,
            canvas.reset_to_default,
            ("Ctrl+Alt+R",),
            when=lambda: bool(canvas.attention.selection) or canvas.in_place.port is not None,
            tooltip="The argument that is edited or under the pointer, else all of the selected node",
        ),
        ActionRow(
            "graph.ghost",
            "Place with the Mouse",
            "Graph",
            4,
            switch_ghost,
            checked=lambda: canvas.shelf.carries,
            tooltip="What is chosen with the mouse hangs at the cursor until a click places it",
        ),
    )
