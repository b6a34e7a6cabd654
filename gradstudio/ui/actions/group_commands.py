"""Groups that are reused: making them, using them again, stepping into them and out; the canvas carries it out."""

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.canvas.view import CanvasView

MENU = "Graph/Group"


def group_rows(canvas: CanvasView) -> tuple[Row, ...]:
    """Making groups, using them again, stepping into them and out."""
    return (*_making_rows(canvas), *_scope_rows(canvas))


def _making_rows(canvas: CanvasView) -> tuple[Row, ...]:
    return (
        ActionRow(
            "group.make",
            "Make group…",
            MENU,
            1,
            canvas.group_commands.make_group,
            ("Ctrl+G",),
            "make_group",
            canvas.group_commands.can_make_group,
            tooltip="Make a group of the selection, with inputs and outputs, that can be used again",
        ),
        ActionRow(
            "group.ungroup",
            "Ungroup",
            MENU,
            1,
            canvas.group_commands.ungroup,
            ("Ctrl+Shift+G",),
            "unwrap",
            canvas.group_commands.can_ungroup,
            tooltip="Put what a group holds in its place, or take the block around the selection away",
        ),
        ActionRow(
            "group.rename",
            "Rename group…",
            MENU,
            1,
            canvas.group_commands.rename_group,
            when=canvas.group_commands.has_group,
        ),
        ActionRow(
            "group.unique",
            "Make unique copy",
            MENU,
            1,
            canvas.group_commands.make_unique,
            when=canvas.group_commands.has_group,
            tooltip="Give this call a group of its own, so that edits inside change no other",
        ),
        ActionRow(
            "group.publish",
            "Publish to the Library",
            MENU,
            1,
            canvas.group_commands.publish,
            when=canvas.group_commands.has_group,
            tooltip="Keep the selected group under My groups in the Library, for every document",
        ),
    )


def _scope_rows(canvas: CanvasView) -> tuple[Row, ...]:
    return (
        ActionRow(
            "group.step_in",
            "Step into",
            MENU,
            2,
            canvas.group_commands.step_in,
            ("Ctrl+I",),
            "step_into_group",
            canvas.group_commands.can_step_in,
            tooltip="Show the inside of the selected group",
        ),
        ActionRow(
            "group.step_out",
            "Step out",
            MENU,
            2,
            canvas.group_commands.step_out,
            ("Ctrl+U",),
            "step_out_of_group",
            canvas.group_commands.can_step_out,
            tooltip="Show what is around this group",
        ),
    )
