"""Drawing wires: legal ports are lit, others dimmed, and an illegal one says why beside the pointer.

Where the pointer rests at a legal port, torch is asked, and the bubble says before the drop what would come of it.
"""

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter

from gradstudio.advice.wire_trial import Verdict
from gradstudio.graph import recipes, rules
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import output_family
from gradstudio.graph.recipes.wiring.connection import first_fitting_port, is_wired
from gradstudio.layout.placement.gap_opening import open_gap
from gradstudio.operators.model import Family
from gradstudio.operators.search.fitting_literals import Shape
from gradstudio.scene import arrays, hit_test
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.edit.wired_adding import known_shape
from gradstudio.ui.canvas.gestures.gesture import Gesture, GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.paint.interaction_painter import ring, veil
from gradstudio.ui.canvas.paint.wire_painter import draw_paths
from gradstudio.ui.state.run.wire_inference import Ends, WireInference

ROLES = {"fits": "ok", "refused": "warning", "unknown": "accent"}
ALREADY = "Already wired."
"""What is said where a wire is drawn once more."""
REACH = 18.0
"""View pixels around a port that catch a wire's end."""


class WireGesture(Gesture):
    """A wire from a port to the pointer; `wire` is an existing one that was taken off its input."""

    cursor = Qt.CursorShape.CrossCursor
    pans_at_border = True

    def __init__(self, canvas: GestureCanvas, at: Pointer, port: PortRef, wire: Wire | None = None) -> None:
        """The rule-book is asked once for each item that is seen."""
        super().__init__(canvas, at)
        self._port, self._wire = port, wire
        self._at = at
        self._target: PortRef | None = None
        self._reason = ""
        self._moved = False
        self._known: dict[ItemId, frozenset[PortRef]] = {}
        self._trials: WireInference | None = getattr(canvas.session, "trials", None)

    def move(self, at: Pointer) -> None:
        self._moved = self._moved or at.is_far_from(self.start)
        self._at = at
        self._target = self._port_under(at)
        self._reason = self._why_not(self._target)
        self._ask()
        self.say()

    def say(self) -> None:
        """Tell what is known of the port under the pointer: why not, or what torch would make of the wire."""
        bubble, where = self.canvas.bubble, QPoint(round(self._at.view_x), round(self._at.view_y))
        verdict = self._verdict()
        if self._reason:
            bubble.say(self._reason, where, stays=True)
        elif self._is_there(self._target):
            bubble.say(ALREADY, where, role="info", stays=True)
        elif verdict is not None:
            bubble.say_verdict(verdict, where)
        else:
            bubble.hide()
        self.canvas.viewport().update()

    def release(self, at: Pointer) -> None:
        if not self._moved:
            self._click()
            return
        self.move(at)
        self._end()
        if self._target is None:
            self._drop_on_canvas(at)
        elif self._reason:
            self.canvas.refuse(self._reason)
        else:
            self._connect(self._target)

    def cancel(self) -> None:
        self._end()

    def paint(self, painter: QPainter) -> None:
        canvas, scene = self.canvas, self.canvas.scene
        width, height = canvas.viewport().width(), canvas.viewport().height()
        if self._moved:
            legal = self._legal_in(scene.items_in(canvas.camera.seen(width, height)))
            lit = {port.item for port in legal} | {self._port.item}
            veil(painter, canvas.canvas_style, scene, canvas.camera, width, height, lit)
            for port in legal:
                x, y = canvas.camera.to_view(*scene.placement.anchor(port))
                if -20 < x < width + 20 and -20 < y < height + 20:
                    ring(painter, canvas.canvas_style.color("accent"), x, y, 8.0 * max(canvas.camera.zoom, 0.5))
            self._paint_target(painter)
        self._paint_wire(painter)

    # --------------------------------------------------------------

    def _legal_in(self, items: Iterable[ItemId]) -> frozenset[PortRef]:
        """The ports of some items in which this wire may end."""
        asked = dict.fromkeys(items)
        unknown = [item for item in asked if item not in self._known]
        if unknown:
            ports = self._legal_among(unknown)
            for item in unknown:
                self._known[item] = frozenset(port for port in ports if port.item == item)
        return frozenset().union(*(self._known[item] for item in asked))

    def _is_legal(self, port: PortRef) -> bool:
        return port in self._legal_in((port.item,))

    def _legal_among(self, items: list[ItemId]) -> frozenset[PortRef]:
        graph, port = self.canvas.scene.graph, self._port
        if port.side == "output":
            targets = rules.legal_targets(graph, port.item, port.output, items)
            return frozenset(PortRef(item, "input", path) for item, path in targets if self._is_shown(item, path))
        sources = rules.legal_sources(graph, port.item, port.path, items)
        return frozenset(PortRef(item, "output", "", output) for item, output in sources)

    def _is_shown(self, item: ItemId, path: str) -> bool:
        layout = self.canvas.scene.placement.layout(item)
        return layout is not None and layout.input(path) is not None

    def _port_under(self, at: Pointer) -> PortRef | None:
        scene, reach = self.canvas.scene, REACH / max(self.canvas.camera.zoom, 0.4)
        port = hit_test.port_at(scene, at.x, at.y, reach)
        wanted = "input" if self._port.side == "output" else "output"
        is_leaf = port is not None and port.side == "output" and bool(port.path)
        if port is not None and port != self._port and port.side == wanted and not is_leaf:
            return port
        item = hit_test.card_at(scene, at.x, at.y)
        is_other = item is not None and item != scene.state.card_groups.home(self._port.item)
        return self._natural_port(item) if item is not None and is_other else None

    def _natural_port(self, item: ItemId) -> PortRef | None:
        """Which port a wire dropped on a card's body takes."""
        scene = self.canvas.scene
        if self._port.side == "input":
            layout = scene.placement.layout(item)
            outputs = (
                [PortRef(row.owner, "output", "", row.index) for row in layout.outputs] if layout is not None else []
            )
            return next((output for output in outputs if self._is_legal(output)), outputs[0] if outputs else None)
        rows = scene.stack.cards[item].layout.inputs
        for owner in self._owners(dict.fromkeys(row.owner for row in rows)):
            path = self._fitting(owner)
            if path is not None and self._is_shown(owner, path):
                return PortRef(owner, "input", path)
        return PortRef(rows[0].owner, "input", rows[0].path) if rows else None

    def _owners(self, owners: Iterable[ItemId]) -> list[ItemId]:
        """The items on a card, in the order in which the wire would ask them: a module goes to a container first."""
        graph, port = self.canvas.scene.graph, self._port
        is_module = not port.path and output_family(graph, port.item, port.output) is Family.MODULE
        return sorted(owners, key=lambda owner: is_module and recipes.free_child_port(graph, owner) is None)

    def _fitting(self, item: ItemId) -> str | None:
        """The input of an item that the wire would naturally take."""
        return first_fitting_port(self.canvas.scene.graph, self._port.item, self._port.output, item)

    def _ends(self, target: PortRef) -> tuple[PortRef, PortRef]:
        """Output and input of the wire that would be drawn."""
        return (self._port, target) if self._port.side == "output" else (target, self._port)

    def _why_not(self, target: PortRef | None) -> str:
        if target is None or self._is_legal(target):
            return ""
        source, end = self._ends(target)
        return rules.why_not(self.canvas.scene.graph, source.item, source.output, end.item, end.path)

    # -------------------------------------------------------------- what torch would say

    def _ask(self) -> None:
        """Ask torch about the port under the pointer, if the wire may end there and is not the one that was."""
        if self._trials is None:
            return
        target = self._target
        if target is None or self._reason or self._is_old(target) or self._is_there(target):
            self._trials.leave()
            return
        self._trials.ask(self._trial_ends(target), lambda graph: self._drawn(graph, target))

    def _verdict(self) -> Verdict | None:
        if self._trials is None or self._target is None or self._reason or self._is_old(self._target):
            return None
        return self._trials.verdict(self._trial_ends(self._target))

    def _trial_ends(self, target: PortRef) -> Ends:
        source, end = self._ends(target)
        return source.item, source.output, end.item, end.path

    def _is_old(self, target: PortRef) -> bool:
        """Whether the wire that was taken off its input would come back to it."""
        return self._wire is not None and (self._wire.target, self._wire.port) == (target.item, target.path)

    def _is_there(self, target: PortRef | None) -> bool:
        """Whether a wire that is newly drawn would be one that there is."""
        if target is None or self._wire is not None:
            return False
        source, end = self._ends(target)
        return is_wired(self.canvas.scene.graph, source.item, source.output, end.item, end.path)

    def _drawn(self, graph: Graph, target: PortRef) -> Edits:
        """What the drop would do."""
        source, end = self._ends(target)
        if self._wire is not None:
            return recipes.replace_target(graph, self._wire, end.item, end.path)
        return recipes.connect(graph, source.item, source.output, end.item, end.path)

    def _end(self) -> None:
        self.canvas.bubble.hide()
        if self._trials is not None:
            self._trials.forget()

    # -------------------------------------------------------------- the drop

    def _connect(self, target: PortRef) -> None:
        source, end = self._ends(target)
        store = self.canvas.store
        if self._wire is None:
            scene = self.canvas.scene
            shape = known_shape(scene.graph, scene.results, source.item, source.output)
            store.attempt(connect_with_room, "Wire", source.item, source.output, end.item, end.path, shape)
        elif (self._wire.target, self._wire.port) != (end.item, end.path):
            store.attempt(recipes.replace_target, "Move wire", self._wire, end.item, end.path)

    def _drop_on_canvas(self, at: Pointer) -> None:
        if self._wire is not None:
            self.canvas.store.attempt(recipes.disconnect, "Remove wire", self._wire)
        else:
            self.canvas.searching.open_for_wire(self._port, at)

    def _click(self) -> None:
        """A click without a drag selects the card, or the wire that ends in the input."""
        if self._wire is not None:
            self.canvas.selection.select_wires(frozenset({self._wire}))
        else:
            self.canvas.selection.select(frozenset({self._port.item}))

    def _paint_wire(self, painter: QPainter) -> None:
        canvas, scene = self.canvas, self.canvas.scene
        here = self._origin()
        free = (
            scene.placement.anchor(self._target)
            if self._target is not None and not self._reason
            else (self._at.x, self._at.y)
        )
        start, end = (here, free) if self._port.side == "output" else (free, here)
        points = np.array([start, end], dtype=np.float64)
        spots = np.concatenate([points, points], 1) + np.array([0, -10, 0, 10])
        path = arrays.wire_paths(points[:1], points[1:], spots[:1], spots[1:])
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        role = "danger" if self._reason else self._role()
        draw_paths(painter, canvas.camera, seen, path, canvas.canvas_style.color(role), 2.6)

    def _origin(self) -> tuple[float, float]:
        """Where the wire is drawn from, scene pixels."""
        return self.canvas.scene.placement.anchor(self._port)

    def _paint_target(self, painter: QPainter) -> None:
        """The port under the pointer, in the colour of what torch would say of it."""
        if self._target is not None and not self._reason and self._is_legal(self._target):
            x, y = self.canvas.camera.to_view(*self.canvas.scene.placement.anchor(self._target))
            ring(painter, self.canvas.canvas_style.color(self._role()), x, y, 12.0 * max(self.canvas.camera.zoom, 0.5))

    def _role(self) -> str:
        verdict = self._verdict()
        return ROLES[verdict.outcome] if verdict is not None else "accent"


def connect_with_room(
    graph: Graph, source: ItemId, output: int, target: ItemId, path: str, shape: Shape | None = None
) -> Edits:
    """A wire, and room for what comes between; a layer takes its size from the shape that flows."""
    return open_gap(graph, recipes.connect_fitting(graph, source, output, target, path, shape))
