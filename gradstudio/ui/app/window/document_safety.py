"""What keeps documents safe: recovery, autosave, what was open, the questions before a tab or the window closes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from gradstudio.ui.app.files.autosave import Autosave
from gradstudio.ui.app.files.documents import Documents, Tab
from gradstudio.ui.app.files.recovery_dialog import RecoveryOffer
from gradstudio.ui.app.window.document_window import DocumentWindow

if TYPE_CHECKING:
    from gradstudio.ui.app.window.window_host import WindowHost


class DocumentSafety(QObject):
    """Watches over the open documents of a window.

    Attributes:
        recovering: asks about what programs left behind unsaved.
        autosave: writes what is changed, where a person wants that.
    """

    def __init__(self, window: "WindowHost", rooms: Mapping[Tab, DocumentWindow], parent: QObject) -> None:
        """Follow the window's documents; `rooms` are those that were built, and go on growing."""
        super().__init__(parent)
        settings, documents = window.settings, window.documents
        self._window, self._rooms = window, rooms
        self.recovering = RecoveryOffer(documents, settings.state_folder / "recovery", window.frame)
        self.autosave = Autosave(documents, settings, self)
        documents.may_close = self._may_close
        window.frame.may_close = self._may_close_all
        documents.filled.connect(lambda tab: QTimer.singleShot(0, self, lambda: self._offer_newer(tab)))
        documents.changed.connect(self._remember_open)
        documents.shown.connect(self._remember_open)
        documents.refused.connect(lambda words: window.status.say(words))
        documents.status_message.connect(lambda words: window.status.confirm(words))
        self.recovering.refused.connect(lambda words: window.status.say(words))
        self.autosave.said.connect(lambda words: window.status.note(words))

    @property
    def _documents(self) -> Documents:
        return self._window.documents

    def _offer_newer(self, tab: Tab) -> None:
        if tab in self._documents.tabs and tab.session.path is not None:
            self.recovering.offer_for(tab.session.path)
        if tab in self._documents.tabs and not tab.session.is_untouched:
            tab.session.offer_cut_off_run()

    def _remember_open(self) -> None:
        """What is open is opened again at the next start, also when the program does not end on purpose."""
        documents, settings = self._documents, self._window.settings
        saved = [tab for tab in documents.tabs if tab.session.path is not None]
        paths = tuple(str(tab.session.path) for tab in saved)
        place = saved.index(documents.current) if documents.current in saved else 0
        kept = settings.preferences
        if (paths, place) != (kept.open_documents, kept.open_place):
            settings.change(open_documents=paths, open_place=place)

    def _may_close(self, tab: Tab) -> bool:
        """Ask about what is not saved, with the document in sight."""
        room = self._rooms.get(tab)
        if not tab.is_changed and (room is None or room.code.live.is_applied):
            return True
        self._documents.show(tab)
        return self._rooms[tab].may_leave()

    def _may_close_all(self) -> bool:
        from gradstudio.ui.app.files.unsaved_changes import may_close_all

        return may_close_all(self._documents, self._may_close, self._save, self._window.frame)

    def _save(self, tab: Tab) -> bool:
        self._documents.show(tab)
        room = self._rooms[tab]
        return room.code.may_leave() and room.file.save()
