"""Rows of the action table about the program itself: the command palette, preferences."""

from gradstudio.ui.actions import ActionRow, Row
from gradstudio.ui.commands.shell import ShellCommands


def shell_rows(c: ShellCommands) -> tuple[Row, ...]:
    """What finds and changes the commands themselves."""
    return (
        ActionRow(
            "help.palette",
            "Command Palette…",
            "Help",
            1,
            c.palette,
            ("Ctrl+Shift+P",),
            "search",
            tooltip="Every command by a few letters of its name",
        ),
    )
