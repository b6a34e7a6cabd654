"""Rows of the action table about wires."""

from functools import partial

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.view_commands import ViewCommands
from gradstudio.ui.canvas.view import CanvasView

LOOKS = (
    ("style", "curved", "Curved", "Wires are curves that lead around cards"),
    ("style", "straight", "Straight", "Wires are straight lines from port to port"),
    ("style", "angled", "Right-Angled", "Wires run level and upright, as in a circuit"),
    ("shown", "all", "Show All Wires", "Every wire is drawn"),
    ("shown", "selection", "Only Those of the Selection", "Wires are drawn where they touch what is selected"),
    ("shown", "none", "Hide All Wires", "No wire is drawn; ports still show what is wired"),
)
"""Field of `WireView`, value, text and tip of each entry of the menu."""


def wire_rows(c: ViewCommands) -> tuple[Row, ...]:
    """Tracing, selecting along wires, and what is done with wires and with those of a node."""
    return (*_trace_rows(c.canvas), *_look_rows(c), *_edit_rows(c.canvas))


def _look_rows(c: ViewCommands) -> tuple[Row, ...]:
    """The menu of how wires are drawn."""
    chosen = tuple(
        ActionRow(
            f"view.wires_{value}",
            text,
            "View/Wires",
            1,
            partial(c.show_wires, **{field: value}),
            checked=partial(c.wires_are, field, value),
            tooltip=tip,
        )
        for field, value, text, tip in LOOKS
    )
    fade = "The middle of long wires is faint; their ends stay clear"
    return (
        *chosen,
        ActionRow(
            "view.wires_fade",
            "Fade Long Wires",
            "View/Wires",
            1,
            c.toggle_fade,
            checked=partial(c.wires_are, "fade_long", True),
            tooltip=fade,
        ),
    )


def _trace_rows(canvas: CanvasView) -> tuple[Row, ...]:

    def some() -> bool:
        return bool(canvas.attention.selection)

    return (
        ActionRow(
            "select.feeding",
            "Select What Feeds It",
            "Edit/Selection",
            4,
            canvas.wire_commands.select_feeding,
            ("L",),
            when=some,
            tooltip="Select, too, everything whose value flows into the selection",
            canvas_only=True,
        ),
        ActionRow(
            "select.following",
            "Select What Follows",
            "Edit/Selection",
            4,
            canvas.wire_commands.select_following,
            ("Shift+L",),
            when=some,
            tooltip="Select, too, everything into which a value of the selection flows",
            canvas_only=True,
        ),
        ActionRow(
            "view.trace",
            "Trace the Selection",
            "View",
            1,
            canvas.wire_commands.toggle_trace,
            ("T",),
            checked=canvas.wire_commands.is_tracing,
            tooltip="Light what feeds and what follows the selection, fade everything else",
            canvas_only=True,
        ),
    )


def _edit_rows(canvas: CanvasView) -> tuple[Row, ...]:
    return (
        ActionRow(
            "graph.connect",
            "Connect…",
            "Graph",
            3,
            canvas.wire_commands.connect_selected,
            when=canvas.wire_commands.can_connect,
            tooltip="Choose the wires between two selected cards (or drag from card to card with Alt and right button)",
        ),
        ActionRow(
            "graph.swap_inputs",
            "Swap Inputs",
            "Graph",
            3,
            canvas.wire_commands.swap_inputs,
            ("Alt+S",),
            when=canvas.wire_commands.can_swap,
            tooltip="Exchange what stands in the first two inputs of the selected node",
        ),
        ActionRow(
            "graph.dot",
            "Put a Dot on the Wire",
            "Graph",
            3,
            canvas.wire_commands.put_dots,
            when=canvas.selection.has_wires,
            tooltip="Lead the selected wire through a dot to move (double-click on it, Ctrl+Shift+click or Alt+click)",
        ),
        ActionRow(
            "graph.mute_wire",
            "Mute Wire",
            "Graph",
            3,
            canvas.wire_commands.toggle_wires_muted,
            when=canvas.selection.has_wires,
            tooltip="Let the selected wire count as absent, or take it back (Ctrl+Alt and the right button over wires)",
        ),
    )
