"""Everything that belongs to one open document: its canvas, timeline, panels and commands.

A room is built when its tab is first shown. What all documents share (library, overlays, actions, toolbar) is the
window's and never made here.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gradstudio.document.file import View
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.graph.text.item_titles import title
from gradstudio.ui import theme as themes
from gradstudio.ui.actions.access_commands import AccessCommands
from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.actions.action_table import Commands, action_rows
from gradstudio.ui.actions.analyse_commands import AnalyseCommands
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.actions.edit_commands import EditCommands
from gradstudio.ui.actions.file_commands import FileCommands
from gradstudio.ui.actions.graph_commands import GraphCommands
from gradstudio.ui.actions.help_commands import HelpCommands
from gradstudio.ui.actions.key_map import keys_now
from gradstudio.ui.actions.navigation_commands import ZOOM_MENU, NavigationCommands
from gradstudio.ui.actions.run_commands import DebugCommands, HostCommands
from gradstudio.ui.actions.view_commands import ViewCommands
from gradstudio.ui.app.files.recovery_journal import Recovery
from gradstudio.ui.app.window.code_dock_size import CodeDockSize
from gradstudio.ui.app.window.code_sync_warning import CodeSyncWarning
from gradstudio.ui.app.window.status_bar import StatusBar
from gradstudio.ui.app.window.status_menus import StatusMenus
from gradstudio.ui.app.window.window_services import WindowServices
from gradstudio.ui.canvas.code_edit_view import CodeEditView
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.docks.dock_panels import DockPanels
from gradstudio.ui.docks.dock_registry import DOCKS, PanelParts
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Preferences
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme, ThemedWidget
from gradstudio.ui.timeline.panel import TimelinePanel
from gradstudio.ui.timeline.workspace import Workspace
from gradstudio.ui.widgets.screen_reader import RunAnnouncer, announce

if TYPE_CHECKING:
    from pathlib import Path

    from gradstudio.protocol.messages.inference import Need
    from gradstudio.ui.docks.breakpoints.panel import BreakpointsPanel
    from gradstudio.ui.docks.code.panel import CodePanel
    from gradstudio.ui.docks.documentation.panel import DocumentationPanel
    from gradstudio.ui.docks.history_panel import HistoryPanel
    from gradstudio.ui.docks.inspector.panel import InspectorPanel
    from gradstudio.ui.docks.lesson.panel import LessonPanel
    from gradstudio.ui.docks.memory.panel import MemoryPanel
    from gradstudio.ui.docks.messages.log_panel import LogPanel
    from gradstudio.ui.docks.messages.problems_panel import ProblemsPanel
    from gradstudio.ui.docks.outline.panel import OutlinePanel
    from gradstudio.ui.state.trust.code_question import CodePart

LOOKING_MS = 200
SECOND_MS = 1000


class DocumentWindow(QObject):
    """One document as it is seen and worked on.

    Attributes:
        rows: the commands, as this document carries them out.
        panels: what it has in the docks, by dock.
        is_shown: its tab is the one in front.
        is_dressed: it wears the theme of now.

    Signals:
        changed(): something that an action may depend on is another one now.
        problems_counted(object): how many problems there are now.
    """

    changed = Signal()
    problems_counted = Signal(object)

    def __init__(
        self, services: WindowServices, session: Session, recovery: Recovery, theme: Theme, parent: QObject
    ) -> None:
        """Build what the commands need; `furnish` makes the rest, when there are actions."""
        super().__init__(parent)
        self._services = services
        self.session = session
        self._recovery = recovery
        self._theme = theme
        self.is_shown, self.is_dressed = False, True
        self.problem_count = 0
        self._looking = Throttle(LOOKING_MS, self)
        self.canvas = CanvasView(session, services.overlays, theme)
        self.canvas.shelf, self.canvas.searching.habits = services.shelf, services.habits
        self.typed_view = CodeEditView(self.canvas, self.canvas.navigation)
        self.panels = DockPanels({row.id: partial(self._build_panel, row.factory) for row in DOCKS if row.factory})
        self.memory, self.code = cast("MemoryPanel", self.panels["memory"]), cast("CodePanel", self.panels["code"])
        self.log = cast("LogPanel", self.panels["log"])
        self.lesson = cast("LessonPanel", self.panels["lesson"])
        self.status = StatusBar(session, theme)
        self._build_commands()
        self.rows = action_rows(self.commands)

    @property
    def inspector(self) -> "InspectorPanel":
        """What is said of the selected item."""
        return cast("InspectorPanel", self.panels["inspector"])

    @property
    def problems(self) -> "ProblemsPanel":
        """What is wrong."""
        return cast("ProblemsPanel", self.panels["problems"])

    @property
    def documentation(self) -> "DocumentationPanel":
        """The page of torch's documentation."""
        return cast("DocumentationPanel", self.panels["documentation"])

    @property
    def outline(self) -> "OutlinePanel":
        """The statements as a tree."""
        return cast("OutlinePanel", self.panels["outline"])

    @property
    def breakpoints(self) -> "BreakpointsPanel":
        """Where a run stops."""
        return cast("BreakpointsPanel", self.panels["breakpoints"])

    @property
    def history(self) -> "HistoryPanel":
        """The steps of the document."""
        return cast("HistoryPanel", self.panels["history"])

    def furnish(self, actions: ActionSet) -> None:
        """Build what is made from actions, and connect everything."""
        services, session, theme = self._services, self.session, self._theme
        self.timeline = TimelinePanel(session, actions, theme)
        self.workspace = Workspace(self.canvas, self.timeline, session.attention, services.settings)
        actions.keep_off(self.timeline)
        self.canvas.keys_of = partial(keys_now, actions, services.settings)
        self.canvas.command_requested.connect(lambda command: actions[str(command)].trigger())
        engine = [actions.on_button(key) for key in ("run.take_up", "run.restart", "run.stop", "run.host", "run.here")]
        self.status_menus = StatusMenus(self.status, self.hosts, engine, session.run.status, theme)
        self.status.zoom.offer(actions.on_button(key) for key in ZOOM_MENU)
        self.status.show_switch(actions.on_button("edit.snap"))
        self.code_room = CodeDockSize(services.frame, self.code, self.canvas)
        self._wire_session()
        self._wire_parts()
        self._keep_typed()
        self._take_up_view()
        self.take_preferences(services.settings.preferences)

    def take_preferences(self, chosen: Preferences) -> None:
        """Be as this person wants it."""
        self.canvas.take_preferences(chosen)
        self.canvas.input_dispatcher.use_keys(chosen.keys)
        self.session.results.tables.pace.set_interval(SECOND_MS // max(chosen.frames_per_second, 1))
        if self.session.run.questions.computes_small != chosen.run_small:
            self.session.run.questions.computes_small = chosen.run_small
        if self.code.hints != chosen.code_hints:
            self.code.choose_hints(chosen.code_hints)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme, self.is_dressed = theme, True
        for part in (self.canvas, *self.panels.built.values(), self.status, self.timeline, self.workspace):
            if isinstance(part, ThemedWidget):
                part.set_theme(theme)
        self.analyse.set_theme(theme)

    def dress(self, theme: Theme) -> None:
        """Take up the theme of now, where that was put off because nothing of this was seen."""
        if not self.is_dressed:
            themes.style_late(self.widgets)
            self.set_theme(theme)

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        """All that is this document's alone."""
        return *self.panels.built.values(), self.status, self.workspace

    def show_in_front(self, shown: bool) -> None:
        """Its tab comes to the front, or goes behind another one."""
        self.is_shown = self.session.engine.shown = shown
        self.analyse.show_in_front(shown)
        if shown:
            self.workspace.take_up_preference()
            self.canvas.take_preferences(self._services.settings.preferences)
            self.session.run.come_to_front()
            self.problems_counted.emit(self.problem_count)

    def may_leave(self) -> bool:
        """Ask about what would be lost; False keeps the document open."""
        return self.code.may_leave() and self.file.may_leave()

    def close(self) -> None:
        """The document is closed for good: its widgets go."""
        self._recovery.unapplied, self._recovery.view = lambda: "", lambda: None
        self.analyse.close()
        for widget in self.widgets:
            widget.setParent(None)
            widget.deleteLater()
        self.deleteLater()

    # ------------------------------------------------------------------ building

    def _build_panel(self, factory: Callable[[PanelParts], QWidget]) -> QWidget:
        """A panel, in the theme of now."""
        return factory(PanelParts(self.session, self.canvas, self._theme))

    def _build_commands(self) -> None:
        services, session = self._services, self.session
        frame, settings, docks = services.frame, services.settings, services.frame.docks
        context = Context(session, services.overlays, settings, self.canvas, frame)
        self.file = FileCommands(context, services.documents, self)
        self.graph = GraphCommands(context, services.find_operator, services.toggle_favourite, docks.bring_forward)
        self.analyse = AnalyseCommands(context, self)
        self.hosts = HostCommands(context, self.graph.set_device, docks.bring_forward)
        self.commands = Commands(
            file=self.file,
            edit=EditCommands(context, lambda words: self.status.confirm(words)),
            view=ViewCommands(
                context,
                frame.layout_keeper.reset,
                frame.docks.fill_menu,
                lambda: self.workspace.toggle_timeline(),
                lambda: settings.preferences.timeline,
                self.code,
                self._edit_code,
            ),
            graph=self.graph,
            run=session.run,
            debug=DebugCommands(context),
            hosts=self.hosts,
            nav=NavigationCommands(context),
            help=HelpCommands(session, frame, services.looked_up),
            tabs=services.tabs,
            shell=services.shell,
            learning=services.learning,
            access=AccessCommands(frame, self._middle, self.tell),
            analyse=self.analyse,
        )

    def _middle(self) -> dict[str, QWidget]:
        return {"Canvas": self.canvas, "Timeline": self.timeline}

    def tell(self, words: str) -> None:
        """Say something in the status bar and to a screen reader; "" takes it away."""
        self.status.note(words)
        if words:
            announce(self.status, words)

    def _wire_session(self) -> None:
        session, store, changed = self.session, self.session.graph_store, self.changed
        store.history_changed.connect(changed)  # not the stack itself: it still signals while it dies
        store.replaced.connect(changed)
        session.attention.selection_changed.connect(changed)
        session.attention.moment_changed.connect(changed)
        session.debug.changed.connect(changed)
        session.scope.changed.connect(changed)
        session.player.changed.connect(changed)
        session.results.tables.recorded.connect(changed)
        session.run.state_changed.connect(changed)
        session.run.status.slide.rested.connect(changed)
        session.run.status.slide.lasted.connect(changed)
        session.engine.state_changed.connect(changed)
        self.canvas.bookmarks.changed.connect(changed)
        self.canvas.bookmarks.edited.connect(self._on_bookmarks_edited)
        session.path_changed.connect(self._take_up_view)
        session.pages.requested.connect(self._on_pages_requested)
        store.edited.connect(self._looking.request)
        store.replaced.connect(self._looking.request)
        session.run.code_question.trusted = self._services.trusted
        session.run.code_question.ask = self._may_run_code
        session.run.memory_check.confirm_size = self._may_run

    def _may_run(self, need: "Need") -> bool:
        from gradstudio.ui.dialogs.memory_dialog import may_run

        return may_run(need, title(self.session.graph_store.graph, need.node), self._services.frame)

    def _may_run_code(self, parts: "tuple[CodePart, ...]") -> bool:
        from gradstudio.ui.dialogs.trust_dialog import may_run_code

        session = self.session
        name = str(session.path or session.read_from or session.title)
        return may_run_code(parts, name, self._theme, self._services.frame)

    def _on_canvas_data_dropped(self, paths: "tuple[Path, ...]", at: tuple[float, float]) -> None:
        from gradstudio.ui.dialogs.data.import_files import import_files

        import_files(self.canvas, self._services.frame, paths, at)

    def _wire_parts(self) -> None:
        self.workspace.timeline_switched.connect(self.changed)
        self.canvas.view_changed.connect(self._on_canvas_view_changed)
        self.canvas.status_message.connect(self.status.say)
        self.canvas.said.connect(self.tell)
        self.canvas.data_dropped.connect(self._on_canvas_data_dropped)
        self._news = RunAnnouncer(self.session, lambda words: announce(self.status, words), self)
        self.canvas.what_if_requested.connect(self._on_canvas_what_if_requested)
        self.file.said.connect(self.status.confirm)
        self.file.warned.connect(self.status.say)
        self.file.left_out = CodeSyncWarning(self.session, self.code.live, self.status).saved
        self.session.problems.changed.connect(self._on_problems_changed)
        self.lesson.watch.gradient_wanted.connect(lambda: self.inspector.show_gradient())
        self.code.said.connect(self.status.confirm)
        self.code.left.connect(self.lead_back)
        self.code.live.applying.connect(self.typed_view.remember)
        self.code.added.connect(self.typed_view.show)
        self.code.show_hints(self._services.settings.preferences.code_hints)
        self.code.hints_changed.connect(self._on_code_hints_changed)
        self._looking.due.connect(self._on_looking_due)

    def _keep_typed(self) -> None:
        """What is typed and not on the canvas yet goes into the journal, too."""
        live = self.code.live
        recovery = self._recovery
        canvas = self.canvas
        editor = self.code.editor
        # The journal outlives the window's own widgets.
        recovery.unapplied = lambda: editor.text if isValid(editor) and not live.is_applied else ""
        recovery.view = lambda: canvas.bookmark_commands.kept_view() if isValid(canvas) else None
        live.changed.connect(recovery.request)

    def _take_up_view(self) -> None:
        view = self.session.view
        self.canvas.bookmarks.take_all(view.bookmarks if view is not None else {})
        if view is not None and view != View():
            self.canvas.navigation.restore_view(view.zoom, view.x, view.y)

    def _edit_code(self) -> None:
        """Put the cursor into the program's text, into the lines of the current card where it holds code."""
        self._services.frame.docks.bring_forward("code")
        item = self.session.attention.current
        if item is not None and is_code_at(self.session.shown_store.graph, item):
            self.code.go_to_code(item)
        self.code.editor.setFocus()
        self.code_room.grow()

    # ------------------------------------------------------------------ slots

    def _on_bookmarks_edited(self) -> None:
        """They are kept in the file: it is not saved until they are."""
        self.session.graph_store.forget_clean()
        self._recovery.request()

    def _on_code_hints_changed(self, mode: object) -> None:
        self._services.settings.change(code_hints=mode)
        self.changed.emit()

    def _on_canvas_view_changed(self) -> None:
        self.status.show_zoom(self.canvas.navigation.zoom / self.canvas.navigation.text_scale)
        self._looking.request()

    def _on_looking_due(self) -> None:
        """The engine summarises first what is in view."""
        self.session.run.visible = self.canvas.navigation.visible_items()

    def _on_problems_changed(self) -> None:
        self.problem_count = len(self.session.problems.problems)
        self.problems_counted.emit(self.problem_count)

    def _on_canvas_what_if_requested(self, item: object) -> None:
        """The number of that node is typed into the inspector's table."""
        self._services.frame.docks.bring_forward("inspector")
        self.session.attention.select((ItemId(str(item)),))
        reason = self.inspector.try_number()
        if reason:
            self.status.say(reason)

    def _on_pages_requested(self, key: object) -> None:
        """A person wants to read that page; "" shows the one that was read last."""
        self._services.frame.docks.bring_forward("documentation")
        self.documentation.show_operator(str(key))

    def lead_back(self) -> None:
        """Esc that nothing in a dock means: back to now, and from there to the canvas."""
        if self.session.attention.moment is not None:
            self.session.attention.look_at_now()
        else:
            self._services.frame.activateWindow()
            self.canvas.setFocus()

    def focus(self) -> None:
        """Give the canvas the keys, once more when it is shown: what is hidden does not get them."""
        self.canvas.setFocus()
        QTimer.singleShot(0, self, self._focus_canvas)

    def _focus_canvas(self) -> None:
        focused: QWidget | None = self._services.frame.focusWidget()
        if focused in (None, self.canvas):
            self.canvas.setFocus()
