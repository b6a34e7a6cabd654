"""The main window: canvas in the middle, docks around it; built and wired here, and nowhere else."""

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from gradstudio.document.file import View
from gradstudio.operators.catalogue import load
from gradstudio.ui import theme as themes
from gradstudio.ui.action_table import Commands, action_rows
from gradstudio.ui.actions import ActionSet
from gradstudio.ui.canvas import CanvasView
from gradstudio.ui.commands.context import Context
from gradstudio.ui.commands.edit import EditCommands
from gradstudio.ui.commands.file import SUFFIX, FileCommands
from gradstudio.ui.commands.graph import GraphCommands
from gradstudio.ui.commands.help import HelpCommands
from gradstudio.ui.commands.view import ViewCommands
from gradstudio.ui.main_window_docks import Docks
from gradstudio.ui.panels.code import CodePanel
from gradstudio.ui.panels.inspector import InspectorPanel
from gradstudio.ui.panels.library import LibraryPanel
from gradstudio.ui.panels.log import LogPanel, ProblemsPanel
from gradstudio.ui.panels.memory import MemoryPanel
from gradstudio.ui.panels.status import StatusBar
from gradstudio.ui.recovery import Recovery
from gradstudio.ui.settings import Settings, ThemeChoice
from gradstudio.ui.state.overlays import OVERLAYS, Overlays
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.toolbar import ToolBar

LAYOUT_VERSION = 1
PLOT_DELAY_MS = 400
"""pyqtgraph is imported this long after the first paint, when the window has answered its first clicks."""


class Themed(Protocol):
    """What can take up another theme."""

    def set_theme(self, theme: Theme) -> None: ...


class MainWindow(QMainWindow):
    """One document's window.

    Signals:
        first_painted(): once, after the window was painted for the first time.
    """

    first_painted = Signal()

    def __init__(self, session: Session, settings: Settings, theme: Theme) -> None:
        """Build everything around a session; nothing is started yet."""
        super().__init__()
        self.session, self.settings, self.theme = session, settings, theme
        self._painted = False
        self.setObjectName("main")
        self.setAcceptDrops(True)
        self.overlays = Overlays(self)
        for name in settings.preferences.overlays_off:
            if name in OVERLAYS:
                self.overlays.switch(name, False)
        self.canvas = CanvasView(session, self.overlays, theme)
        self.setCentralWidget(self.canvas)
        self._build_panels()
        self._build_commands()
        self.recovery = Recovery(session, settings.state_folder / "recovery", self)
        self._wire()
        self._restore_geometry()
        self._show_title()

    # ------------------------------------------------------------------ building

    def _build_panels(self) -> None:
        session, theme = self.session, self.theme
        self.library = LibraryPanel(load(), theme)
        self.inspector = InspectorPanel(session, theme)
        self.memory = MemoryPanel(session.memory, theme)
        self.code = CodePanel(session, theme)
        self.log, self.problems = LogPanel(session, theme), ProblemsPanel(session, theme)
        self.docks = Docks(
            self,
            {
                "library": ("Library", self.library),
                "inspector": ("Inspector", self.inspector),
                "memory": ("Memory", self.memory),
                "code": ("Code", self.code),
                "log": ("Log", self.log),
                "problems": ("Problems", self.problems),
            },
        )
        self.status = StatusBar(session, theme, self)
        self.setStatusBar(self.status)

    def _build_commands(self) -> None:
        context = Context(self.session, self.overlays, self.settings, self.canvas, self)
        self.file = FileCommands(context, self)
        self.graph = GraphCommands(
            context, self.inspector, lambda: self.docks.bring_forward("inspector"), self._find_operator
        )
        commands = Commands(
            file=self.file,
            edit=EditCommands(context),
            view=ViewCommands(context, self.choose_theme, self.reset_layout, self.docks.fill_menu),
            graph=self.graph,
            run=self.session.run,
            help=HelpCommands(self.session, self, lambda: self.actions_.shortcut_sheet()),
        )
        self.actions_ = ActionSet(action_rows(commands), self.theme, self)
        self.actions_.fill_menu_bar(self.menuBar())
        self.toolbar = ToolBar(self.session, self.actions_, self.graph.set_device, self.theme, self)
        self.addToolBar(self.toolbar)

    def _wire(self) -> None:
        session, refresh = self.session, self.actions_.refresh
        store = session.graph_store
        store.history_changed.connect(refresh)
        store.replaced.connect(refresh)
        store.clean_changed.connect(lambda clean: self.setWindowModified(not clean))
        session.attention.selection_changed.connect(refresh)
        session.run.state_changed.connect(lambda _state: refresh())
        session.engine.state_changed.connect(lambda _state: refresh())
        session.path_changed.connect(self._on_session_path_changed)
        self.overlays.changed.connect(refresh)
        self.library.chosen.connect(self._on_library_chosen)
        self.canvas.view_changed.connect(lambda: self.status.show_zoom(self.canvas.zoom))
        self.canvas.status_message.connect(self.status.say)
        self.file.said.connect(lambda text: self.status.say(text, "ok"))
        self.problems.counted.connect(self._on_problems_counted)
        self.code.copied.connect(lambda: self.status.say("Copied the program", "ok"))

    # ------------------------------------------------------------------ after the first paint

    def begin(self) -> None:
        """Start what may wait until the window is seen: the engine, the plot."""
        self.canvas.setFocus()
        self.session.engine.start()
        QTimer.singleShot(PLOT_DELAY_MS, self, self.memory.load_plot)

    # ------------------------------------------------------------------ looks

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Take up the theme of that name, or the system's."""
        theme = themes.theme(resolve(choice))
        if theme != self.theme:
            self.set_theme(theme)
        self.actions_.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Repaint everything in another theme."""
        self.theme = theme
        application = QApplication.instance()
        if isinstance(application, QApplication):
            themes.apply(application, theme)
        for part in self._themed():
            part.set_theme(theme)

    def _themed(self) -> tuple[Themed, ...]:
        panels = (self.library, self.inspector, self.memory, self.code, self.log, self.problems)
        return (self.canvas, *panels, self.status, self.toolbar, self.actions_)

    def reset_layout(self) -> None:
        """Put all docks back where they stood at first."""
        self.docks.arrange(self.width(), self.height())

    def _restore_geometry(self) -> None:
        screen = self.screen().availableGeometry()
        saved, state = self.settings.window.value("geometry"), self.settings.window.value("state")
        if isinstance(saved, QByteArray) and self.restoreGeometry(saved):
            self.docks.arrange(self.width(), self.height())
            if isinstance(state, QByteArray):
                self.restoreState(state, LAYOUT_VERSION)
            return
        self.resize(min(1720, screen.width()), min(1040, screen.height()))
        if screen.width() <= 1920:
            self.setWindowState(Qt.WindowState.WindowMaximized)
        self.docks.arrange(self.width(), self.height())

    def _show_title(self) -> None:
        self.setWindowTitle(f"{self.session.title}[*] – GradStudio")
        self.setWindowModified(not self.session.graph_store.is_clean)
        self.setWindowFilePath(str(self.session.path or ""))

    def _on_session_path_changed(self) -> None:
        self._show_title()
        view = self.session.view
        if view is not None and view != View():
            self.canvas.restore_view(view.zoom, view.x, view.y)

    def _on_problems_counted(self, count: int) -> None:
        self.docks["problems"].setWindowTitle(f"Problems ({count})" if count else "Problems")

    def _on_library_chosen(self, key: str) -> None:
        self.canvas.add_operator(key)

    def _find_operator(self) -> None:
        self.docks.bring_forward("library")
        self.library.focus_search()

    # ------------------------------------------------------------------ Qt overrides

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() == QEvent.Type.UpdateRequest and not self._painted:
            self._painted = True
            self.first_painted.emit()
        return handled

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.file.may_leave():
            event.ignore()
            return
        self.settings.window.setValue("geometry", self.saveGeometry())
        self.settings.window.setValue("state", self.saveState(LAYOUT_VERSION))
        self.settings.window.sync()
        self.recovery.close()
        self.session.engine.close()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_file(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_file(event)
        if path is not None:
            event.acceptProposedAction()
            QTimer.singleShot(0, self, lambda: self.file.open_path(path))


def resolve(choice: ThemeChoice) -> themes.ThemeName:
    """The theme that a choice means here and now; dark where the system does not say."""
    if choice != "system":
        return choice
    scheme = QApplication.styleHints().colorScheme()
    return "light" if scheme == Qt.ColorScheme.Light else "dark"


def dropped_file(event: QDropEvent) -> Path | None:
    """The one document that is being dropped, or None."""
    urls = event.mimeData().urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    path = Path(urls[0].toLocalFile())
    return path if path.suffix == SUFFIX else None
