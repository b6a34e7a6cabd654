"""Loop targets: what a `for` without a variable of its own binds at its head: ``for i, (a, b) in pairs:``.

Its elements are taken apart by the first statements of its body, or kept under a second name for what follows the
loop. Where nothing else reads the element, these statements are printed as the target and need no line.
"""

from collections.abc import Callable, Iterator

import msgspec

from gradstudio.graph.model import Block, BodyId, Graph, ItemId, Node, Wire

SECOND_NAME = "python.alias"
TUPLE = "python.tuple"
IsLive = Callable[[ItemId], bool]


class Target(msgspec.Struct, frozen=True):
    """A statement that is printed as a target.

    Attributes:
        node: it binds a tuple of names, or the outermost one name.
        source: the item whose result it takes apart, and which result.
        parts: for each of its names the statement that takes that apart in turn, or None.
    """

    node: ItemId
    source: tuple[ItemId, int]
    parts: "tuple[Target | None, ...]"


def loop_target(graph: Graph, block: Block, is_live: IsLive | None = None) -> Target | None:
    """The target of a loop; None when the loop has a variable, or its elements are taken apart in its body.

    Args:
        graph: the program.
        block: any block of it.
        is_live: whether an item is printed; all are, unless it says otherwise.
    """
    if block.kind != "for" or block.variable or block.endless:
        return None
    items = (item for item in graph.bodies[BodyId(block.id)] if is_live is None or is_live(item))
    found = _Walk(graph, items, is_live).taken(block.id, 0)
    if found is None:
        return None
    names = [name for target in targets(found) for name in graph.nodes[target.node].names if name != "_"]
    return found if len(names) == len(set(names)) else None


def targets(target: Target) -> Iterator[Target]:
    """The target and those in it, in the order of the text."""
    yield target
    for part in target.parts:
        if part is not None:
            yield from targets(part)


def target_text(graph: Graph, target: Target) -> str:
    """The target as Python writes it: ``i, (a, b)``."""
    return ", ".join(
        name if part is None else f"({target_text(graph, part)})"
        for name, part in zip(graph.nodes[target.node].names, target.parts, strict=True)
    )


class _Walk:
    """The statements of a body from the first on, as long as each takes apart what was asked for."""

    def __init__(self, graph: Graph, items: Iterator[ItemId], is_live: IsLive | None) -> None:
        self.graph = graph
        self.items = items
        self.is_live = is_live
        self.next = next(items, None)

    def taken(self, source: ItemId, output: int) -> Target | None:
        wire = self._only_wire(source, output)
        node = self.graph.nodes.get(wire.target) if wire is not None else None
        if wire is None or node is None or node.id != self.next or not self._takes(node, wire):
            return None
        self.next = next(self.items, None)
        parts = tuple(self.taken(node.id, k) if name == "_" else None for k, name in enumerate(node.names))
        return Target(node.id, (source, output), parts)

    def _only_wire(self, source: ItemId, output: int) -> Wire | None:
        leaving = (wire for wire in self.graph.wires_from(source) if wire.output == output)
        wires = [wire for wire in leaving if self.is_live is None or self.is_live(wire.target)]
        return wires[0] if len(wires) == 1 else None

    def _takes(self, node: Node, wire: Wire) -> bool:
        if node.bypassed:
            return False
        if node.operator == SECOND_NAME:
            return wire.source in self.graph.blocks and len(node.names) == 1 and node.names != ("_",)
        return node.operator == TUPLE and wire.port == "items" and len(node.names) > 1
