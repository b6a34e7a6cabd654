"""Fills the frame: canvas in the middle, panels in the docks; built and wired here, and nowhere else."""

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.document.file import View
from gradstudio.graph.model import ItemId
from gradstudio.graph.names import title
from gradstudio.operators.catalogue import load
from gradstudio.ui import theme as themes
from gradstudio.ui.action_table import Commands, action_rows
from gradstudio.ui.action_table_nav import ZOOM_MENU
from gradstudio.ui.actions import ActionSet
from gradstudio.ui.canvas import CanvasView
from gradstudio.ui.canvas.typed_view import TypedView
from gradstudio.ui.code_room import CodeRoom
from gradstudio.ui.commands.context import Context
from gradstudio.ui.commands.debug import DebugCommands
from gradstudio.ui.commands.edit import EditCommands
from gradstudio.ui.commands.file import FileCommands
from gradstudio.ui.commands.graph import GraphCommands
from gradstudio.ui.commands.help import HelpCommands
from gradstudio.ui.commands.nav import NavCommands
from gradstudio.ui.commands.shell import ShellCommands
from gradstudio.ui.commands.view import ViewCommands
from gradstudio.ui.main_window_frame import Frame
from gradstudio.ui.panels.breakpoints import BreakpointsPanel
from gradstudio.ui.panels.code import CodePanel
from gradstudio.ui.panels.documentation import DocumentationPanel, Documented, operator_at
from gradstudio.ui.panels.inspector import InspectorPanel
from gradstudio.ui.panels.library import LibraryPanel
from gradstudio.ui.panels.log import LogPanel
from gradstudio.ui.panels.memory import MemoryPanel
from gradstudio.ui.panels.problems import ProblemsPanel
from gradstudio.ui.panels.status import StatusBar
from gradstudio.ui.recovery import Recovery
from gradstudio.ui.settings import Settings, ThemeChoice
from gradstudio.ui.size_dialog import may_run
from gradstudio.ui.state.overlays import OVERLAYS, Overlays
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme
from gradstudio.ui.timeline import TimelinePanel, Workspace
from gradstudio.ui.toolbar import ToolBar
from gradstudio.ui.unapplied import Unapplied

LOOKING_MS = 200
PLOT_DELAY_MS = 400
"""pyqtgraph is imported this long after the window is filled, when it has answered its first clicks."""


class Themed(Protocol):
    """What can take up another theme."""

    def set_theme(self, theme: Theme) -> None:
        """Take up the theme."""


ThemedPanel = (
    LibraryPanel
    | InspectorPanel
    | DocumentationPanel
    | MemoryPanel
    | CodePanel
    | LogPanel
    | ProblemsPanel
    | BreakpointsPanel
)


class MainWindow(QObject):
    """Everything inside one document's window."""

    def __init__(self, frame: Frame, session: Session, settings: Settings, theme: Theme) -> None:
        """Build everything around a session, into a frame that may be shown already."""
        super().__init__(frame)
        self.frame, self.session, self.settings, self.theme = frame, session, settings, theme
        self.overlays, self._looking = Overlays(self), Throttle(LOOKING_MS, self)
        for name in OVERLAYS:
            chosen = settings.preferences
            self.overlays.switch(
                name, (self.overlays[name] or name in chosen.overlays_on) and name not in chosen.overlays_off
            )
        self.canvas = CanvasView(session, self.overlays, theme)
        self.typed_view = TypedView(self.canvas)
        self.shelf = self.canvas.searching.shelf
        self.shelf.restore(settings.preferences.favourites, settings.preferences.recent_operators)
        self.habits = self.canvas.searching.habits
        self.habits.restore(settings.preferences.habits)
        self._build_panels()
        self._build_commands()
        self.timeline = TimelinePanel(session, self.actions, theme)
        self.workspace = Workspace(self.canvas, self.timeline, session.attention, settings, theme)
        frame.setCentralWidget(self.workspace)
        for panel in (*frame.docks, self.timeline):
            self.actions.keep_off(panel)
        self.recovery = Recovery(session, settings.state_folder / "recovery", self)
        self._wire()
        self._show_title()
        frame.layout_keeper.filled()
        self.canvas.setFocus()
        QTimer.singleShot(0, self, self._focus_canvas)

    # ------------------------------------------------------------------ building

    def _build_panels(self) -> None:
        session, theme = self.session, self.theme
        self.library = LibraryPanel(load(), theme, self.shelf)
        self.library.tree.first_words = session.pages.first_sentence
        self.inspector = InspectorPanel(session, theme)
        self.documentation = DocumentationPanel(session, theme)
        self.memory = MemoryPanel(session, theme)
        self.code = CodePanel(session, theme)
        self.log, self.problems = LogPanel(session, theme), ProblemsPanel(session, theme)
        self.breakpoints = BreakpointsPanel(session, theme)
        self.frame.docks.fill(self._panels())
        self.status = StatusBar(session, theme, self.frame)
        self.frame.setStatusBar(self.status)

    def _build_commands(self) -> None:
        context = Context(self.session, self.overlays, self.settings, self.canvas, self.frame)
        docks, self.shell = self.frame.docks, ShellCommands(self)
        self.file = FileCommands(context, self)
        self.graph = GraphCommands(
            context,
            self.inspector,
            lambda: docks.bring_forward("inspector"),
            self._find_operator,
            self._toggle_favourite,
        )
        commands = Commands(
            file=self.file,
            edit=EditCommands(context),
            view=ViewCommands(
                context,
                self.choose_theme,
                self.frame.layout_keeper.reset,
                docks.fill_menu,
                lambda: self.workspace.toggle_timeline(),
                self._shows_timeline,
                self.code,
                self._edit_code,
            ),
            graph=self.graph,
            run=self.session.run,
            debug=DebugCommands(context),
            nav=NavCommands(context),
            help=HelpCommands(
                self.session, self.frame, lambda: self.actions.shortcut_sheet(), self.documented_operator
            ),
            shell=self.shell,
        )
        self.actions: ActionSet = ActionSet(action_rows(commands), self.theme, self.frame)
        self.actions.fill_menus(self.frame.menus)
        self.status.zoom.offer(self.actions[key] for key in ZOOM_MENU)
        self.toolbar = ToolBar(self.frame.toolbar, self.session, self.actions, self.graph.set_device, self.theme)

    def _wire(self) -> None:
        session, refresh, frame = self.session, self.actions.refresh, self.frame
        store = session.graph_store
        store.history_changed.connect(refresh)  # not the stack itself: it still signals while it dies
        store.replaced.connect(refresh)
        store.clean_changed.connect(self._on_store_clean_changed)
        session.attention.selection_changed.connect(refresh)
        session.attention.moment_changed.connect(refresh)
        session.debug.changed.connect(refresh)
        session.player.changed.connect(refresh)
        session.results.recorded.connect(refresh)
        self.workspace.timeline_switched.connect(refresh)
        session.run.state_changed.connect(refresh)
        session.engine.state_changed.connect(refresh)
        session.path_changed.connect(self._on_session_path_changed)
        self.overlays.changed.connect(refresh)
        self.library.chosen.connect(self._on_library_chosen)
        self.shelf.changed.connect(self._on_shelf_changed)
        self.habits.changed.connect(self._on_habits_changed)
        self.library.tree.selectionModel().currentChanged.connect(self._on_library_current_changed)
        session.pages.requested.connect(self._on_pages_requested)
        self.canvas.view_changed.connect(self._on_canvas_view_changed)
        self.canvas.status_message.connect(self.status.say)
        self.canvas.said.connect(self.status.note)
        self.canvas.what_if_requested.connect(self._on_canvas_what_if_requested)
        self.file.said.connect(self.status.confirm)
        self.file.warned.connect(self.status.say)
        self.file.left_out = Unapplied(session, self.code.live, self.status).saved
        self.problems.counted.connect(self._on_problems_counted)
        self.code.said.connect(self.status.confirm)
        self.code.left.connect(self.canvas.setFocus)
        self.code_room = CodeRoom(frame, self.code, self.canvas)
        self.code.live.applying.connect(self.typed_view.remember)
        self.code.added.connect(self.typed_view.show)
        self.code.show_hints(self.settings.preferences.code_hints)
        self.code.hints_changed.connect(self._on_code_hints_changed)
        self._looking.due.connect(self._on_looking_due)
        store.edited.connect(self._looking.request)
        store.replaced.connect(self._looking.request)
        session.run.confirm_size = lambda need: may_run(need, title(store.graph, need.node), self.frame)
        frame.may_close = lambda: self.code.may_leave() and self.file.may_leave()
        frame.closed.connect(self._on_frame_closed)
        frame.file_dropped.connect(self._on_frame_file_dropped)

    # ------------------------------------------------------------------ what may wait

    def load_plot_later(self) -> None:
        """Import the plot when the window has answered its first clicks."""
        QTimer.singleShot(PLOT_DELAY_MS, self, self.memory.load_plot)

    def _focus_canvas(self) -> None:
        """Once more when it is shown: what is hidden does not get the focus of a window that is active already."""
        if self.frame.focusWidget() in (None, self.canvas):
            self.canvas.setFocus()

    def _shows_timeline(self) -> bool:
        """Also asked while the window is still being built."""
        return self.settings.preferences.timeline

    def documented_operator(self) -> str:
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
        """Take up the theme of that name, or the system's."""
        theme = themes.theme(themes.resolve(choice))
        if theme != self.theme:
            self.set_theme(theme)
        self.actions.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Repaint everything in another theme."""
        self.theme = theme
        application = QApplication.instance()
        if isinstance(application, QApplication):
            themes.apply(application, theme)
        for part in self._themed():
            part.set_theme(theme)

    def _themed(self) -> tuple[Themed, ...]:
        frame = (self.frame.docks, self.status, self.toolbar, self.actions)
        return (self.canvas, *self._panels().values(), *frame, self.timeline, self.workspace)

    def _panels(self) -> dict[str, ThemedPanel]:
        return {
            "library": self.library,
            "inspector": self.inspector,
            "documentation": self.documentation,
            "memory": self.memory,
            "code": self.code,
            "log": self.log,
            "problems": self.problems,
            "breakpoints": self.breakpoints,
        }

    def _show_title(self) -> None:
        self.frame.setWindowTitle(f"{self.session.title}[*] – GradStudio")
        self.frame.setWindowModified(not self.session.graph_store.is_clean)
        self.frame.setWindowFilePath(str(self.session.path or ""))

    # ------------------------------------------------------------------ slots

    def _on_session_path_changed(self) -> None:
        self._show_title()
        view = self.session.view
        if view is not None and view != View():
            self.canvas.restore_view(view.zoom, view.x, view.y)

    def _on_code_hints_changed(self, mode: object) -> None:
        self.settings.change(code_hints=mode)
        self.actions.refresh()

    def _on_store_clean_changed(self, clean: bool) -> None:
        self.frame.setWindowModified(not clean)

    def _on_canvas_view_changed(self) -> None:
        self.status.show_zoom(self.canvas.zoom)
        self._looking.request()

    def _on_looking_due(self) -> None:
        """The engine summarises first what is in view."""
        self.session.run.visible = self.canvas.visible_items()

    def _on_problems_counted(self, count: int) -> None:
        self.frame.docks["problems"].setWindowTitle(f"Problems ({count})" if count else "Problems")

    def _on_canvas_what_if_requested(self, item: object) -> None:
        """The number of that node is typed into the inspector's table."""
        self.frame.docks.bring_forward("inspector")
        self.session.attention.select((ItemId(str(item)),))
        reason = self.inspector.try_number()
        if reason:
            self.status.say(reason)

    def _on_library_current_changed(self) -> None:
        self.documentation.show_operator(self.library.documented_operator())

    def _on_pages_requested(self, key: object) -> None:
        """A person wants to read that page; "" shows the one that was read last."""
        self.frame.docks.bring_forward("documentation")
        self.documentation.show_operator(str(key))

    def _on_library_chosen(self, key: str) -> None:
        self.canvas.add_operator(key)

    def _on_shelf_changed(self) -> None:
        """What a person keeps at hand is there the next time, too."""
        self.settings.change(favourites=self.shelf.favourites, recent_operators=self.shelf.recent)

    def _on_habits_changed(self) -> None:
        """What a person usually wires is known the next time, too."""
        self.settings.change(habits=self.habits.kept)

    def _on_frame_closed(self) -> None:
        self.recovery.close()
        self.session.engine.close()

    def _on_frame_file_dropped(self, path: Path) -> None:
        """The drag ends first: a question within it would hold the other program up."""
        QTimer.singleShot(0, self, lambda: self.file.open_path(path))

    def _toggle_favourite(self) -> None:
        """Make the operator that a person looks at a favourite, or no longer, and say so."""
        key = self.documented_operator()
        if key:
            words = "is a favourite now" if self.shelf.toggle(key) else "is no favourite any more"
            self.status.confirm(f"{key} {words}.")
        else:
            self.status.say("Select an operator in the Library or a node first.")

    def _edit_code(self) -> None:
        """Put the cursor into the program's text."""
        self.frame.docks.bring_forward("code")
        self.code.editor.setFocus()
        self.code_room.grow()

    def _find_operator(self) -> None:
        self.frame.docks.bring_forward("library")
        self.library.focus_search()
