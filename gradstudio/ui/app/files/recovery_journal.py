"""Keeps the recovery journal of one document behind its edits, and behind what is typed in the Code dock."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from gradstudio.document.errors import DocumentError
from gradstudio.document.file import View
from gradstudio.document.journal import Journal, Recovered
from gradstudio.graph.slices import Slices, work_through
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle

WRITE_MS = 500
"""Each gesture is on disk when its event is over; where writing takes long, those that follow within half a second."""
REST, REST_BLOCKED = 20, 2
"""So many times as long as writing took of the processor, or kept the window waiting, nothing is written again."""
WORK = "recovery"
AGAIN_S = 60.0
"""A recovery folder that stays out of order is said again after so long."""
AGAIN_MS = 2000
"""And tried again after so long."""


class Recovery(QObject):
    """Writes the journal while there is something to lose, and takes it away when there is not.

    Attributes:
        unapplied: the text of the Code dock where it is not on the canvas; "" when all is.
        view: where the canvas looks, and its bookmarks; None: nobody knows.
    """

    def __init__(
        self,
        session: Session,
        folder: Path,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Follow a session; journals lie in `folder`, and `clock` says how many seconds have passed."""
        super().__init__(parent)
        self._session, self._folder, self._clock = session, folder, clock
        self._journal = Journal(folder)
        self._refused_at: float | None = None
        self._begun_at: float | None = None
        self.unapplied: Callable[[], str] = lambda: ""
        self.view: Callable[[], View | None] = lambda: None
        self._throttle = Throttle(WRITE_MS, self)
        self._throttle.due.connect(self._on_throttle_due)
        self._soon = Throttle(0, self)
        self._soon.due.connect(self._on_soon_due)
        self._waits = False
        session.graph_store.edited.connect(self.request)
        session.graph_store.clean_changed.connect(self._on_clean_changed)
        session.graph_store.replaced.connect(self._on_store_replaced)

    def request(self) -> None:
        """Something changed that is to be kept: it is written when the event is over, or later where one just was."""
        self._session.idle.cancel(WORK)
        if self._throttle.pending:
            self._waits = True
        else:
            self._soon.request()

    def write(self, *, durable: bool = False) -> bool:
        """Write what is not saved yet; whether there was something, and it is written.

        Args:
            durable: wait until the disk has it, so that a power cut cannot take it either.
        """
        self._session.idle.cancel(WORK)
        return work_through(self._write_slices(durable))

    def _write_slices(self, durable: bool = False) -> Slices[bool]:
        """As `write`; given up when the document changes meanwhile."""
        session, store = self._session, self._session.graph_store
        text = self.unapplied()
        if store.is_clean and not text:
            self._journal.discard()
            return False
        try:
            yield from self._journal.write_slices(
                store.graph,
                session.path,
                self.view(),
                subject=session.subject,
                title=session.title,
                identity=session.identity,
                unapplied=text,
                durable=durable,
            )
        except DocumentError as error:
            self._say_refused(error)
            return False
        if self._refused_at is not None:
            self._refused_at = None
            store.refused.emit("Unsaved changes are kept for recovery again.")
        return True

    def _say_refused(self, error: DocumentError) -> None:
        """What is wrong with the folder: once, and again while it lasts."""
        now = self._clock()
        if self._refused_at is None or now - self._refused_at >= AGAIN_S:
            self._refused_at = now
            logging.getLogger(__name__).info("no recovery: %s", error)
            self._session.graph_store.refused.emit(f"Unsaved changes cannot be kept for recovery: {error}")

    def take(self, left: Recovered) -> None:
        """Put what was left behind into this document, and keep it on.

        Raises:
            UnreadableFile: the journal is damaged; this document is untouched.
        """
        graph, view = left.load()
        self._session.restore(graph, left.document, left.subject, view, left.identity)
        self.write()
        left.discard()

    def close(self) -> None:
        """The document closes on purpose: nothing is left to recover."""
        self._rest()
        self._journal.discard()

    def _on_soon_due(self) -> None:
        if self._begun_at is None:
            self._begun_at = self._clock()
        late_s = self._clock() - self._begun_at
        self._session.idle.begin(WORK, self._keep())
        if late_s >= WRITE_MS / 1000:
            self._session.idle.finish(WORK)

    def _keep(self) -> Slices[None]:
        """Write it while nobody does anything; edits give it up, but only for so long."""
        began, worked = self._clock(), time.thread_time()
        yield from self._write_slices()
        self._begun_at = None
        rest_s = max((self._clock() - began) * REST_BLOCKED, (time.thread_time() - worked) * REST)
        rest_ms = min(WRITE_MS, round(rest_s * 1000))
        has_something = not self._session.graph_store.is_clean or bool(self.unapplied())
        self._waits = self._refused_at is not None and has_something
        self._throttle.set_interval(AGAIN_MS if self._waits else rest_ms)
        self._throttle.request()

    def _on_throttle_due(self) -> None:
        if self._waits:
            self._on_soon_due()

    def _rest(self) -> None:
        self._session.idle.cancel(WORK)
        self._begun_at = None
        self._soon.cancel()
        self._throttle.cancel()
        self._waits = False

    def _on_clean_changed(self, clean: bool) -> None:
        if clean:
            self._rest()
            if self.unapplied():
                self.request()
            else:
                self._journal.discard()

    def _on_store_replaced(self) -> None:
        self._rest()
        self._journal.discard()
        self._journal = Journal(self._folder)
