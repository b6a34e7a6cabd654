"""A line drawn with the right button across wires: those it crosses are cut, or muted, on release."""

from typing import ClassVar

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.graph.model import Wire
from gradstudio.scene import arrays
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.paint.wire_painter import draw_paths


class Swipe(Gesture):
    """A straight line from the press to the pointer; what it crosses is lit."""

    cursor = Qt.CursorShape.CrossCursor
    role: ClassVar[str] = "danger"

    def __init__(self, canvas: GestureCanvas, at: Pointer) -> None:
        """Nothing is crossed yet."""
        super().__init__(canvas, at)
        self._at = at
        self.crossed: tuple[Wire, ...] = ()

    def move(self, at: Pointer) -> None:
        self._at = at
        self.crossed = self._crossed() if at.is_far_from(self.start) else ()
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        self.move(at)
        if self.crossed:
            self.do(self.crossed)

    def do(self, wires: tuple[Wire, ...]) -> None:
        """What happens to the wires that were crossed."""

    def paint(self, painter: QPainter) -> None:
        if not self._at.is_far_from(self.start):
            return
        canvas, scene = self.canvas, self.canvas.scene
        color = canvas.canvas_style.color(self.role)
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        which = [scene.wiring.index[wire] for wire in self.crossed if wire in scene.wiring.index]
        if which:
            draw_paths(painter, canvas.camera, seen, scene.routes.paths[which], color, 4.0)
        self._paint_line(painter, color)

    def _paint_line(self, painter: QPainter, color: QColor) -> None:
        start, end = canvas_points(self.canvas, self.start), canvas_points(self.canvas, self._at)
        painter.setPen(QPen(self.canvas.canvas_style.color("canvas"), 4.0))
        painter.drawLine(start, end)
        painter.setPen(QPen(color, 2.0, Qt.PenStyle.DashLine))
        painter.drawLine(start, end)

    def _crossed(self) -> tuple[Wire, ...]:
        scene = self.canvas.scene
        found = arrays.wires_across(
            scene.routes.paths, scene.routes.bounds, (self.start.x, self.start.y), (self._at.x, self._at.y)
        )
        return tuple(scene.wiring.wires[k] for k in found if self.takes(scene.wiring.wires[k]))

    def takes(self, wire: Wire) -> bool:
        """Whether the line means this wire."""
        return self.canvas.scene.wiring.is_drawn(wire)


class Knife(Swipe):
    """Cuts the wires it crosses: one undo entry."""

    def do(self, wires: tuple[Wire, ...]) -> None:
        """Take them away."""
        self.canvas.wire_commands.remove_wires(wires)


class MuteSwipe(Swipe):
    """Mutes the wires it crosses; where all of them are muted, takes them back: one undo entry."""

    role = "warning"

    def do(self, wires: tuple[Wire, ...]) -> None:
        """Mute or unmute."""
        self.canvas.wire_commands.toggle_wires_muted(wires)

    def takes(self, wire: Wire) -> bool:
        """A block's inputs cannot be muted."""
        return super().takes(wire) and wire.target in self.canvas.scene.graph.nodes


def canvas_points(canvas: GestureCanvas, at: Pointer) -> QPointF:
    """A pointer's place now, view pixels: the scene may have moved under it."""
    return QPointF(*canvas.camera.to_view(at.x, at.y))
