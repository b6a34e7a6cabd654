"""What a large document is made of lives as long as the document: the collector of garbage need not walk through it.

A collection of everything takes 60 to 90 ms beside 10,000 nodes, in the middle of whatever a person does, and finds
nothing. Such a document is looked through rarely, and what is there when it has come to rest after an edit is set aside
(`gc.freeze`) until the document is closed.
"""

import gc
from typing import Final

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from gradstudio.ui.state.idle_work import IdleWork

RARELY: Final = 100
"""So many collections of what is young come before one of all that is not set aside; Python has 10."""
QUIET_MS: Final = 1000
"""So long after the last slice of its long work a document is at rest."""


class LongLived(QObject):
    """Sets aside what was made for a large document, whenever it is at rest."""

    def __init__(self, idle: IdleWork, parent: QObject | None = None) -> None:
        """Nothing was made yet."""
        super().__init__(parent)
        self._is_large = self._is_aside = False
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(QUIET_MS)
        self._quiet.timeout.connect(self._on_quiet_timeout)
        idle.ended.connect(self._on_idle_ended)

    def expect(self) -> None:
        """Much is being made that will stay."""
        self._is_large = True
        gc.set_threshold(*gc.get_threshold()[:2], RARELY)
        self._quiet.start()

    def let_go(self) -> None:
        """What was made is given up: it may be garbage by now, and is looked for when it has gone."""
        self._is_large = False
        self._quiet.stop()
        application = QCoreApplication.instance()
        if self._is_aside and application is not None:
            gc.unfreeze()
            QTimer.singleShot(QUIET_MS, application, _collect)
        self._is_aside = False

    def _on_idle_ended(self) -> None:
        if self._is_large:
            self._quiet.start()

    def _on_quiet_timeout(self) -> None:
        self._is_aside = True
        gc.collect(1)
        gc.freeze()


def _collect() -> None:
    gc.collect()
    gc.freeze()
