"""The rows of the open documents: close, bring back, go from one to another."""

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.tab_commands import TabCommands


def tab_rows(c: TabCommands) -> tuple[Row, ...]:
    """All of them, in the menus File, Edit and View."""
    steps = "Every step of the document: a click goes back there, or forward again"
    return (
        *_closing_rows(c),
        *_walking_rows(c),
        ActionRow("edit.history", "History", "Edit", 1, c.show_history, icon="undo", tooltip=steps),
    )


def _closing_rows(c: TabCommands) -> tuple[Row, ...]:
    again = "Bring back the document that was closed last, with what was not saved of it"
    return (
        ActionRow(
            "file.close", "Close", "File", 4, c.close, ("Ctrl+W", "Ctrl+F4"), "close", tooltip="Close the document"
        ),
        ActionRow("file.close_others", "Close Others", "File", 4, c.close_others, when=c.has_others),
        ActionRow(
            "file.reopen", "Reopen Closed", "File", 4, c.reopen, ("Ctrl+Shift+T",), "undo", c.can_reopen, tooltip=again
        ),
        ActionRow("file.reload", "Reload from Disk", "File", 4, c.reload, when=c.has_file, icon="rerun"),
    )


def _walking_rows(c: TabCommands) -> tuple[Row, ...]:
    following, before = ("Ctrl+Tab", "Ctrl+PgDown"), ("Ctrl+Shift+Tab", "Ctrl+PgUp")
    return (
        ActionRow("view.next_tab", "Next Tab", "View/Tabs", 4, c.following, following, when=c.has_others),
        ActionRow("view.previous_tab", "Previous Tab", "View/Tabs", 4, c.before, before, when=c.has_others),
        ActionRow("view.tab_left", "Move Tab Left", "View/Tabs", 5, c.move_left, when=c.has_others),
        ActionRow("view.tab_right", "Move Tab Right", "View/Tabs", 5, c.move_right, when=c.has_others),
    )
