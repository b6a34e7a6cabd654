"""Keeps the recovery journal behind the edits, and offers what was left behind at the next start."""

import logging
import time
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMessageBox, QWidget

from gradstudio.document.errors import DocumentError
from gradstudio.document.journal import Journal, Recovered, recoverable
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle

WRITE_MS = 500
"""A gesture is on disk half a second after it."""
Role = QMessageBox.ButtonRole


class Recovery(QObject):
    """Writes the journal while there are unsaved changes, and takes it away when there are none."""

    def __init__(self, session: Session, folder: Path, parent: QObject | None = None) -> None:
        """Follow a session; journals lie in `folder`."""
        super().__init__(parent)
        self._session, self._folder = session, folder
        self._journal = Journal(folder)
        self._warned = False
        self._throttle = Throttle(WRITE_MS, self)
        self._throttle.due.connect(self.write)
        session.graph_store.edited.connect(self._throttle.request)
        session.graph_store.clean_changed.connect(self._on_clean_changed)
        session.graph_store.replaced.connect(self._on_store_replaced)

    def write(self) -> None:
        """Write what is not saved yet."""
        store = self._session.graph_store
        if store.is_clean:
            return
        try:
            self._journal.write(store.graph, self._session.path)
        except DocumentError as error:
            if not self._warned:
                logging.getLogger(__name__).info("no recovery: %s", error)
                store.refused.emit(f"Unsaved changes cannot be kept for recovery: {error}")
            self._warned = True

    def close(self) -> None:
        """The window closes on purpose: nothing is left to recover."""
        self._throttle.cancel()
        self._journal.discard()

    def left_behind(self) -> list[Recovered]:
        """Documents that a program left unsaved when it ended, the newest first."""
        return recoverable(self._folder) if self._folder.is_dir() else []

    def offer(self, window: QWidget) -> bool:
        """Ask what to do with the newest document left behind; True when it was opened."""
        for left in self.left_behind()[:1]:
            answer = _ask(left, window)
            if answer == "discard":
                left.discard()
            elif answer == "recover":
                return self._recover(left)
        return False

    def _recover(self, left: Recovered) -> bool:
        try:
            graph, _view = left.load()
        except DocumentError as error:
            self._session.graph_store.refused.emit(f"The unsaved changes cannot be read: {error}")
            return False
        self._session.restore(graph, left.document)
        self.write()
        left.discard()
        return True

    def _on_clean_changed(self, clean: bool) -> None:
        if clean:
            self._throttle.cancel()
            self._journal.discard()

    def _on_store_replaced(self) -> None:
        self._throttle.cancel()
        self._journal.discard()
        self._journal = Journal(self._folder)


def _ask(left: Recovered, window: QWidget) -> str:
    name = left.document.name if left.document is not None else "an untitled document"
    when = time.strftime("%d %b %H:%M", time.localtime(left.written))
    box = QMessageBox(window)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Recover unsaved changes")
    box.setText(f"GradStudio ended while {name} had unsaved changes.")
    box.setInformativeText(f"They were kept on {when}. Opening them changes no file.")
    recover = box.addButton("Recover", Role.AcceptRole)
    discard = box.addButton("Discard", Role.DestructiveRole)
    box.addButton("Ask Later", Role.RejectRole)
    box.setDefaultButton(recover)
    box.exec()
    clicked = box.clickedButton()
    return "recover" if clicked is recover else "discard" if clicked is discard else "later"
