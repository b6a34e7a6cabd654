"""What every command may use."""

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.state.document.overlays import Overlays
    from gradstudio.ui.state.session import Session
    from gradstudio.ui.state.settings import Settings


class Context(NamedTuple):
    """The open document and the window around it."""

    session: "Session"
    overlays: "Overlays"
    settings: "Settings"
    canvas: "CanvasView"
    window: QWidget
