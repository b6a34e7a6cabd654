"""What helps a person find the way on the canvas: gliding, the border, wheels; set up here, and nowhere else."""

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QSize

from gradstudio.ui.canvas.border_pan import BorderPan
from gradstudio.ui.canvas.finding import Finding
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.canvas.navigation import Navigation
from gradstudio.ui.canvas.travel import Travel
from gradstudio.ui.canvas.wheeling import Wheeling

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.settings import Preferences


class Wayfinding(Navigation):
    """Methods of `CanvasView` beside its camera's."""

    def _set_up_ways(self) -> None:
        """Before anything looks elsewhere."""
        view = cast("CanvasView", self)
        self.reduced_motion = False
        self.travel, self.border, self.wheeling = Travel(view), BorderPan(view), Wheeling()

    def _set_up_map(self) -> None:
        """When everything it shows is there."""
        view = cast("CanvasView", self)
        self.minimap, self.finding = Minimap(view), Finding(view)

    def take_preferences(self, preferences: "Preferences") -> None:
        """Move as this person wants it."""
        self.reduced_motion = preferences.reduced_motion
        self.travel.smooth = not preferences.reduced_motion
        self.minimap.put(preferences.minimap_corner, QSize(*preferences.minimap_px))
        self.minimap.want(preferences.minimap)
        self.wheeling.scrolls = preferences.wheel == "scrolls"
