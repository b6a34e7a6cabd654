"""Where the canvas looks while a program is typed or pasted as text: at what is new, and otherwise as before."""

from PySide6.QtCore import QObject

from gradstudio.graph.model import ItemId
from gradstudio.scene.camera import Camera
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.viewport import Viewport


class CodeEditView(QObject):
    """Pans no more than new cards need, opens the view of a program that was not there; undo looks back where it was.

    Attributes:
        _pushed: by index of the history, where the canvas looked before that step and after it.
    """

    def __init__(self, canvas: CanvasContext, navigation: Viewport) -> None:
        """Follow the canvas's history."""
        super().__init__(canvas.widget)
        self._canvas, self._navigation, self._stack = canvas, navigation, canvas.store.undo_stack
        self._pushed: dict[int, tuple[Camera, Camera]] = {}
        self._last, self._before = self._stack.index(), canvas.camera
        canvas.store.history_changed.connect(self._on_store_history_changed)
        canvas.store.replaced.connect(self._on_store_replaced)

    def remember(self) -> None:
        """Text is about to change the canvas."""
        self._before = self._canvas.camera

    def show(self, added: object) -> None:
        """Text has added these items, the one that is being written first."""
        assert isinstance(added, tuple)
        if not added:
            return
        self._look_at(added)
        after = self._canvas.camera
        if after != self._before:
            index = self._stack.index()
            self._pushed[index] = self._pushed.get(index, (self._before,))[0], after

    def _look_at(self, added: tuple[ItemId, ...]) -> None:
        canvas, graph = self._canvas, self._canvas.scene.graph
        if set(added) >= {*graph.nodes, *graph.blocks}:
            self._navigation.open_view()
            return
        for items in (None, added, added[:1]):
            box = canvas.scene.placement.extent(items)
            if box is not None and self._navigation.has_room_for(box):
                self._navigation.show_box(box)
                return
        self._navigation.bring_into_view(added[0])

    def _on_store_replaced(self) -> None:
        self._pushed.clear()

    def _on_store_history_changed(self) -> None:
        """The step was undone, and nobody has looked elsewhere since: the view is the one before it."""
        last, self._last = self._last, self._stack.index()
        found = self._pushed.pop(last, None) if self._last < last else None
        if found is not None and self._canvas.camera == found[1]:
            self._navigation.look_from(found[0])
