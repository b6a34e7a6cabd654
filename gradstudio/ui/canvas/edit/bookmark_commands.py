"""Bookmarks of one canvas: where it looked and what was selected, behind the digits 1 to 9."""

from typing import Final

from gradstudio.document.bookmarks import Bookmark
from gradstudio.document.file import View
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.scene.camera import MAXIMUM_ZOOM, MINIMUM_ZOOM, Camera
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.paint.minimap_painter import MapMark
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.document.view_bookmarks import Bookmarks

LONGEST_NAME: Final = 40


class BookmarkCommands:
    """Sets bookmarks, and looks where they were set."""

    def __init__(self, canvas: CanvasContext, navigation: Viewport, bookmarks: Bookmarks) -> None:
        """Views of this canvas, kept in `bookmarks`."""
        self._canvas, self._navigation, self._bookmarks = canvas, navigation, bookmarks
        self._scene, self._attention = canvas.scene, canvas.attention

    def kept_view(self) -> View:
        """What the file keeps of where the canvas looks."""
        return View(*self._navigation.view_state(), dict(self._bookmarks.entries))

    def set_bookmark(self, digit: str) -> None:
        """Remember where the canvas looks, and what is selected."""
        name, items = self._name_here(), tuple(sorted(self._attention.selection))
        self._bookmarks.put(digit, Bookmark(*self._navigation.view_state(), name, items))
        self._canvas.said.emit(f"Bookmark {digit}: {name or 'this place'}. {digit} comes back here; the file keeps it.")

    def go_to_bookmark(self, digit: str) -> None:
        """Look where it was set, and select what was selected."""
        mark = self._bookmarks.entries.get(digit)
        if mark is None:
            self._canvas.said.emit(f"There is no bookmark {digit} yet. Ctrl+{digit} sets it here.")
            return
        view = self._canvas.viewport()
        zoom = min(max(mark.zoom, MINIMUM_ZOOM), MAXIMUM_ZOOM)
        self._navigation.look_from(Camera(zoom, mark.x - view.width() / zoom / 2, mark.y - view.height() / zoom / 2))
        there = [ItemId(item) for item in mark.items if ItemId(item) in self._scene.graph]
        if there:
            self._attention.select(there)

    def _name_here(self) -> str:
        """What the selection is called, else what is nearest to the middle of the view."""
        scene, item = self._scene, self._attention.current
        if not self._attention.selection or item is None:
            _, x, y = self._navigation.view_state()
            if not scene.stack.ids:
                return ""
            away = [abs((a + c) / 2 - x) + abs((b + d) / 2 - y) for a, b, c, d in scene.placement.corners]
            item = scene.stack.ids[away.index(min(away))]
        return title(scene.graph, item)[:LONGEST_NAME]

    def marks(self) -> tuple[MapMark, ...]:
        """Where they lie, for the minimap."""
        return tuple(MapMark(digit, mark.x, mark.y) for digit, mark in sorted(self._bookmarks.entries.items()))
