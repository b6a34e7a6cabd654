"""Gestures as objects: a press begins one, then it moves, and is released or cancelled (Esc)."""

from typing import Protocol, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter

from gradstudio.graph.model import ItemId
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_debugging import CanvasDebugging
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.card_arrangement import CardArrangement
from gradstudio.ui.canvas.edit.operator_commands import OperatorCommands
from gradstudio.ui.canvas.edit.quick_search import QuickSearch
from gradstudio.ui.canvas.edit.wire_commands import WireCommands
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.paint.interaction_painter import paint_band
from gradstudio.ui.canvas.viewport import Viewport

T = TypeVar("T")


class GestureCanvas(CanvasContext, Protocol):
    """A canvas with what gestures do to it; `CanvasView` is one."""

    selection: CanvasSelection
    navigation: Viewport
    searching: QuickSearch
    debugging: CanvasDebugging
    wire_commands: WireCommands
    card_arrangement: CardArrangement
    operator_commands: OperatorCommands


class Gesture:
    """A press that is not released yet. Cancelling one leaves the graph untouched."""

    cursor: Qt.CursorShape | None = None
    pans_at_border = False
    """The scene moves on where it is dragged to the border of the view."""

    def __init__(self, canvas: GestureCanvas, at: Pointer) -> None:
        """The press."""
        self.canvas, self.start = canvas, at

    def move(self, at: Pointer) -> None:
        """The pointer moved."""

    def release(self, at: Pointer) -> None:
        """The button came up: do it."""

    def cancel(self) -> None:
        """Esc: as if nothing had begun."""

    def paint(self, painter: QPainter) -> None:
        """Draw over the canvas while it goes on, view pixels."""


class Pan(Gesture):
    """Push the scene with the hand."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def __init__(self, canvas: GestureCanvas, at: Pointer) -> None:
        """Remember where the scene was."""
        super().__init__(canvas, at)
        self._before = canvas.camera

    def move(self, at: Pointer) -> None:
        self.canvas.navigation.set_camera(
            self._before.panned(at.view_x - self.start.view_x, at.view_y - self.start.view_y)
        )

    def cancel(self) -> None:
        self.canvas.navigation.set_camera(self._before)


class RubberBand(Gesture):
    """Select what a rectangle touches, live. Shift adds, Ctrl takes away."""

    cursor = Qt.CursorShape.CrossCursor
    pans_at_border = True

    def __init__(self, canvas: GestureCanvas, at: Pointer) -> None:
        """Remember the selection to add to or to go back to."""
        super().__init__(canvas, at)
        self._before, self._dots_before = canvas.attention.selection, canvas.lit.selected_dots
        self._end: Pointer | None = None

    def move(self, at: Pointer) -> None:
        if self._end is None and not at.is_far_from(self.start):
            return
        self._end = at
        self.canvas.selection.select(self._chosen(at))
        self.canvas.lit.selected_dots = self._added(
            self._dots_before, self.canvas.scene.dots.inside(self._band(at)), at
        )
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        if self._end is None and not self._keeps(at):
            self.canvas.selection.clear()
        elif self.canvas.lit.selected_dots:
            self.canvas.attention.selection_changed.emit()  # what can be done now is another

    def cancel(self) -> None:
        self.canvas.selection.select(self._before)
        self.canvas.lit.selected_dots = self._dots_before

    def paint(self, painter: QPainter) -> None:
        if self._end is not None:
            camera = self.canvas.camera
            paint_band(painter, self.canvas.canvas_style, camera.box_to_view(_between(self.start, self._end)))

    def _keeps(self, at: Pointer) -> bool:
        return at.holds(Qt.KeyboardModifier.ShiftModifier) or at.holds(Qt.KeyboardModifier.ControlModifier)

    def _chosen(self, at: Pointer) -> frozenset[ItemId]:
        band, scene = self._band(at), self.canvas.scene
        touched = frozenset(
            item for item in scene.stack.ids if (box := scene.placement.box(item)) is not None and box.meets(band)
        )
        touched |= {item for item, frame in scene.placement.frames.items() if _holds(band, frame.box)}
        return self._added(self._before, touched, at)

    def _band(self, at: Pointer) -> Box:
        return _between(self.start, at)

    def _added(self, before: frozenset[T], touched: frozenset[T], at: Pointer) -> frozenset[T]:
        """With the keys held, what is touched joins what was selected, or leaves it."""
        if at.holds(Qt.KeyboardModifier.ControlModifier):
            return before - touched
        return before | touched if at.holds(Qt.KeyboardModifier.ShiftModifier) else touched


def _between(one: Pointer, other: Pointer) -> Box:
    x, y = min(one.x, other.x), min(one.y, other.y)
    return Box(x, y, abs(one.x - other.x), abs(one.y - other.y))


def _holds(outer: Box, inner: Box) -> bool:
    return outer.contains(inner.x, inner.y) and outer.contains(inner.right, inner.bottom)
