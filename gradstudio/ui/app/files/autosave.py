"""Autosave: what is not saved is put on the disk for good every few minutes, beside the file and never over it."""

import time

from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.ui.app.files.documents import Documents, Tab
from gradstudio.ui.state.settings import Settings


class Autosave(QObject):
    """Begins to count at the first unsaved change; the person's own file is written by the person alone.

    Signals:
        said(object): what was kept, and when.
    """

    said = Signal(object)

    def __init__(self, documents: Documents, settings: Settings, parent: QObject | None = None) -> None:
        """Follow all documents."""
        super().__init__(parent)
        self._documents, self._settings = documents, settings
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.keep_all)
        documents.edited.connect(self._on_documents_edited)

    def keep_all(self) -> None:
        """Put down now what is not saved, of every document, and say so."""
        if not self._settings.preferences.autosave:
            return
        kept = [tab for tab in self._documents.tabs if tab.recovery.write(durable=True)]
        if kept:
            self.said.emit(f"{time.strftime('%H:%M')}  {_words(kept)}")

    def _on_documents_edited(self) -> None:
        if self._settings.preferences.autosave and not self._timer.isActive():
            self._timer.start(max(self._settings.preferences.autosave_s, 0) * 1000)


def _words(kept: list[Tab]) -> str:
    if len(kept) > 1:
        return f"Autosaved a copy of {len(kept)} documents{_files_words(kept)}."
    session = kept[0].session
    if session.path is None:
        return f"Autosaved a copy of “{session.title}”, which has no file yet."
    return f"Autosaved a copy beside “{session.title}”; the file is as you saved it."


def _files_words(kept: list[Tab]) -> str:
    """What became of the files of several documents: nothing, where they have one."""
    with_file = sum(tab.session.path is not None for tab in kept)
    if not with_file:
        return ", which have no files yet"
    if with_file == len(kept):
        return "; their files are as you saved them"
    return "; the files of those you saved are as you saved them"
