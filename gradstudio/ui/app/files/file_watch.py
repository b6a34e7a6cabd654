"""Notices that another program has written a file that is open here, and asks; nothing is taken away unasked."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from gradstudio.ui.app.files.documents import Documents
from gradstudio.ui.state.document.file_stamp import GONE, stamp_of
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme

LOOK_MS = 150
"""A program that writes a file in several goes is done by then."""


class DiskWatch(QObject):
    """Watches the files of all tabs.

    Signals:
        looked(): the document in front, or its file, may be another one now.
    """

    looked = Signal()

    def __init__(self, documents: Documents, parent: QObject | None = None) -> None:
        """Watch what is open now and later."""
        super().__init__(parent)
        self._documents = documents
        self._watcher = QFileSystemWatcher(self)
        self._throttle = Throttle(LOOK_MS, self)
        self._throttle.due.connect(self._look)
        self._watcher.fileChanged.connect(self._throttle.request)
        self._watcher.directoryChanged.connect(self._throttle.request)
        documents.changed.connect(self._throttle.request)
        self._look()

    def _look(self) -> None:
        """Watch anew: a file that is replaced is another one to the system, and is forgotten."""
        paths = [tab.session.path for tab in self._documents.tabs if tab.session.path is not None]
        folders = [path.parent for path in paths]
        wanted = {str(path) for path in (*paths, *folders) if path.exists()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if gone := watched - wanted:
            self._watcher.removePaths(sorted(gone))
        if new := wanted - watched:
            self._watcher.addPaths(sorted(new))
        self.looked.emit()


class DiskBand(QFrame):
    """Says above the canvas that the file is another one now; hidden while it is not."""

    def __init__(self, documents: Documents, watch: DiskWatch, theme: Theme) -> None:
        """Follow the document in front."""
        super().__init__()
        self._documents = documents
        self.setObjectName("disk_band")
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.reload, self.keep = QPushButton("Reload", self), QPushButton("Keep mine", self)
        self.reload.setToolTip("Read the file again; unsaved changes of yours come back with File ▸ Reopen closed")
        self.keep.setToolTip("Stay with what is on the canvas; saving it asks once more")
        self.reload.clicked.connect(self._on_reload_clicked)
        self.keep.clicked.connect(self._on_keep_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        row.addWidget(self.words, 1)
        row.addWidget(self.reload)
        row.addWidget(self.keep)
        self.hide()
        self.set_theme(theme)
        watch.looked.connect(self.look)
        documents.shown.connect(self.look)

    def look(self) -> None:
        """Show or hide, as the file of the document in front is."""
        session = self._documents.current.session
        changed = session.changed_on_disk
        if changed and session.path is not None:
            self._say(session.path, unsaved=not session.graph_store.is_clean)
        self.setVisible(changed)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.setStyleSheet(
            f"QFrame#disk_band {{ background: {theme.surface_raised}; border-bottom: 2px solid {theme.warning}; }}"
            f"QFrame#disk_band QLabel {{ color: {theme.text}; font-weight: 600; }}"
            "QFrame#disk_band QPushButton { padding: 2px 10px; }"
        )

    def _say(self, path: Path, *, unsaved: bool) -> None:
        gone = stamp_of(path) == GONE
        self.reload.setVisible(not gone)
        if gone:
            self.words.setText(f"“{path.name}” was removed or renamed by another program. What is here stays here.")
        else:
            rest = " You have unsaved changes, too." if unsaved else ""
            self.words.setText(f"“{path.name}” was changed by another program.{rest}")

    def _on_reload_clicked(self) -> None:
        self._documents.reload(self._documents.current)
        self.look()

    def _on_keep_clicked(self) -> None:
        self._documents.current.session.keep_mine()
        self.look()
