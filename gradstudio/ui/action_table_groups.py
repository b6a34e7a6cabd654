"""Rows of the action table about groups that are reused."""

from gradstudio.ui.actions import ActionRow, Row
from gradstudio.ui.canvas.view import CanvasView

MENU = "Graph/Group"


def group_rows(canvas: CanvasView) -> tuple[Row, ...]:
    """Making groups, stepping into them and out, their inputs and outputs."""
    return (
        ActionRow(
            "group.step_in",
            "Step Into",
            MENU,
            2,
            canvas.step_in,
            ("Ctrl+I",),
            "step_into_group",
            canvas.can_step_in,
            tooltip="Show the inside of the selected group",
        ),
        ActionRow(
            "group.step_out",
            "Step Out",
            MENU,
            2,
            canvas.step_out,
            ("Ctrl+U",),
            "step_out_of_group",
            canvas.can_step_out,
            tooltip="Show what is around this group",
        ),
    )
