"""Shift (or Alt) and the right button from card to card: the output that fits best is wired to its best input."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter

from gradstudio.graph.model import ItemId
from gradstudio.graph.ports import port_matching
from gradstudio.graph.ports.item_ports import input_ports, output_ports
from gradstudio.graph.ports.port_matching import Link
from gradstudio.graph.recipes.wiring.connection import is_wired
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.item_titles import title
from gradstudio.scene import hit_test
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.gestures.wire_gesture import ALREADY, connect_with_room
from gradstudio.ui.canvas.paint.interaction_painter import ring, veil
from gradstudio.ui.canvas.paint.wire_painter import draw_paths


class QuickConnect(Gesture):
    """A wire from card to card; where several ports fit equally well, the person chooses from a list."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, canvas: GestureCanvas, at: Pointer, item: ItemId) -> None:
        """From this card."""
        super().__init__(canvas, at)
        self._item, self._at = item, at
        self._target: ItemId | None = None
        self._found: dict[ItemId, list[Link]] = {}

    def move(self, at: Pointer) -> None:
        self._at = at
        target = hit_test.card_at(self.canvas.scene, at.x, at.y)
        self._target = target if target != self._item else None
        self._say()
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        self.move(at)
        self.canvas.bubble.hide()
        if self._target is None:
            return
        links = self._links()
        equal = port_matching.best_links(links)
        if not equal:
            self.canvas.refuse(self._reason())
        elif self._is_there(equal):
            self.canvas.said.emit(ALREADY)
        elif len(equal) > 1:
            self.canvas.wire_commands.choose_links(self._item, self._target, links, (at.view_x, at.view_y))
        else:
            link = equal[0]
            self.canvas.store.attempt(connect_with_room, "Wire", link.source, link.output, link.target, link.port)

    def cancel(self) -> None:
        self.canvas.bubble.hide()

    def paint(self, painter: QPainter) -> None:
        import numpy as np

        from gradstudio.scene import arrays

        canvas, scene = self.canvas, self.canvas.scene
        if not self._at.is_far_from(self.start):
            return
        width, height = canvas.viewport().width(), canvas.viewport().height()
        lit = {self._item} if self._target is None else {self._item, self._target}
        veil(
            painter, canvas.canvas_style, scene, canvas.camera, width, height, lit if self._target else scene.stack.ids
        )
        equal = port_matching.best_links(self._links()) if self._target is not None else []
        role = "accent" if equal or self._target is None else "danger"
        for start, end in self._ends(equal):
            points = np.array([start, end], dtype=np.float64)
            spots = np.concatenate([points, points], 1) + np.array([0, -10, 0, 10])
            path = arrays.wire_paths(points[:1], points[1:], spots[:1], spots[1:])
            draw_paths(
                painter, canvas.camera, canvas.camera.seen(width, height), path, canvas.canvas_style.color(role), 2.6
            )
        for link in equal:
            for port in _ports(link):
                x, y = canvas.camera.to_view(*scene.placement.anchor(port))
                ring(painter, canvas.canvas_style.color("accent"), x, y, 11.0 * max(canvas.camera.zoom, 0.5))

    def _ends(self, equal: list[Link]) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        """From where to where lines go, scene pixels."""
        scene = self.canvas.scene
        if equal:
            return [
                (scene.placement.anchor(_ports(link)[0]), scene.placement.anchor(_ports(link)[1])) for link in equal
            ]
        layout = scene.placement.layout(self._item)
        row = layout.outputs[0] if layout is not None and layout.outputs else None
        start = (
            scene.placement.anchor(PortRef(row.owner, "output", "", row.index)) if row else (self.start.x, self.start.y)
        )
        return [(start, (self._at.x, self._at.y))]

    def _links(self) -> list[Link]:
        """The wires that could be drawn to the card under the pointer; asked once for each card."""
        assert self._target is not None
        if self._target not in self._found:
            self._found[self._target] = self.canvas.wire_commands.links_between(self._item, self._target)
        return self._found[self._target]

    def _is_there(self, found: list[Link]) -> bool:
        """Whether all that could be drawn is drawn already."""
        graph = self.canvas.scene.graph
        return all(is_wired(graph, link.source, link.output, link.target, link.port) for link in found)

    def _say(self) -> None:
        bubble, where = self.canvas.bubble, QPoint(round(self._at.view_x), round(self._at.view_y))
        if self._target is None:
            bubble.hide()
            return
        equal, name = port_matching.best_links(self._links()), title(self.canvas.scene.graph, self._target)
        if not equal:
            bubble.say(self._reason(), where, stays=True)
        elif self._is_there(equal):
            bubble.say(ALREADY, where, role="info", stays=True)
        elif len(equal) > 1:
            words = f"{len(equal)} ways fit {name} equally well:\n" + "\n".join(link.words for link in equal)
            bubble.say(f"{words}\nLet go to choose.", where, role="info", stays=True)
        else:
            bubble.say(f"{equal[0].words} of {name}", where, role="ok", stays=True)

    def _reason(self) -> str:
        """Why nothing fits: the reason of the first output and the first input."""
        assert self._target is not None
        graph = self.canvas.scene.graph
        outputs, inputs = output_ports(graph, self._item), input_ports(graph, self._target)
        if not outputs:
            return f"{title(graph, self._item)} has no result to take from here."
        if not inputs:
            return f"{title(graph, self._target)} has no inputs."
        whys = (why_not(graph, self._item, outputs[0].index, self._target, port.path) for port in inputs)
        return next((why for why in whys if why), f"Nothing fits {title(graph, self._target)}.")


def _ports(link: Link) -> tuple[PortRef, PortRef]:
    return PortRef(link.source, "output", "", link.output), PortRef(link.target, "input", link.port)
