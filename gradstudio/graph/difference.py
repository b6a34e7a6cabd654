"""The edits that make one graph equal to another, item by item."""

from collections.abc import Iterable, Iterator

from gradstudio.graph.edits import (
    AddBlock,
    AddNode,
    AddWire,
    Edit,
    Edits,
    MoveItem,
    RemoveBlock,
    RemoveNode,
    RemoveWire,
    ReplaceBlock,
    ReplaceNode,
    SetHeader,
    SetPlaces,
    SetTail,
    SetTensor,
    apply,
)
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Place


def edits_between(graph: Graph, target: Graph) -> Edits:
    """What has to be done to a graph so that it is the other one; items that both have are the same by their id.

    Definitions and the revision are left as they are. An item that is a node in one graph and a block in the
    other must have another id there.
    """
    return _Difference(graph, target).edits()


class _Difference:
    """One comparison; edits are tried on a copy, since places in an order depend on those before."""

    def __init__(self, graph: Graph, target: Graph) -> None:
        self.graph = graph.copy()
        self.target = target
        self.done: list[Edit] = []

    def edits(self) -> Edits:
        graph = self.graph
        target = self.target
        self._do(SetTensor(d, t) for d, t in target.tensors.items() if d not in graph.tensors)
        self._do(RemoveWire(wire) for key, wire in list(graph.wires.items()) if target.wires.get(key) != wire)
        self._do(RemoveNode(item) for item in list(graph.nodes) if item not in target.nodes)
        self._do(SetTail(body, "") for body in list(graph.tails) if not target.tails.get(body))
        self._arrange(ROOT)
        self._remove_blocks()
        self._do(SetTail(body, text) for body, text in target.tails.items() if text != graph.tails.get(body, ""))
        self._do(AddWire(wire) for key, wire in target.wires.items() if key not in graph.wires)
        if graph.header != target.header:
            self._do([SetHeader(target.header)])
        self._places()
        return tuple(self.done)

    def _do(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            apply(self.graph, edit)
            self.done.append(edit)

    def _arrange(self, body: BodyId) -> None:
        """Bring the items of a body into the target's order, what it has from other bodies too."""
        for index, item in enumerate(self.target.bodies[body]):
            self._do(list(self._stand(item, body, index)))
            if item in self.target.blocks:
                self._arrange(BodyId(item))

    def _stand(self, item: ItemId, body: BodyId, index: int) -> Iterator[Edit]:
        record = self.target.nodes.get(item) or self.target.blocks[item]
        present = self.graph.nodes.get(item) or self.graph.blocks.get(item)
        if present is None:
            yield AddBlock(record, body, index) if isinstance(record, Block) else AddNode(record, body, index)
            return
        order = self.graph.bodies[body]
        if index >= len(order) or order[index] != item:
            yield MoveItem(item, body, index)
        if present != record:
            yield ReplaceBlock(record) if isinstance(record, Block) else ReplaceNode(record)

    def _remove_blocks(self) -> None:
        """Those that the target has not, the innermost first: what they held stands elsewhere by now."""
        gone = [item for item in self.graph.order() if item in self.graph.blocks and item not in self.target.blocks]
        self._do(RemoveBlock(item) for item in reversed(gone))

    def _places(self) -> None:
        before = self.graph.places
        after = self.target.places
        changed: dict[str, Place | None] = {key: place for key, place in after.items() if before.get(key) != place}
        changed |= dict.fromkeys(key for key in before if key not in after)
        if changed:
            self._do([SetPlaces(changed)])
