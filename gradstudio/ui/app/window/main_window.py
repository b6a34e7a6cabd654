"""Fills the frame: tabs and canvas in the middle, panels in the docks; what all documents share is built here."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from gradstudio.ui import theme as themes
from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.actions.key_map import KeyMap
from gradstudio.ui.actions.learning_commands import LearningCommands
from gradstudio.ui.actions.tab_commands import TabCommands
from gradstudio.ui.actions.view_commands import wire_view
from gradstudio.ui.actions.window_commands import WindowCommands
from gradstudio.ui.app.files.documents import Documents, Tab, first_header
from gradstudio.ui.app.files.file_watch import DiskBand, DiskWatch
from gradstudio.ui.app.window.apply_preferences import PreferenceApplier
from gradstudio.ui.app.window.document_safety import DocumentSafety
from gradstudio.ui.app.window.document_window import DocumentWindow
from gradstudio.ui.app.window.front_document import FrontDocument
from gradstudio.ui.app.window.shared_library import SharedLibrary
from gradstudio.ui.app.window.tab_strip import TabStrip
from gradstudio.ui.app.window.toolbar import ToolBar
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.app.window.window_services import WindowServices
from gradstudio.ui.app.window.workbench import Workbench
from gradstudio.ui.docks.curves.first_curve import FirstCurve
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.library.connection_statistics import ConnectionStatistics
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings, ThemeChoice
from gradstudio.ui.state.trust.trusted_code import TrustedCode
from gradstudio.ui.theme import Theme, ThemedWidget
from gradstudio.ui.widgets.form_layout import strip_copied_breaks

if TYPE_CHECKING:
    from gradstudio.ui.docks.library.panel import LibraryPanel

PLOT_DELAY_MS = 400
"""pyqtgraph is imported this long after the window is filled, when it has answered its first clicks."""


class MainWindow(FrontDocument):
    """Everything inside the window; what belongs to one document is in its `DocumentWindow`."""

    actions: ActionSet
    taking_up: PreferenceApplier

    def __init__(self, frame: Frame, session: Session, settings: Settings, theme: Theme) -> None:
        """Build everything around a first document, into a frame that may be shown already."""
        super().__init__(frame)
        self.frame, self.settings, self.theme = frame, settings, theme
        self.overlays, self.shelf, self.habits = Overlays(self), Favourites(self), ConnectionStatistics(self)
        self._rooms: dict[Tab, DocumentWindow] = {}
        self._front: DocumentWindow | None = None
        self._plots = False
        self._take_up_preferences()
        self.documents = Documents(session.engine.client, settings.state_folder / "recovery", self)
        self.documents.first_header = lambda: first_header(settings.preferences)
        self.documents.begin(session)
        self.learning = LearningCommands(self, self)
        self.tab_commands = TabCommands(self.documents, self.go_to_dock, frame)
        self.shell = WindowCommands(self, lambda: self.taking_up.dress())
        self.shared_library = SharedLibrary(self, self.shelf, self.habits, self)
        self._services = self._services_of_documents()
        self._build_first(session)
        self.safety = DocumentSafety(self, self._rooms, self)
        self.recovering, self.autosave = self.safety.recovering, self.safety.autosave
        self.recovering.typed_again.connect(lambda tab, text: self.room_of(tab).code.live.take_back(text))
        self.overlays.changed.connect(self.actions.refresh)
        QGuiApplication.clipboard().dataChanged.connect(strip_copied_breaks)
        QGuiApplication.clipboard().dataChanged.connect(self.actions.refresh)
        frame.escaped.connect(lambda: self.room.lead_back())
        frame.closed.connect(self._on_frame_closed)
        frame.files_dropped.connect(self._on_frame_files_dropped)
        self.key_map = KeyMap(self.actions, settings, self)
        self.shared_library.wire()
        self.taking_up = PreferenceApplier(self, lambda: self.rooms, self)
        frame.layout_keeper.filled()
        self.focus_document()

    # ------------------------------------------------------------------ building

    def _take_up_preferences(self) -> None:
        chosen = self.settings.preferences
        self.overlays.restore(chosen.overlays_off, chosen.overlays_on)
        self.overlays.show_wires(wire_view(chosen))
        self.shelf.restore(chosen.favourites, chosen.recent_operators)
        self.habits.restore(chosen.habits)
        self.shelf.carries = chosen.ghost_placing

    def _services_of_documents(self) -> WindowServices:
        library = self.shared_library
        return WindowServices(
            frame=self.frame,
            settings=self.settings,
            documents=self.documents,
            overlays=self.overlays,
            shelf=self.shelf,
            habits=self.habits,
            tabs=self.tab_commands,
            shell=self.shell,
            learning=self.learning,
            trusted=TrustedCode(self.settings.folder),
            looked_up=library.looked_up,
            toggle_favourite=library.toggle_favourite,
            find_operator=library.find_operator,
        )

    def _build_first(self, session: Session) -> None:
        """The first document's room: menus and toolbar are made from its commands."""
        frame, theme = self.frame, self.theme
        tab = self.documents.add(session, show=False)
        room = self._document(tab)
        self.actions = ActionSet(room.rows, theme, frame)
        self.actions.fill_menus(frame.menus)
        frame.expect_key = self.actions.expect_key
        self.toolbar = ToolBar(frame.toolbar, session, self.actions, room.hosts, self.overlays, theme)
        self.strip = TabStrip(self.documents, self.tab_commands, self.actions, theme)
        self.band = DiskBand(self.documents, DiskWatch(self.documents, self), theme)
        self.workbench = Workbench(frame, self.strip, self.band)
        self._take_in(tab, room)
        for dock in frame.docks:
            self.actions.keep_off(dock)
        self.documents.shown.connect(self._on_documents_shown)
        self.documents.closed.connect(self._on_documents_closed)
        for another in (self.documents.changed, self.documents.marked):
            another.connect(self._show_title)
            another.connect(self.actions.refresh)
        self.documents.show(tab)

    def _document(self, tab: Tab) -> DocumentWindow:
        return DocumentWindow(self._services, tab.session, tab.recovery, self.theme, self)

    def _take_in(self, tab: Tab, room: DocumentWindow) -> None:
        room.furnish(self.actions)
        self._rooms[tab] = room
        self.workbench.add(room)
        self.learning.take_in(room.lesson, lambda: room.is_shown)
        if self._plots:
            QTimer.singleShot(PLOT_DELAY_MS, room, room.memory.load_plot)
        first_curve = FirstCurve(room.session.results.tables.curves, self.frame.docks, lambda: room.is_shown)
        room.destroyed.connect(first_curve.deleteLater)
        room.changed.connect(lambda: self._on_room_changed(room))
        room.problems_counted.connect(lambda count: self._on_problems_counted(room, count))

    # ------------------------------------------------------------------ documents

    @property
    def library(self) -> "LibraryPanel":
        """The Library, one for all documents."""
        return self.shared_library.panel

    @property
    def room(self) -> DocumentWindow:
        """The room of the document in front."""
        return self.room_of(self.documents.current)

    def room_of(self, tab: Tab) -> DocumentWindow:
        """The room of a tab, built when it is first asked for."""
        if tab not in self._rooms:
            self._take_in(tab, self._document(tab))
        return self._rooms[tab]

    @property
    def rooms(self) -> tuple[DocumentWindow, ...]:
        """Those that were built."""
        return tuple(self._rooms.values())

    # ------------------------------------------------------------------ what may wait

    def load_plot_later(self) -> None:
        """Import the plot when the window has answered its first clicks; a screen reader may have come by then."""
        self._plots = True
        QTimer.singleShot(PLOT_DELAY_MS, self, self._on_first_clicks_answered)

    # ------------------------------------------------------------------ looks

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Take up the theme of that name, or the system's, and remember it."""
        self.settings.change(theme=choice)

    def set_theme(self, theme: Theme, text_scale: float | None = None) -> None:
        """Repaint everything in another theme, with text of another size where one is given."""
        self.theme = theme
        for room in self.rooms:
            room.is_dressed = False
        application = QApplication.instance()
        if isinstance(application, QApplication):
            unseen = (widget for room in self.rooms if not room.is_shown for widget in room.widgets)
            themes.apply(application, theme, text_scale, unseen)
        around: tuple[ThemedWidget, ...] = (self.frame.docks, self.toolbar, self.actions, self.strip, self.band)
        for part in (*around, self.shared_library, self.learning):
            part.set_theme(theme)
        self.room.dress(theme)

    def _show_title(self) -> None:
        session = self.session
        self.frame.setWindowTitle(f"{session.title}[*] – GradStudio")
        self.frame.setWindowModified(not session.graph_store.is_clean)
        self.frame.setWindowFilePath(str(session.path or ""))

    # ------------------------------------------------------------------ slots

    def _on_documents_shown(self, tab: Tab) -> None:
        """Everything that follows the document in front turns to it."""
        if self._front is not None:
            self._front.show_in_front(False)
        room = self._front = self.room_of(tab)
        room.dress(self.theme)
        self.actions.take_rows(room.rows)
        self.toolbar.take(room.session, room.hosts)
        self.workbench.turn_to(room)
        self.shared_library.turn_to(room)
        room.show_in_front(True)
        self.learning.turn_to(room.lesson)
        room.focus()
        self._show_title()

    def _on_first_clicks_answered(self) -> None:
        self.memory.load_plot()
        self.frame.docks.turn_to(self.room.panels)

    def _on_documents_closed(self, tab: Tab) -> None:
        if (room := self._rooms.pop(tab, None)) is not None:
            self.workbench.remove(room)
            room.close()

    def _on_room_changed(self, room: DocumentWindow) -> None:
        if room.is_shown:
            self.actions.refresh(soon=not room.session.run.status.slide.is_brief)

    def _on_problems_counted(self, room: DocumentWindow, count: int) -> None:
        if room.is_shown:
            self.frame.docks["problems"].setWindowTitle(f"Problems ({count})")

    def _on_frame_closed(self) -> None:
        for tab in self.documents.tabs:
            tab.recovery.close()
        self.session.engine.close()

    def _on_frame_files_dropped(self, paths: tuple[Path, ...]) -> None:
        """The drag ends first: a question within it would hold the other program up."""
        QTimer.singleShot(0, self, lambda: [self.file.open_path(path) for path in paths])

    # ------------------------------------------------------------------ what rooms ask

    def focus_document(self) -> None:
        """Give the canvas in front the keys."""
        self.room.focus()

    def go_to_dock(self, key: str) -> None:
        """Show a dock and give its panel the keys."""
        self.frame.docks.bring_forward(key)
        self.room.panels[key].setFocus()
