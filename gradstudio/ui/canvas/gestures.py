"""Gestures as objects: a press begins one, then it moves, and is released or cancelled (Esc)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter

from gradstudio.graph import recipes
from gradstudio.graph.dots import end_of
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.ui.canvas import hits
from gradstudio.ui.canvas.geometry import Box, snapped
from gradstudio.ui.canvas.overlay import paint_band

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView

T = TypeVar("T")
DRAG_DISTANCE: Final = 4.0
"""View pixels after which a press is a drag and no click."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the pointer is: view pixels, scene pixels, and the keys held."""

    view_x: float
    view_y: float
    x: float
    y: float
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier

    def is_far_from(self, other: "Pointer") -> bool:
        """Whether the way between is a drag."""
        return max(abs(self.view_x - other.view_x), abs(self.view_y - other.view_y)) >= DRAG_DISTANCE

    def holds(self, modifier: Qt.KeyboardModifier) -> bool:
        """Whether a key such as Shift is held."""
        return bool(self.modifiers & modifier)


class Gesture:
    """A press that is not released yet. Cancelling one leaves the graph untouched."""

    cursor: Qt.CursorShape | None = None
    pans_at_border = False
    """The scene moves on where it is dragged to the border of the view."""

    def __init__(self, canvas: "CanvasView", at: Pointer) -> None:
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

    def __init__(self, canvas: "CanvasView", at: Pointer) -> None:
        """Remember where the scene was."""
        super().__init__(canvas, at)
        self._before = canvas.camera

    def move(self, at: Pointer) -> None:
        self.canvas.set_camera(self._before.panned(at.view_x - self.start.view_x, at.view_y - self.start.view_y))

    def cancel(self) -> None:
        self.canvas.set_camera(self._before)


class RubberBand(Gesture):
    """Select what a rectangle touches, live. Shift adds, Ctrl takes away."""

    cursor = Qt.CursorShape.CrossCursor
    pans_at_border = True

    def __init__(self, canvas: "CanvasView", at: Pointer) -> None:
        """Remember the selection to add to or to go back to."""
        super().__init__(canvas, at)
        self._before, self._dots_before = canvas.attention.selection, canvas.lit.selected_dots
        self._end: Pointer | None = None

    def move(self, at: Pointer) -> None:
        if self._end is None and not at.is_far_from(self.start):
            return
        self._end = at
        self.canvas.select(self._chosen(at))
        self.canvas.lit.selected_dots = self._added(self._dots_before, self.canvas.board.dots_in(self._band(at)), at)
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        if self._end is None and not self._keeps(at):
            self.canvas.clear_selection()

    def cancel(self) -> None:
        self.canvas.select(self._before)
        self.canvas.lit.selected_dots = self._dots_before

    def paint(self, painter: QPainter) -> None:
        if self._end is not None:
            camera = self.canvas.camera
            paint_band(painter, self.canvas.look, camera.box_to_view(_between(self.start, self._end)))

    def _keeps(self, at: Pointer) -> bool:
        return at.holds(Qt.KeyboardModifier.ShiftModifier) or at.holds(Qt.KeyboardModifier.ControlModifier)

    def _chosen(self, at: Pointer) -> frozenset[ItemId]:
        band, board = self._band(at), self.canvas.board
        touched = frozenset(item for item in board.ids if (box := board.box(item)) is not None and box.meets(band))
        touched |= {item for item, frame in board.frames.items() if _holds(band, frame.box)}
        return self._added(self._before, touched, at)

    def _band(self, at: Pointer) -> Box:
        return _between(self.start, at)

    def _added(self, before: frozenset[T], touched: frozenset[T], at: Pointer) -> frozenset[T]:
        """With the keys held, what is touched joins what was selected, or leaves it."""
        if at.holds(Qt.KeyboardModifier.ControlModifier):
            return before - touched
        return before | touched if at.holds(Qt.KeyboardModifier.ShiftModifier) else touched


class Move(Gesture):
    """Drag the selection, or click: one undo entry a drag; a drop over a frame moves into the block."""

    pans_at_border = True

    def __init__(
        self,
        canvas: "CanvasView",
        at: Pointer,
        keys: frozenset[str],
        grabbed: str = "",
        click: Callable[[], None] | None = None,
    ) -> None:
        """`keys` are items, notes or dots of wires; `click` is what a press without a drag does."""
        super().__init__(canvas, at)
        self._keys = frozenset(keys | canvas.board.whole(ItemId(key) for key in keys))
        self._grabbed, self._click = grabbed, click
        self._moving = False
        self._origins: dict[str, tuple[float, float]] = {}
        self._reasons: dict[tuple[tuple[ItemId, BodyId], ...], str] = {}

    def move(self, at: Pointer) -> None:
        if not self._moving:
            if not at.is_far_from(self.start):
                return
            self._begin()
        self.canvas.board.drag(self._places(at))
        reason = self._why_not(self._bodies(at))
        self.canvas.set_drop_frame(self._target(at) if not reason else None)
        if reason:
            self.canvas.bubble.say(reason, QPoint(round(at.view_x), round(at.view_y)), stays=True)
        else:
            self.canvas.bubble.hide()
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        if not self._moving:
            if self._click is not None:
                self._click()
            return
        places, bodies = self._places(at), self._bodies(at)
        self.canvas.bubble.hide()
        self._end()
        self.canvas.drop_moved(places, bodies)

    def cancel(self) -> None:
        self.canvas.bubble.hide()
        self._end()

    def _why_not(self, bodies: dict[ItemId, BodyId]) -> str:
        """Why the rule-book would refuse a drop here; asked once for each place."""
        graph = self.canvas.board.graph
        if all(graph.parents[item] == body for item, body in bodies.items()):
            return ""
        key = tuple(sorted(bodies.items()))
        if key not in self._reasons:
            try:
                dropped(graph, {}, bodies)
                self._reasons[key] = ""
            except Refused as refusal:
                self._reasons[key] = str(refusal)
        return self._reasons[key]

    def _begin(self) -> None:
        self._moving = True
        board = self.canvas.board
        whole = self._with_members()
        self._origins = {
            item: (box.x, box.y)
            for item in sorted(whole)
            if (box := board.box(item)) is not None and not (item in board.frames and board.members(item))
        }
        for item in board.notes:
            key = f"note:{item}"
            if key in self._keys or (item in whole and key in board.graph.places):
                self._origins[key] = (board.notes[item].box.x, board.notes[item].box.y)
        for key in (self._keys & board.graph.places.keys() & self._dots()) | board.dots_between(whole):
            self._origins[key] = board.dot_place(key)
        board.hold(item for item in board.frames if item in whole)
        self.canvas.picture.lift(frozenset(self._origins) | {item for item in whole if item in board.frames})

    def _end(self) -> None:
        self._moving = False
        self.canvas.set_drop_frame(None)
        self.canvas.board.let_go()
        self.canvas.picture.settle()
        self.canvas.viewport().update()

    def _dots(self) -> frozenset[str]:
        return frozenset(key for key in self._keys if end_of(key) is not None)

    def _items(self) -> set[ItemId]:
        return {ItemId(key) for key in self._keys if ItemId(key) in self.canvas.board.graph}

    def _with_members(self) -> frozenset[ItemId]:
        board, items = self.canvas.board, self._items()
        for item in list(items):
            if item in board.frames:
                items |= board.members(item)
        return board.whole(items)

    def _tops(self) -> list[ItemId]:
        """What is dragged, without what lies inside a dragged block."""
        graph = self.canvas.board.graph
        items = self._items()
        return [item for item in items if not items & {ItemId(body) for body in graph.ancestors(item)}]

    def _places(self, at: Pointer) -> dict[str, tuple[float, float]]:
        dx, dy = at.x - self.start.x, at.y - self.start.y
        if self._origins and self.canvas.snap_to_grid:
            first = self._origins.get(self._grabbed, next(iter(self._origins.values())))
            dx, dy = snapped(first[0] + dx) - first[0], snapped(first[1] + dy) - first[1]
        return {key: (x + dx, y + dy) for key, (x, y) in self._origins.items()}

    def _target(self, at: Pointer) -> ItemId | None:
        """The frame that something would newly fall into."""
        graph = self.canvas.board.graph
        new = [body for item, body in self._bodies(at).items() if body not in (ROOT, graph.parents[item])]
        return ItemId(new[0]) if new else None

    def _bodies(self, at: Pointer) -> dict[ItemId, BodyId]:
        """Where each dragged item falls: the grabbed one by the pointer, others by their middle."""
        whole, board = self._with_members(), self.canvas.board
        found: dict[ItemId, BodyId] = {}
        for item in self._tops():
            box = board.box(item)
            x, y = (at.x, at.y) if board.home(item) == self._grabbed or box is None else box.center
            found[item] = body_at(self.canvas, x, y, whole)
        return found


def body_at(canvas: "CanvasView", x: float, y: float, without: frozenset[ItemId] = frozenset()) -> BodyId:
    """The body that a node dropped at a scene point falls into."""
    frame = hits.frame_at(canvas.board, x, y, without)
    return BodyId(frame) if frame is not None else ROOT


def dropped(graph: Graph, places: dict[str, tuple[float, float]], bodies: dict[ItemId, BodyId]) -> Edits:
    """Edits of a drag: new places, and other bodies where they changed.

    Raises:
        Refused: the order of the statements forbids the block.
    """
    edits = recipes.move(graph, places)
    strangers: dict[BodyId, list[ItemId]] = {}
    for item, body in bodies.items():
        if graph.parents[item] != body:
            strangers.setdefault(body, []).append(item)
    trial = graph.copy() if len(strangers) > 1 else graph
    for body, items in strangers.items():
        moved = recipes.move_into(trial, items, body)
        if trial is not graph:
            apply_all(trial, moved)
        edits = (*edits, *moved)
    return edits


def _between(one: Pointer, other: Pointer) -> Box:
    x, y = min(one.x, other.x), min(one.y, other.y)
    return Box(x, y, abs(one.x - other.x), abs(one.y - other.y))


def _holds(outer: Box, inner: Box) -> bool:
    return outer.contains(inner.x, inner.y) and outer.contains(inner.right, inner.bottom)
