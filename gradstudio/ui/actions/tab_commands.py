"""The commands of the open documents: close, bring back, go to another, copy where one lies."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

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
        """Read the file again; what was not saved can be brought back with Reopen Closed."""
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
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
