"""What the window shows of the document in front, by name."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from gradstudio.ui.actions.file_commands import FileCommands
    from gradstudio.ui.actions.graph_commands import GraphCommands
    from gradstudio.ui.app.files.documents import Documents
    from gradstudio.ui.app.window.document_window import DocumentWindow
    from gradstudio.ui.app.window.status_bar import StatusBar
    from gradstudio.ui.canvas.view import CanvasView
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
    from gradstudio.ui.state.session import Session
    from gradstudio.ui.timeline.panel import TimelinePanel
    from gradstudio.ui.timeline.workspace import Workspace


class FrontDocument(QObject):
    """Each name leads to the part of the room in front; it is another object when another tab is shown."""

    documents: "Documents"

    @property
    def room(self) -> "DocumentWindow":
        """The room of the document in front."""
        raise NotImplementedError

    @property
    def session(self) -> "Session":
        """The document in front."""
        return self.documents.current.session

    @property
    def canvas(self) -> "CanvasView":
        """Its canvas."""
        return self.room.canvas

    @property
    def outline(self) -> "OutlinePanel":
        """Its statements as a tree."""
        return self.room.outline

    @property
    def inspector(self) -> "InspectorPanel":
        """Its inspector."""
        return self.room.inspector

    @property
    def documentation(self) -> "DocumentationPanel":
        """Its page of torch's documentation."""
        return self.room.documentation

    @property
    def lesson(self) -> "LessonPanel":
        """Its lesson."""
        return self.room.lesson

    @property
    def memory(self) -> "MemoryPanel":
        """Its memory plot."""
        return self.room.memory

    @property
    def code(self) -> "CodePanel":
        """Its Python text."""
        return self.room.code

    @property
    def log(self) -> "LogPanel":
        """Its log."""
        return self.room.log

    @property
    def problems(self) -> "ProblemsPanel":
        """Its problems."""
        return self.room.problems

    @property
    def breakpoints(self) -> "BreakpointsPanel":
        """Its breakpoints."""
        return self.room.breakpoints

    @property
    def history(self) -> "HistoryPanel":
        """Its steps, to go back and forth among."""
        return self.room.history

    @property
    def status(self) -> "StatusBar":
        """Its status bar."""
        return self.room.status

    @property
    def file(self) -> "FileCommands":
        """Its File menu."""
        return self.room.file

    @property
    def graph(self) -> "GraphCommands":
        """Its Graph menu."""
        return self.room.graph

    @property
    def timeline(self) -> "TimelinePanel":
        """Its timeline."""
        return self.room.timeline

    @property
    def workspace(self) -> "Workspace":
        """Its canvas with the timeline."""
        return self.room.workspace
