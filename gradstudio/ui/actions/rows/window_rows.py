"""Rows of the action table about the program itself: the command palette, preferences, keys, themes."""

from collections.abc import Iterator
from functools import partial

from gradstudio.ui.actions.action_set import ActionRow, MenuRow, Row
from gradstudio.ui.actions.window_commands import ShellCommands
from gradstudio.ui.theme import TITLES


def shell_rows(c: ShellCommands) -> tuple[Row, ...]:
    """What finds and changes the commands themselves."""
    palette = "Every command by a few letters of its name"
    return (
        *_theme_rows(c),
        ActionRow(
            "view.canvas_only",
            "Canvas Only",
            "View",
            3,
            c.canvas_only.toggle,
            ("Ctrl+Alt+F",),
            "fit",
            checked=c.canvas_only.is_on,
            tooltip="All panels and the timeline away; once more brings exactly them back",
        ),
        ActionRow(
            "help.palette", "Command Palette…", "Help", 2, c.palette, ("Ctrl+Shift+P",), "search", tooltip=palette
        ),
        ActionRow("help.shortcuts", "Shortcuts", "Help", 2, c.shortcuts, ("Ctrl+/",), "keyboard"),
        ActionRow(
            "edit.preferences",
            "Preferences…",
            "Edit",
            9,
            c.preferences,
            ("Ctrl+,",),
            "preferences",
            tooltip="Theme, text, canvas, runs, files and keys",
        ),
    )


def _theme_rows(c: ShellCommands) -> Iterator[Row]:
    for name, title in TITLES.items():
        choose, is_on = partial(c.choose_theme, name), partial(c.theme_is, name)
        yield ActionRow(f"view.theme_{name}", title, "View/Theme", 3, choose, checked=is_on)
    yield MenuRow("Own Themes", "View", 3, c.fill_own_themes)
