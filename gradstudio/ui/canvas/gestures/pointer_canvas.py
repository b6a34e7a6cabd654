"""What mouse and keyboard find on a canvas, beside what gestures and menus do to it."""

from typing import TYPE_CHECKING, Protocol

from gradstudio.ui.canvas.gestures.gesture import GestureCanvas
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas

if TYPE_CHECKING:
    from gradstudio.ui.canvas.gestures.auto_pan import AutoPan
    from gradstudio.ui.canvas.gestures.keyboard_navigation import KeyboardNavigation
    from gradstudio.ui.canvas.minimap import Minimap
    from gradstudio.ui.canvas.popups.quick_fixes import QuickFixes
    from gradstudio.ui.canvas.wheel import Wheeling


class PointerCanvas(GestureCanvas, MenuCanvas, Protocol):
    """A canvas that a person has under the hand; `CanvasView` is one."""

    border: "AutoPan"
    minimap: "Minimap"
    remedies: "QuickFixes"
    wheeling: "Wheeling"
    keyboard_navigation: "KeyboardNavigation"
