"""The commands of the open documents: close, bring back, go to another, copy where one lies."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.app.files.documents import Documents, Tab


class TabCommands(QObject):
    """Works on the row of tabs; a tab that is not named is the one in front."""

    def __init__(
        self, documents: Documents, bring_forward: Callable[[str], None], parent: QObject | None = None
    ) -> None:
        """Nothing happens yet; `bring_forward` shows a dock and gives it the keys."""
        super().__init__(parent)
        self._documents, self._bring_forward = documents, bring_forward

    def close(self, tab: Tab | None = None) -> None:
        """Close a document, after asking about unsaved changes."""
        self._documents.close(tab)

    def close_others(self, tab: Tab | None = None) -> None:
        """Close all but one."""
        self._documents.close_others(tab or self._documents.current)

    def reopen(self) -> None:
        """Bring back what was closed last."""
        self._documents.reopen()

    def reload(self) -> None:
        """Read the file again; what was not saved can be brought back with Reopen closed."""
        self._documents.reload(self._documents.current)

    def following(self) -> None:
        """The next tab; behind the last comes the first."""
        self._documents.step(1)

    def before(self) -> None:
        """The tab before."""
        self._documents.step(-1)

    def move_left(self) -> None:
        """Put the tab one place further left."""
        self._move(-1)

    def move_right(self) -> None:
        """Put the tab one place further right."""
        self._move(1)

    def copy_path(self, tab: Tab) -> None:
        """Put the path of a document's file on the clipboard."""
        QApplication.clipboard().setText(str(tab.session.path or ""))

    def reveal(self, tab: Tab) -> None:
        """Show the folder of a document's file in the system's file manager."""
        if tab.session.path is not None:
            open_folder(tab.session.path.parent)

    def show_history(self) -> None:
        """Bring the steps of the document forward, with the keys on them."""
        self._bring_forward("history")

    def has_others(self) -> bool:
        """Whether more than one document is open."""
        return len(self._documents.tabs) > 1

    def can_reopen(self) -> bool:
        """Whether a document was closed."""
        return bool(self._documents.history)

    def has_file(self) -> bool:
        """Whether the document in front is a file's."""
        return self._documents.is_any_shown and self._documents.current.session.path is not None

    def _move(self, by: int) -> None:
        place = self._documents.place
        if 0 <= place + by < len(self._documents.tabs):
            self._documents.move(place, place + by)


def open_folder(folder: Path) -> None:
    """Show a folder in the system's file manager."""
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QDesktopServices

    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


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
        ActionRow("file.close_others", "Close others", "File", 4, c.close_others, when=c.has_others),
        ActionRow(
            "file.reopen", "Reopen closed", "File", 4, c.reopen, ("Ctrl+Shift+T",), "undo", c.can_reopen, tooltip=again
        ),
        ActionRow("file.reload", "Reload from disk", "File", 4, c.reload, when=c.has_file, icon="rerun"),
    )


def _walking_rows(c: TabCommands) -> tuple[Row, ...]:
    following, before = ("Ctrl+Tab", "Ctrl+PgDown"), ("Ctrl+Shift+Tab", "Ctrl+PgUp")
    return (
        ActionRow("view.next_tab", "Next tab", "View/Tabs", 4, c.following, following, when=c.has_others),
        ActionRow("view.previous_tab", "Previous tab", "View/Tabs", 4, c.before, before, when=c.has_others),
        ActionRow("view.tab_left", "Move tab left", "View/Tabs", 5, c.move_left, when=c.has_others),
        ActionRow("view.tab_right", "Move tab right", "View/Tabs", 5, c.move_right, when=c.has_others),
    )
