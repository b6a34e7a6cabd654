"""What helps a person find the way on the canvas: gliding, the border, wheels; set up here, and nowhere else."""

from typing import TYPE_CHECKING, Final, cast

import numpy as np
from PySide6.QtCore import QSize

from gradstudio.document.bookmarks import Bookmark
from gradstudio.document.file import View
from gradstudio.graph.model import ItemId
from gradstudio.graph.names import title
from gradstudio.scene.camera import MAXIMUM_ZOOM, MINIMUM_ZOOM, Camera
from gradstudio.ui.canvas.find_in_graph import Finding
from gradstudio.ui.canvas.gestures.auto_pan import BorderPan
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.canvas.paint.minimap_painter import MapMark
from gradstudio.ui.canvas.view_animation import Travel
from gradstudio.ui.canvas.viewport import Navigation
from gradstudio.ui.canvas.wheel import Wheeling
from gradstudio.ui.state.document.view_bookmarks import Bookmarks

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.state.settings import Preferences

LONGEST_NAME: Final = 40


class Wayfinding(Navigation):
    """Methods of `CanvasView` beside its camera's."""

    if TYPE_CHECKING:
        said: SignalInstance

    def _set_up_ways(self) -> None:
        """Before anything looks elsewhere."""
        view = cast("CanvasView", self)
        self.reduced_motion, self.text_scale = False, 1.0
        self.travel, self.border, self.wheeling = Travel(view), BorderPan(view), Wheeling()

    def _set_up_map(self) -> None:
        """When everything it shows is there."""
        view = cast("CanvasView", self)
        self.minimap, self.finding = Minimap(view), Finding(view)
        self.bookmarks = Bookmarks(view)
        self.bookmarks.changed.connect(self.minimap.update)
        self.minimap.marks = self._marks

    def kept_view(self) -> View:
        """What the file keeps of where the canvas looks."""
        return View(*self.view_state(), dict(self.bookmarks.entries))

    def set_bookmark(self, digit: str) -> None:
        """Remember where the canvas looks, and what is selected."""
        name, items = self._name_here(), tuple(sorted(self.attention.selection))
        self.bookmarks.put(digit, Bookmark(*self.view_state(), name, items))
        self.said.emit(f"Bookmark {digit}: {name or 'this place'}. {digit} comes back here; the file keeps it.")

    def go_to_bookmark(self, digit: str) -> None:
        """Look where it was set, and select what was selected."""
        mark = self.bookmarks.entries.get(digit)
        if mark is None:
            self.said.emit(f"There is no bookmark {digit} yet. Ctrl+{digit} sets it here.")
            return
        view = self.viewport()
        zoom = min(max(mark.zoom, MINIMUM_ZOOM), MAXIMUM_ZOOM)
        self.look_from(Camera(zoom, mark.x - view.width() / zoom / 2, mark.y - view.height() / zoom / 2))
        there = [ItemId(item) for item in mark.items if ItemId(item) in self.board.graph]
        if there:
            self.attention.select(there)

    def _name_here(self) -> str:
        """What the selection is called, else what is nearest to the middle of the view."""
        board, item = self.board, self.attention.current
        if not self.attention.selection or item is None:
            _, x, y = self.view_state()
            if not board.ids:
                return ""
            middles = (board.bounds[:, :2] + board.bounds[:, 2:]) / 2
            item = board.ids[int(np.abs(middles - (x, y)).sum(1).argmin())]
        return title(board.graph, item)[:LONGEST_NAME]

    def _marks(self) -> tuple[MapMark, ...]:
        return tuple(MapMark(digit, mark.x, mark.y) for digit, mark in sorted(self.bookmarks.entries.items()))

    def take_preferences(self, preferences: "Preferences") -> None:
        """Move as this person wants it."""
        self.reduced_motion = preferences.reduced_motion
        self.scale_text(preferences.canvas_scale / 100)
        self.travel.smooth = not preferences.reduced_motion
        self.minimap.put(preferences.minimap_corner, QSize(*preferences.minimap_px))
        self.minimap.want(preferences.minimap)
        self.wheeling.scrolls = preferences.wheel == "scrolls"
