"""What of a program stays as it is when somebody turns a number or gives a value another name."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from gradstudio.graph.model import Block, BodyId, Definition, Graph, ItemId, Node, Wire


class GraphSnapshot:
    """The records of a graph at one revision; taking them costs next to nothing, for they are frozen."""

    def __init__(self, graph: Graph) -> None:
        """Keep hold of every record."""
        self.nodes: dict[ItemId, Node] = dict(graph.nodes)
        self.blocks: dict[ItemId, Block] = dict(graph.blocks)
        self.bodies: dict[BodyId, tuple[ItemId, ...]] = dict(graph.bodies)
        self.wires: list[Wire] = list(graph.wires.values())
        self.definitions: dict[str, Definition] = dict(graph.definitions)
        _, self.incoming = graph.wires_by_end()
        self.edges = graph.edges

    def changed(self, later: "GraphSnapshot") -> frozenset[ItemId] | None:
        """The nodes that came, went, or have another record or other wires into them later; None when a group has."""
        if self.definitions != later.definitions or self.edges != later.edges:
            return None
        found = {item for item, node in later.nodes.items() if self.nodes.get(item) is not node}
        found |= {item for item, wires in later.incoming.items() if self.incoming.get(item) is not wires}
        return frozenset(
            found | (self.nodes.keys() - later.nodes.keys()) | (self.incoming.keys() - later.incoming.keys())
        )

    def elsewhere(self, later: "GraphSnapshot") -> frozenset[ItemId] | None:
        """What went into a block, or out of one, that is there both times; None when blocks are others."""
        if self.blocks != later.blocks:
            return None
        inside = [body for body in self.bodies if body]
        return frozenset[ItemId]().union(*(set(self.bodies[body]) ^ set(later.bodies[body]) for body in inside))

    def turned(self, later: "GraphSnapshot") -> tuple[ItemId, ...] | None:
        """The nodes whose literals or names alone are others later; None when more than that has changed."""
        same = (
            self.bodies == later.bodies
            and self.wires == later.wires
            and self.blocks == later.blocks
            and self.definitions == later.definitions
            and self.nodes.keys() == later.nodes.keys()
        )
        if not same:
            return None
        found = []
        for item, node in later.nodes.items():
            before = self.nodes[item]
            if node is not before:
                if _bare(node) != _bare(before):
                    return None
                found.append(item)
        return tuple(found)

    def renamed(self, later: "GraphSnapshot", turned: Iterable[ItemId]) -> tuple[ItemId, ...]:
        """Those of the turned nodes that have other names later."""
        return tuple(item for item in turned if self.nodes[item].names != later.nodes[item].names)

    def are_fresh(self, later: "GraphSnapshot", renamed: tuple[ItemId, ...]) -> bool:
        """Whether every name that came is bound once, and every name that went nowhere: no other can be misread."""
        bound = Counter(name for node in later.nodes.values() for name in node.names)
        for block in later.blocks.values():
            bound.update((block.variable, *block.carried))
        came = {name for item in renamed for name in later.nodes[item].names} - {"_"}
        went = {name for item in renamed for name in self.nodes[item].names} - {"_"} - came
        return all(bound[name] == 1 for name in came) and not any(bound[name] for name in went)


def _bare(node: Node) -> Node:
    """The node without what analysis does not read, or reads of itself only; of names, which of them are kept."""
    names = tuple("_" if name == "_" else "name" for name in node.names)
    return msgspec.structs.replace(node, literals={}, covered={}, note="", beside="", blank_before=False, names=names)
