"""Shift and a drag from an output: all its wires go with the pointer to another output."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter

from gradstudio.graph import recipes, rules
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.scene import arrays, hit_test
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.edit.wire_commands import count_words
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.gestures.wire_gesture import REACH
from gradstudio.ui.canvas.paint.interaction_painter import ring
from gradstudio.ui.canvas.paint.wire_painter import draw_paths


class MoveWires(Gesture):
    """The wires of one output on their way to another; those that may not begin there stay, and it is said why."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, canvas: GestureCanvas, at: Pointer, port: PortRef) -> None:
        """Which wires these are."""
        super().__init__(canvas, at)
        self._port, self._at = port, at
        self._target: PortRef | None = None
        self._refused: tuple[tuple[Wire, str], ...] = ()
        self._reasons: dict[PortRef, tuple[tuple[Wire, str], ...]] = {}
        graph = canvas.scene.graph
        self._wires = tuple(wire for wire in graph.wires_from(port.item) if wire.output == port.output)

    def move(self, at: Pointer) -> None:
        self._at = at
        self._target = self._output_under(at)
        self._refused = self._refusals(self._target) if self._target is not None else ()
        where = QPoint(round(at.view_x), round(at.view_y))
        if self._refused:
            self.canvas.bubble.say(refusal_words(self.canvas, self._refused, len(self._wires)), where, stays=True)
        elif self._wires:
            self.canvas.bubble.say(
                f"Move {count_words(len(self._wires))} to another output", where, role="info", stays=True
            )
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        if not at.is_far_from(self.start):
            self.canvas.bubble.hide()
            self.canvas.selection.select(self.canvas.attention.selection | {self._port.item})
            return
        self.move(at)
        self.canvas.bubble.hide()
        if self._target is not None and self._wires:
            self._do(self._target)

    def cancel(self) -> None:
        self.canvas.bubble.hide()

    def paint(self, painter: QPainter) -> None:
        if not self._wires or not self._at.is_far_from(self.start):
            return
        canvas, scene = self.canvas, self.canvas.scene
        start = scene.placement.anchor(self._target) if self._target is not None else (self._at.x, self._at.y)
        ends = np.array([scene.placement.anchor(PortRef(wire.target, "input", wire.port)) for wire in self._wires])
        starts = np.repeat(np.array([start]), len(ends), 0)
        boxes = [np.concatenate([points, points], 1) + np.array([0, -10, 0, 10]) for points in (starts, ends)]
        paths = arrays.wire_paths(starts, ends, *boxes)
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        stay = {wire for wire, _ in self._refused}
        for role, refused in (("accent", False), ("danger", True)):
            which = [k for k, wire in enumerate(self._wires) if (wire in stay) is refused]
            if which:
                draw_paths(painter, canvas.camera, seen, paths[which], canvas.canvas_style.color(role), 2.6)
        if self._target is not None:
            x, y = canvas.camera.to_view(*scene.placement.anchor(self._target))
            role = "danger" if len(stay) == len(self._wires) else "accent"
            ring(painter, canvas.canvas_style.color(role), x, y, 12.0 * max(canvas.camera.zoom, 0.5))

    def _output_under(self, at: Pointer) -> PortRef | None:
        """The output under the pointer, or the first one of the card there; not the one that the wires leave."""
        scene = self.canvas.scene
        port = hit_test.port_at(scene, at.x, at.y, REACH / max(self.canvas.camera.zoom, 0.4))
        if port is not None and port.side == "output" and not port.path:
            return port if port != self._port else None
        item = hit_test.card_at(scene, at.x, at.y)
        layout = (
            scene.placement.layout(item)
            if item is not None and item != scene.state.card_groups.home(self._port.item)
            else None
        )
        rows = layout.outputs if layout is not None else ()
        return next((PortRef(row.owner, "output", "", row.index) for row in rows), None)

    def _refusals(self, target: PortRef) -> tuple[tuple[Wire, str], ...]:
        """The wires that may not begin there; asked once for each output."""
        if target not in self._reasons:
            graph = self.canvas.scene.graph
            whys = (
                (wire, rules.why_not(graph, target.item, target.output, wire.target, wire.port, exact=True))
                for wire in self._wires
            )
            self._reasons[target] = tuple((wire, why) for wire, why in whys if why)
        return self._reasons[target]

    def _do(self, target: PortRef) -> None:
        canvas = self.canvas
        try:
            edits, stay = recipes.move_wires(
                canvas.scene.graph, self._port.item, self._port.output, target.item, target.output
            )
        except Refused as refusal:
            canvas.refuse(str(refusal))
            return
        moved = len(self._wires) - len(stay)
        canvas.store.submit(edits, f"Move {count_words(moved)}")
        if stay:
            canvas.refuse(refusal_words(canvas, stay, len(self._wires)))


def refusal_words(canvas: GestureCanvas, stay: tuple[tuple[Wire, str], ...], count: int) -> str:
    """Which wires stay where they are, and why the first does."""
    wire, why = stay[0]
    if len(stay) == count:
        return why
    return f"{count_words(len(stay))} of {count} must stay: into {title(canvas.scene.graph, wire.target)}: {why}"
