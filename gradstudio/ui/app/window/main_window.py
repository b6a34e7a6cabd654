"""Fills the frame: tabs and canvas in the middle, panels in the docks; what all documents share is built here."""

from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.operators.catalogue.loader import load
from gradstudio.ui import theme as themes
from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.actions.key_map import KeyMap, keys_now
from gradstudio.ui.actions.learning_commands import LearningCommands
from gradstudio.ui.actions.tab_commands import TabCommands
from gradstudio.ui.actions.view_commands import wire_view
from gradstudio.ui.actions.window_commands import ShellCommands
from gradstudio.ui.app.files.autosave import Autosave
from gradstudio.ui.app.files.documents import Documents, Tab, first_header
from gradstudio.ui.app.files.file_watch import DiskBand, DiskWatch
from gradstudio.ui.app.files.recovery_dialog import Recovering
from gradstudio.ui.app.files.unsaved_changes import may_close_all
from gradstudio.ui.app.window.apply_preferences import TakingUp
from gradstudio.ui.app.window.document_window import DocumentRoom
from gradstudio.ui.app.window.front_document import WindowParts
from gradstudio.ui.app.window.tab_strip import TabStrip
from gradstudio.ui.app.window.toolbar import ToolBar
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.app.window.workbench import Workbench
from gradstudio.ui.canvas.paint.card_picture import as_rich_text
from gradstudio.ui.docks.documentation import Documented, operator_at
from gradstudio.ui.docks.library.library_groups import LibraryGroups
from gradstudio.ui.docks.library.panel import LibraryPanel
from gradstudio.ui.state.document.overlays import OVERLAYS, Overlays
from gradstudio.ui.state.library.connection_statistics import Habits
from gradstudio.ui.state.library.favourites import Shelf
from gradstudio.ui.state.library.published_groups import Published
from gradstudio.ui.state.library.user_groups import definitions, is_own
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings, ThemeChoice
from gradstudio.ui.theme import Theme

PLOT_DELAY_MS = 400
"""pyqtgraph is imported this long after the window is filled, when it has answered its first clicks."""


class Themed(Protocol):
    """What can take up another theme."""

    def set_theme(self, theme: Theme) -> None:
        """Take up the theme."""


CARD_SCALE = 0.85
"""Of the cards in the Library's help."""


class MainWindow(WindowParts):
    """Everything inside the window; what belongs to one document is in its `DocumentRoom`."""

    actions: ActionSet

    def __init__(self, frame: Frame, session: Session, settings: Settings, theme: Theme) -> None:
        """Build everything around a first document, into a frame that may be shown already."""
        super().__init__(frame)
        self.frame, self.settings, self.theme = frame, settings, theme
        self.overlays, self.shelf, self.habits = Overlays(self), Shelf(self), Habits(self)
        self.published = self.shelf.published = Published(settings.folder / "groups", self)
        self._take_up_preferences()
        self.documents = Documents(session.engine.client, settings.state_folder / "recovery", self)
        self.documents.first_header = lambda: first_header(settings.preferences)
        self.documents.begin(session)
        self.tab_commands, self.shell = TabCommands(self.documents, self.go_to_dock, frame), ShellCommands(self)
        self.learning = LearningCommands(self)
        self._rooms: dict[Tab, DocumentRoom] = {}
        self._plots = False
        self.library = LibraryPanel(load(), theme, self.shelf)
        self.library.tree.first_words = lambda key: "" if is_own(key) else self.session.pages.first_sentence(key)
        self.library_groups = LibraryGroups(self.library, self.published)
        self.library.tree.picture = self._card_of
        frame.docks.fill({"library": self.library})
        self._build_first(session)
        self.recovering = Recovering(self.documents, settings.state_folder / "recovery", frame)
        self.autosave = Autosave(self.documents, settings, self)
        self._wire()
        self._wire_keeping()
        self.key_map = KeyMap(self.actions, settings, self)
        self.library.keys_of = partial(keys_now, self.actions, settings)
        self.taking_up = TakingUp(self)
        frame.layout_keeper.filled()
        self.room.focus()

    # ------------------------------------------------------------------ building

    def _card_of(self, key: str) -> str:
        """An operator's card, for the Library's help."""
        pictures, ratio = self.canvas.searching.pictures, self.frame.devicePixelRatioF()
        if is_own(key):
            pictures.definitions = definitions(self.session.shown_store.root.graph, self.published)
        return as_rich_text(pictures.of(key, self.theme, CARD_SCALE, ratio))

    def _take_up_preferences(self) -> None:
        chosen = self.settings.preferences
        for name in OVERLAYS:
            on = (self.overlays[name] or name in chosen.overlays_on) and name not in chosen.overlays_off
            self.overlays.switch(name, on)
        self.overlays.show_wires(wire_view(chosen))
        self.shelf.restore(chosen.favourites, chosen.recent_operators)
        self.habits.restore(chosen.habits)
        self.shelf.carries = chosen.ghost_placing

    def _build_first(self, session: Session) -> None:
        """The first document's room: menus and toolbar are made from its commands."""
        frame, theme = self.frame, self.theme
        tab = self.documents.add(session, show=False)
        room = DocumentRoom(self, session, tab.recovery)
        self.actions = ActionSet(room.rows, theme, frame)
        self.actions.fill_menus(frame.menus)
        self.toolbar = ToolBar(frame.toolbar, session, self.actions, room.graph.set_device, theme)
        self.strip = TabStrip(self.documents, self.tab_commands, self.actions, theme)
        self.band = DiskBand(self.documents, DiskWatch(self.documents, self), theme)
        self.workbench = Workbench(frame, self.strip, self.band)
        self._take_in(tab, room)
        for dock in frame.docks:
            self.actions.keep_off(dock)
        self.documents.shown.connect(self._on_documents_shown)
        self.documents.closed.connect(self._on_documents_closed)
        self.documents.changed.connect(self._show_title)
        self.documents.changed.connect(self.actions.refresh)
        self.documents.may_close = self._may_close
        self.documents.show(tab)

    def _take_in(self, tab: Tab, room: DocumentRoom) -> None:
        room.furnish(self.actions)
        self._rooms[tab] = room
        self.workbench.add(room)
        self.learning.take_in(room)
        if self._plots:
            QTimer.singleShot(PLOT_DELAY_MS, room, room.memory.load_plot)
        room.changed.connect(lambda: self._on_room_changed(room))
        room.problems_counted.connect(lambda count: self._on_problems_counted(room, count))

    def _wire(self) -> None:
        frame = self.frame
        self.overlays.changed.connect(self.actions.refresh)
        QGuiApplication.clipboard().dataChanged.connect(self.actions.refresh)
        self.library.chosen.connect(lambda key: self.canvas.add_operator(key))
        self.library.carried.connect(lambda key: self.canvas.carry_operator(key))
        self.library.said.connect(self.status.say)
        self.shelf.changed.connect(self._on_shelf_changed)
        self.habits.changed.connect(self._on_habits_changed)
        self.library.tree.selectionModel().currentChanged.connect(self._on_library_current_changed)
        frame.may_close = lambda: may_close_all(self.documents, self._may_close, self._save, frame)
        frame.closed.connect(self._on_frame_closed)
        frame.files_dropped.connect(self._on_frame_files_dropped)

    def _wire_keeping(self) -> None:
        """What keeps documents safe: recovery, autosave, what was open."""
        self.documents.filled.connect(lambda tab: QTimer.singleShot(0, self, lambda: self._offer_newer(tab)))
        self.documents.changed.connect(self._remember_open)
        self.documents.refused.connect(lambda words: self.status.say(words))
        self.documents.told.connect(lambda words: self.status.confirm(words))
        self.recovering.refused.connect(lambda words: self.status.say(words))
        self.recovering.typed_again.connect(lambda tab, text: self.room_of(tab).code.live.take_back(text))
        self.autosave.said.connect(lambda words: self.status.note(words))

    # ------------------------------------------------------------------ documents

    @property
    def room(self) -> DocumentRoom:
        """The room of the document in front."""
        return self.room_of(self.documents.current)

    def room_of(self, tab: Tab) -> DocumentRoom:
        """The room of a tab, built when it is first asked for."""
        if tab not in self._rooms:
            self._take_in(tab, DocumentRoom(self, tab.session, tab.recovery))
        return self._rooms[tab]

    @property
    def rooms(self) -> tuple[DocumentRoom, ...]:
        """Those that were built."""
        return tuple(self._rooms.values())

    def _offer_newer(self, tab: Tab) -> None:
        if tab in self.documents.tabs and tab.session.path is not None:
            self.recovering.offer_for(tab.session.path)

    def _remember_open(self) -> None:
        """What is open is opened again at the next start, also when the program does not end on purpose."""
        saved = [tab for tab in self.documents.tabs if tab.session.path is not None]
        paths = tuple(str(tab.session.path) for tab in saved)
        place = saved.index(self.documents.current) if self.documents.current in saved else 0
        kept = self.settings.preferences
        if (paths, place) != (kept.open_documents, kept.open_place):
            self.settings.change(open_documents=paths, open_place=place)

    def _may_close(self, tab: Tab) -> bool:
        """Ask about what is not saved, with the document in sight."""
        room = self._rooms.get(tab)
        if not tab.is_changed and (room is None or room.code.live.is_applied):
            return True
        self.documents.show(tab)
        return self.room.may_leave()

    def _save(self, tab: Tab) -> bool:
        self.documents.show(tab)
        return self.room.code.may_leave() and self.room.file.save()

    # ------------------------------------------------------------------ what may wait

    def load_plot_later(self) -> None:
        """Import the plot when the window has answered its first clicks."""
        self._plots = True
        QTimer.singleShot(PLOT_DELAY_MS, self, lambda: self.memory.load_plot())

    def looked_up(self) -> str:
        """The operator that a person looks at: where the focus is, else on the canvas, else in the Library."""
        widget: QWidget | None = self.frame.focusWidget()
        while widget is not None:
            if isinstance(widget, Documented):
                return widget.documented_operator()
            widget = widget.parentWidget()
        shown = operator_at(self.session.graph_store.graph, self.inspector.item)
        return shown or self.library.documented_operator()

    # ------------------------------------------------------------------ looks

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Take up the theme of that name, or the system's, and remember it."""
        self.settings.change(theme=choice)

    def set_theme(self, theme: Theme, text_scale: float | None = None) -> None:
        """Repaint everything in another theme, with text of another size where one is given."""
        self.theme = theme
        application = QApplication.instance()
        if isinstance(application, QApplication):
            themes.apply(application, theme, text_scale)
        around: tuple[Themed, ...] = (self.frame.docks, self.toolbar, self.actions, self.strip, self.band)
        for part in (*around, self.library, self.learning, *self.rooms):
            part.set_theme(theme)

    def _show_title(self) -> None:
        session = self.session
        self.frame.setWindowTitle(f"{session.title}[*] – GradStudio")
        self.frame.setWindowModified(not session.graph_store.is_clean)
        self.frame.setWindowFilePath(str(session.path or ""))

    # ------------------------------------------------------------------ slots

    def _on_documents_shown(self, tab: Tab) -> None:
        """Everything that follows the document in front turns to it."""
        for other in self.rooms:
            other.show_in_front(False)
        room = self.room_of(tab)
        self.actions.take_rows(room.rows)
        self.toolbar.take(room.session, room.graph.set_device)
        self.workbench.turn_to(room)
        self.library_groups.follow(room.session.shown_store)
        room.show_in_front(True)
        self.learning.turn_to(room)
        room.focus()
        self._show_title()

    def _on_documents_closed(self, tab: Tab) -> None:
        if (room := self._rooms.pop(tab, None)) is not None:
            self.workbench.remove(room)
            room.close()

    def _on_room_changed(self, room: DocumentRoom) -> None:
        if room.is_shown:
            self.actions.refresh()

    def _on_problems_counted(self, room: DocumentRoom, count: int) -> None:
        if room.is_shown:
            self.frame.docks["problems"].setWindowTitle(f"Problems ({count})" if count else "Problems")

    def _on_library_current_changed(self) -> None:
        self.documentation.show_operator(self.library.documented_operator())

    def _on_shelf_changed(self) -> None:
        """What a person keeps at hand is there the next time, too."""
        self.settings.change(favourites=self.shelf.favourites, recent_operators=self.shelf.recent)

    def _on_habits_changed(self) -> None:
        """What a person usually wires is known the next time, too."""
        self.settings.change(habits=self.habits.kept)

    def _on_frame_closed(self) -> None:
        for tab in self.documents.tabs:
            tab.recovery.close()
        self.session.engine.close()

    def _on_frame_files_dropped(self, paths: tuple[Path, ...]) -> None:
        """The drag ends first: a question within it would hold the other program up."""
        QTimer.singleShot(0, self, lambda: [self.file.open_path(path) for path in paths])

    # ------------------------------------------------------------------ what rooms ask

    def toggle_favourite(self) -> None:
        """Make the operator that a person looks at a favourite, or no longer, and say so."""
        key = self.looked_up()
        if key:
            words = "is a favourite now" if self.shelf.toggle(key) else "is no favourite any more"
            self.status.confirm(f"{key} {words}.")
        else:
            self.status.say("Select an operator in the Library or a node first.")

    def go_to_dock(self, key: str) -> None:
        """Show a dock and give its panel the keys."""
        self.frame.docks.bring_forward(key)
        self.room.panels[key].setFocus()

    def find_operator(self) -> None:
        """Put the cursor into the Library's search."""
        self.frame.docks.bring_forward("library")
        self.library.focus_search()
