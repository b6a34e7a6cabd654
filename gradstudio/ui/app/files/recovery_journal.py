"""Keeps the recovery journal of one document behind its edits, and behind what is typed in the Code dock."""

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from gradstudio.document.errors import DocumentError
from gradstudio.document.file import View
from gradstudio.document.journal import Journal, Recovered
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle

WRITE_MS = 500
"""A gesture is on disk half a second after it."""


class Recovery(QObject):
    """Writes the journal while there is something to lose, and takes it away when there is not.

    Attributes:
        unapplied: the text of the Code dock where it is not on the canvas; "" when all is.
        view: where the canvas looks, and its bookmarks; None: nobody knows.
    """

    def __init__(self, session: Session, folder: Path, parent: QObject | None = None) -> None:
        """Follow a session; journals lie in `folder`."""
        super().__init__(parent)
        self._session, self._folder = session, folder
        self._journal = Journal(folder)
        self._warned = False
        self.unapplied: Callable[[], str] = lambda: ""
        self.view: Callable[[], View | None] = lambda: None
        self._throttle = Throttle(WRITE_MS, self)
        self._throttle.due.connect(self.write)
        session.graph_store.edited.connect(self._throttle.request)
        session.graph_store.clean_changed.connect(self._on_clean_changed)
        session.graph_store.replaced.connect(self._on_store_replaced)

    def request(self) -> None:
        """Something changed that is to be kept: it is written in a moment."""
        self._throttle.request()

    def write(self, *, durable: bool = False) -> bool:
        """Write what is not saved yet; whether there was something, and it is written.

        Args:
            durable: wait until the disk has it, so that a power cut cannot take it either.
        """
        session, store = self._session, self._session.graph_store
        text = self.unapplied()
        if store.is_clean and not text:
            self._journal.discard()
            return False
        try:
            self._journal.write(
                store.graph,
                session.path,
                self.view(),
                subject=session.subject,
                title=session.title,
                unapplied=text,
                durable=durable,
            )
        except DocumentError as error:
            if not self._warned:
                logging.getLogger(__name__).info("no recovery: %s", error)
                store.refused.emit(f"Unsaved changes cannot be kept for recovery: {error}")
            self._warned = True
            return False
        return True

    def take(self, left: Recovered) -> None:
        """Put what was left behind into this document, and keep it on.

        Raises:
            UnreadableFile: the journal is damaged; this document is untouched.
        """
        graph, view = left.load()
        self._session.restore(graph, left.document, left.subject, view)
        self.write()
        left.discard()

    def close(self) -> None:
        """The document closes on purpose: nothing is left to recover."""
        self._throttle.cancel()
        self._journal.discard()

    def _on_clean_changed(self, clean: bool) -> None:
        if clean:
            self._throttle.cancel()
            if self.unapplied():
                self._throttle.request()
            else:
                self._journal.discard()

    def _on_store_replaced(self) -> None:
        self._throttle.cancel()
        self._journal.discard()
        self._journal = Journal(self._folder)
