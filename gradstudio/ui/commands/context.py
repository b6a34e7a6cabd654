"""What every command may use."""

from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from gradstudio.ui.canvas import CanvasView
from gradstudio.ui.settings import Settings
from gradstudio.ui.state.overlays import Overlays
from gradstudio.ui.state.session import Session


class Context(NamedTuple):
    """The open document and the window around it."""

    session: Session
    overlays: Overlays
    settings: Settings
    canvas: CanvasView
    window: QWidget
