"""Dragging cards, frames and notes: one undo entry a drag, into blocks and out of them, in line with neighbours."""

from collections.abc import Callable
from typing import Final

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, ItemId, Wire
from gradstudio.scene import geometry
from gradstudio.scene.edit.alignment_guides import Guides, Line
from gradstudio.scene.edit.card_drop import body_at, drop_edits
from gradstudio.scene.edit.drag_group import Corners, drag_group, with_members
from gradstudio.scene.edit.shake_detector import Shake
from gradstudio.scene.geometry import Box, nearest_grid_multiple
from gradstudio.ui.canvas.gestures.alignment_guide_painter import paint_guides
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer

GUIDE_REACH: Final = 6.0
"""View pixels from which a guide pulls."""
SHAKEN: Final = "Let go to take it out of its wires; shake again to keep them."
PINNED: Final = "It is pinned down: unpin it (P) to move it."


class Move(Gesture):
    """Drag the selection, or click: one undo entry a drag; a drop over a frame moves into the block."""

    pans_at_border = True

    def __init__(
        self,
        canvas: GestureCanvas,
        at: Pointer,
        keys: frozenset[str],
        grabbed: str = "",
        click: Callable[[], None] | None = None,
    ) -> None:
        """`keys` are items, notes or dots of wires; `click` is what a press without a drag does."""
        super().__init__(canvas, at)
        self._keys = frozenset(keys | canvas.scene.state.card_groups.whole(ItemId(key) for key in keys))
        self._grabbed, self._click = grabbed, click
        self._moving = self._is_shaken = self._idle = False
        self._origins: Corners = {}
        self._corner = (0.0, 0.0)
        self._shake = Shake(at.view_x, at.view_y)
        self._guides: Guides | None = None
        self._lines: tuple[Line, ...] = ()
        self._reasons: dict[tuple[tuple[ItemId, BodyId], ...], str] = {}

    def move(self, at: Pointer) -> None:
        if not self._moving:
            if not at.is_far_from(self.start):
                return
            self._begin()
        if not self._origins:
            self.canvas.bubble.say(PINNED, QPoint(round(at.view_x), round(at.view_y)), stays=True)
            return
        if self.canvas.drag_options.shake_off and self._shake.move(at.view_x, at.view_y, at.time_ms):
            self._is_shaken = not self._is_shaken
        self.canvas.scene.drag.show(self._places(at))
        self.canvas.lit.hovered_wire = self._wire_at(at)
        bodies = self._bodies(at)
        reason = self._why_not(bodies) or (SHAKEN if self._is_shaken else "")
        self.canvas.lit.drop_frame = self._target(bodies) if not reason else None
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
        places, bodies, wire = self._places(at), self._bodies(at), self._wire_at(at)
        self.canvas.bubble.hide()
        self._end()
        if wire is not None and self.canvas.operator_commands.lead_through(
            wire, ItemId(self._grabbed), *places[self._grabbed]
        ):
            return
        if self._origins:
            self.canvas.card_arrangement.drop_moved(
                places, bodies, shaken=self._items() if self._is_shaken else frozenset()
            )

    def cancel(self) -> None:
        self.canvas.bubble.hide()
        self._end()

    def _why_not(self, bodies: dict[ItemId, BodyId]) -> str:
        """Why the rule-book would refuse a drop here; asked once for each place."""
        graph = self.canvas.scene.graph
        if all(graph.parents[item] == body for item, body in bodies.items()):
            return ""
        key = tuple(sorted(bodies.items()))
        if key not in self._reasons:
            try:
                drop_edits(graph, {}, bodies)
                self._reasons[key] = ""
            except Refused as refusal:
                self._reasons[key] = str(refusal)
        return self._reasons[key]

    def _begin(self) -> None:
        self._moving = True
        scene, items = self.canvas.scene, self._items()
        whole = with_members(scene, items)
        self._origins = drag_group(scene, items, self._keys - items)
        if not self._origins:
            return
        home = ItemId(self._grabbed)
        self._idle = whole == scene.state.card_groups.whole((home,)) and recipes.is_idle(scene.graph, home)
        self._corner = self._origins.get(self._grabbed, next(iter(self._origins.values())))
        frames = frozenset(item for item in scene.placement.frames if item in whole and self._is_whole(item))
        scene.drag.hold(frames)
        self.canvas.picture.lift(frozenset(self._origins) | frames)
        self._guides = self._find_guides(whole)

    def _is_whole(self, frame: ItemId) -> bool:
        """Whether all of a frame moves: nothing in it is pinned."""
        scene = self.canvas.scene
        members = [item for item in scene.state.members(frame) if item in scene.stack.index]
        return all(item in self._origins for item in members)

    def _find_guides(self, whole: frozenset[ItemId]) -> Guides | None:
        """What stands still in view, against the rectangle around all that moves."""
        canvas, scene = self.canvas, self.canvas.scene
        moving = geometry.union(
            box
            for key in self._origins
            if (box := scene.placement.room(ItemId(key)) or self._note_box(key)) is not None
        )
        if moving is None:
            return None
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        still = geometry.visible(scene.placement.bounds, seen)
        still[[k for item in whole if (k := scene.stack.index.get(item)) is not None]] = False
        boxes = [
            frame.box for item, frame in scene.placement.frames.items() if item not in whole and frame.box.meets(seen)
        ]
        boxes += [
            note.box
            for note in scene.placement.notes.values()
            if note.key not in self._origins and note.box.meets(seen)
        ]
        rows = np.array([(box.x, box.y, box.right, box.bottom) for box in boxes], dtype=np.float64)
        return Guides(np.concatenate([scene.placement.bounds[still], rows.reshape(-1, 4)]), moving)

    def _wire_at(self, at: Pointer) -> Wire | None:
        """The wire under the pointer, when one card without wires is dragged that fits into it."""
        grabbed = ItemId(self._grabbed)
        is_one = self._idle and grabbed in self._origins
        return self.canvas.operator_commands.wire_under(at.x, at.y, grabbed) if is_one else None

    def _note_box(self, key: str) -> Box | None:
        note = (
            self.canvas.scene.placement.notes.get(ItemId(key.removeprefix("note:")))
            if key.startswith("note:")
            else None
        )
        return note.box if note is not None else None

    def _end(self) -> None:
        self._moving = False
        self.canvas.lit.hovered_wire = None
        self.canvas.lit.drop_frame = None
        self.canvas.scene.drag.let_go()
        self.canvas.picture.settle()
        self.canvas.viewport().update()

    def paint(self, painter: QPainter) -> None:
        if self._moving and self._lines:
            paint_guides(painter, self.canvas.canvas_style, self.canvas.camera, self._lines)

    def _items(self) -> frozenset[ItemId]:
        return frozenset(ItemId(key) for key in self._keys if ItemId(key) in self.canvas.scene.graph)

    def _tops(self) -> list[ItemId]:
        """What is dragged, without what lies inside a dragged block."""
        graph = self.canvas.scene.graph
        items = {item for item in self._items() if item in self._origins or item in graph.blocks}
        return [item for item in items if not items & {ItemId(body) for body in graph.ancestors(item)}]

    def _places(self, at: Pointer) -> dict[str, tuple[float, float]]:
        dx, dy = at.x - self.start.x, at.y - self.start.y
        across = down = False
        self._lines = ()
        if (
            self._guides is not None
            and self.canvas.drag_options.show_guides
            and not at.holds(Qt.KeyboardModifier.ShiftModifier)
        ):
            pull = self._guides.pull(dx, dy, GUIDE_REACH / self.canvas.camera.zoom)
            dx, dy, across, down, self._lines = pull
        if self.canvas.drag_options.snap_to_grid != at.holds(Qt.KeyboardModifier.ControlModifier):
            x, y = self._corner
            dx, dy = (
                (dx if across else nearest_grid_multiple(x + dx) - x),
                (dy if down else nearest_grid_multiple(y + dy) - y),
            )
        return {key: (x + dx, y + dy) for key, (x, y) in self._origins.items()}

    def _target(self, bodies: dict[ItemId, BodyId]) -> ItemId | None:
        """The frame that something would newly fall into."""
        graph = self.canvas.scene.graph
        new = [body for item, body in bodies.items() if body not in (ROOT, graph.parents[item])]
        return ItemId(new[0]) if new else None

    def _bodies(self, at: Pointer) -> dict[ItemId, BodyId]:
        """Where each dragged item falls: the grabbed one by the pointer, others by their middle."""
        scene = self.canvas.scene
        whole = with_members(scene, self._items())
        found: dict[ItemId, BodyId] = {}
        for item in self._tops():
            box = scene.placement.room(item)
            x, y = (at.x, at.y) if scene.state.card_groups.home(item) == self._grabbed or box is None else box.center
            found[item] = body_at(self.canvas.scene, x, y, whole)
        return found
