"""Drawing a wire from a parameter's row: it reads `fc.weight`, by a part that is made when the wire is dropped."""

from gradstudio.graph import names, recipes, rules
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.wiring.connection import first_fitting_port
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.gestures.gesture import GestureCanvas
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.gestures.wire_gesture import WireGesture


class LeafGesture(WireGesture):
    """A wire from a leaf of a module to the pointer; the rule-book is asked about a graph in which it is read."""

    def __init__(self, canvas: GestureCanvas, at: Pointer, port: PortRef) -> None:
        """Try the reading on a copy."""
        self._trial = copy_with_index(canvas.scene.graph)
        edits, self._leaf = recipes.read_leaf(canvas.scene.graph, port.item, port.path)
        apply_all(self._trial, edits)
        super().__init__(canvas, at, port)

    def _legal_among(self, items: list[ItemId]) -> frozenset[PortRef]:
        targets = rules.legal_targets(self._trial, self._leaf, 0, items)
        return frozenset(PortRef(item, "input", path) for item, path in targets if self._is_shown(item, path))

    def _fitting(self, item: ItemId) -> str | None:
        return first_fitting_port(self._trial, self._leaf, 0, item)

    def _why_not(self, target: PortRef | None) -> str:
        if target is None or self._is_legal(target):
            return ""
        return rules.why_not(self._trial, self._leaf, 0, target.item, target.path)

    def _drawn(self, graph: Graph, target: PortRef) -> Edits:
        return recipes.connect_leaf(graph, self._port.item, self._port.path, target.item, target.path)

    def _connect(self, target: PortRef) -> None:
        port = self._port
        text = f"Wire {port.path}"
        self.canvas.store.attempt(recipes.connect_leaf, text, port.item, port.path, target.item, target.path)

    def _drop_on_canvas(self, at: Pointer) -> None:
        """On empty ground: the reading gets a card of its own there, to be wired on."""
        port = self._port
        self.canvas.store.attempt(_read_at, f"Read {port.path}", port.item, port.path, round(at.x), round(at.y))

    def _click(self) -> None:
        self.canvas.selection.select(frozenset({self._port.item}))


def _read_at(graph: Graph, module: ItemId, path: str, x: float, y: float) -> Edits:
    """A statement that reads a leaf under a name of its own."""
    edits, leaf = recipes.read_leaf(graph, module, path)
    after = graph.copy()
    apply_all(after, edits)
    name = names.fresh_name(recipes.Draft(after).taken_names(), path.rsplit(".", 1)[-1])
    named = recipes.combine_steps(
        after, lambda now: recipes.rename(now, leaf, (name,)), lambda now: recipes.move(now, {leaf: (x, y)})
    )
    return (*edits, *named)
