"""What commands, the tour and the welcome page may ask of the window that they work in.

A Protocol, so that none of them has to know the window's own class: the main window fits it and nobody inherits it.
"""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gradstudio.ui.actions.action_set import ActionSet
    from gradstudio.ui.actions.file_commands import FileCommands
    from gradstudio.ui.actions.key_map import KeyMap
    from gradstudio.ui.app.files.documents import Documents
    from gradstudio.ui.app.window.status_bar import StatusBar
    from gradstudio.ui.app.window.toolbar import ToolBar
    from gradstudio.ui.app.window.window_frame import Frame
    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.docks.documentation.panel import DocumentationPanel
    from gradstudio.ui.docks.inspector.panel import InspectorPanel
    from gradstudio.ui.docks.lesson.panel import LessonPanel
    from gradstudio.ui.state.document.overlays import Overlays
    from gradstudio.ui.state.library.favourites import Favourites
    from gradstudio.ui.state.session import Session
    from gradstudio.ui.state.settings import Settings
    from gradstudio.ui.theme import Theme
    from gradstudio.ui.timeline.workspace import Workspace


class WindowHost(Protocol):
    """A window with documents; what belongs to one document is that of the one in front."""

    @property
    def frame(self) -> "Frame":
        """What stands around everything."""

    @property
    def settings(self) -> "Settings":
        """What a person chose."""

    @property
    def theme(self) -> "Theme":
        """The colours of now."""

    @property
    def actions(self) -> "ActionSet":
        """Every command."""

    @property
    def key_map(self) -> "KeyMap":
        """Which keys do what."""

    @property
    def toolbar(self) -> "ToolBar":
        """What is above the canvas."""

    @property
    def overlays(self) -> "Overlays":
        """What is painted on the cards."""

    @property
    def shelf(self) -> "Favourites":
        """Favourite and recent operators."""

    @property
    def documents(self) -> "Documents":
        """All that are open."""

    @property
    def session(self) -> "Session":
        """The document in front."""

    @property
    def canvas(self) -> "CanvasView":
        """Its canvas."""

    @property
    def workspace(self) -> "Workspace":
        """Its canvas with the timeline."""

    @property
    def file(self) -> "FileCommands":
        """Its File menu."""

    @property
    def inspector(self) -> "InspectorPanel":
        """Its inspector."""

    @property
    def documentation(self) -> "DocumentationPanel":
        """Its page of torch's documentation."""

    @property
    def lesson(self) -> "LessonPanel":
        """Its lesson."""

    @property
    def status(self) -> "StatusBar":
        """Its status bar."""

    def go_to_dock(self, key: str) -> None:
        """Show a dock and give its panel the keys."""

    def set_theme(self, theme: "Theme", text_scale: float | None = None) -> None:
        """Repaint everything in another theme, with text of another size where one is given."""

    def focus_document(self) -> None:
        """Give the canvas in front the keys."""
