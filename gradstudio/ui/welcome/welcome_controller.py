"""When the welcome page is shown and what its choices do; the page is built when it is first wanted."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.ui.welcome.welcome_page import WelcomePage


class WelcomeController(QObject):
    """Shows the welcome page over a window, and takes it away as soon as a document is wanted.

    Signals:
        tour_asked(): the tour is wanted.
    """

    tour_asked = Signal()

    def __init__(self, window: WindowHost, parent: QObject) -> None:
        """Nothing is built yet."""
        super().__init__(parent)
        self._window = window
        self.page: WelcomePage | None = None
        self._lies_over: tuple[object, ...] = ()
        window.documents.begins_on_blank = self._begin_on_blank

    @property
    def is_shown(self) -> bool:
        """Whether the page lies over the window."""
        return self.page is not None and not self.page.isHidden()

    def show(self) -> None:
        """Show the page, with the files there are now."""
        page, kept = self._built(), self._window.settings
        page.set_recent(kept.recent, datetime.now())
        page.at_start.blockSignals(True)
        page.at_start.setChecked(kept.preferences.welcome)
        page.at_start.blockSignals(False)
        page.put_first("new" if kept.preferences.tour_done else "tour")
        page.begin()
        self._lies_over = self._what_is_open()

    def hide(self) -> None:
        """Take the page away; the canvas has the keys."""
        if self.page is not None and self.is_shown:
            self.page.hide()
            self._window.focus_document()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        if self.page is not None:
            self.page.set_theme(theme)

    # ------------------------------------------------------------------ inner workings

    def _built(self) -> "WelcomePage":
        if self.page is not None:
            return self.page
        from gradstudio import paths
        from gradstudio.ui.welcome.example_gallery import groups
        from gradstudio.ui.welcome.thumbnails import Thumbnails
        from gradstudio.ui.welcome.welcome_page import WelcomePage

        window = self._window
        frame, kept_at = window.frame, window.settings.state_folder / "pictures"
        pictures = Thumbnails(kept_at, window.theme, frame.devicePixelRatioF(), self)
        page = self.page = WelcomePage(frame, groups(paths.examples()), pictures, window.theme)
        page.asked.connect(self._on_page_asked)
        page.recent_chosen.connect(self._on_page_recent_chosen)
        page.example_chosen.connect(self._on_page_example_chosen)
        page.at_start_chosen.connect(lambda on: window.settings.change(welcome=on))
        page.left.connect(self._on_page_left)
        for happened in (window.documents.shown, window.documents.edited, window.documents.filled):
            happened.connect(self.hide)
        window.documents.changed.connect(self._on_documents_changed)
        return page

    def _what_is_open(self) -> tuple[object, ...]:
        session = self._window.session
        return (session, session.path, session.subject)

    def _is_empty(self) -> bool:
        """Whether the document in front is one in which nothing was done yet."""
        return self._window.session.is_blank

    def _begin_on_blank(self) -> bool:
        """A new document is asked for while the page lies over an empty one: the page makes way for that."""
        if not self.is_shown or not self._is_empty():
            return False
        self._on_page_left()
        return True

    # ------------------------------------------------------------------ slots

    def _on_documents_changed(self) -> None:
        """Titles and marks may change below the page; another document takes it away."""
        if self._what_is_open() != self._lies_over:
            self.hide()

    def _on_page_asked(self, verb: str) -> None:
        window = self._window
        match verb:
            case "tour":
                self.hide()
                self.tour_asked.emit()
            case "new":
                if not self._is_empty():
                    window.file.new()
                self._on_page_left()
            case "open":
                window.file.open()
            case "import":
                window.file.import_module()

    def _on_page_recent_chosen(self, path: Path) -> None:
        if self._window.file.open_path(path):
            self.hide()

    def _on_page_example_chosen(self, path: Path) -> None:
        if self._window.file.open_example(path):
            self.hide()

    def _on_page_left(self) -> None:
        self.hide()
