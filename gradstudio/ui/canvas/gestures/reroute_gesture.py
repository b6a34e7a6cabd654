"""Dots on wires by hand: put one there, move it, draw another wire from it."""

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.graph import recipes
from gradstudio.graph.model import Wire
from gradstudio.graph.ports.wire_dots import coinciding_dots
from gradstudio.scene.hit_test import Hit
from gradstudio.scene.items import PortRef
from gradstudio.scene.wire import wire_styles
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.move_gesture import Move
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.gestures.wire_gesture import WireGesture
from gradstudio.ui.canvas.paint.wire_painter import DOT, draw_paths


def puts_dot(at: Pointer) -> bool:
    """Whether a press on a wire with these keys puts a dot there: Ctrl+Shift, or Alt where the desktop leaves it."""
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return at.holds(Qt.KeyboardModifier.AltModifier) or at.modifiers & keys == keys


class PutDot(Gesture):
    """A press on a wire that puts a dot there; a drag carries it on before it is let go."""

    cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, canvas: GestureCanvas, at: Pointer, wire: Wire) -> None:
        """Where along the wire it comes."""
        super().__init__(canvas, at)
        self._wire, self._at = wire, at
        self._index = canvas.scene.routes.dot_index(wire, at.x, at.y)

    def move(self, at: Pointer) -> None:
        self._at = at
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        self.canvas.wire_commands.put_dot(self._wire, at.x, at.y, self._index)

    def paint(self, painter: QPainter) -> None:
        canvas, scene = self.canvas, self.canvas.scene
        k = scene.wiring.place_of(self._wire)
        if k is None:
            return
        points = [scene.dots.place(key) for key in scene.dots.of(self._wire)]
        points.insert(self._index, canvas.wire_commands.on_grid(self._at.x, self._at.y))
        path = wire_styles.dotted_path(
            scene.wiring.view.style,
            np.array([scene.routes.paths[k, 0], *points, scene.routes.paths[k, -1]], dtype=np.float64),
        )
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_paths(painter, canvas.camera, seen, path[None], canvas.canvas_style.color("accent"), 2.6)
        painter.setPen(QPen(canvas.canvas_style.color("canvas"), 1.6))
        painter.setBrush(canvas.canvas_style.color("accent"))
        radius = DOT * max(canvas.camera.zoom, 0.55)
        painter.drawEllipse(QPointF(*canvas.camera.to_view(*points[self._index])), radius, radius)


class DotWire(WireGesture):
    """Another wire of the same output, led through the dots up to the one it is drawn from."""

    def __init__(self, canvas: GestureCanvas, at: Pointer, wire: Wire, key: str) -> None:
        """From that dot of that wire."""
        self._trunk, self._key = wire, key
        super().__init__(canvas, at, PortRef(wire.source, "output", "", wire.output))

    def _connect(self, target: PortRef) -> None:
        dot = self.canvas.scene.dots.of(self._trunk).index(self._key)
        self.canvas.store.attempt(recipes.branch, "Wire", self._trunk, dot, target.item, target.path)

    def _origin(self) -> tuple[float, float]:
        return self.canvas.scene.dots.place(self._key)

    def _click(self) -> None:
        self.canvas.selection.select_dots(self.canvas.lit.selected_dots ^ {self._key})


def begin_at_dot(canvas: GestureCanvas, at: Pointer, hit: Hit) -> Gesture:
    """A press on a dot: with Ctrl another wire begins there, else it moves with all that is selected with it."""
    assert hit.wire is not None
    if at.holds(Qt.KeyboardModifier.ControlModifier):
        return DotWire(canvas, at, hit.wire, hit.dot)
    dots = canvas.lit.selected_dots
    if hit.dot not in dots:
        canvas.selection.select_dots(
            dots | {hit.dot} if at.holds(Qt.KeyboardModifier.ShiftModifier) else frozenset({hit.dot})
        )
    keys = coinciding_dots(canvas.scene.graph, canvas.lit.selected_dots)
    return Move(canvas, at, frozenset(keys | canvas.attention.selection), hit.dot)
