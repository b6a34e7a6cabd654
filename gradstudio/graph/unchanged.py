"""What of a program stays as it is when somebody turns a number: edits that decide nothing but values."""

import msgspec

from gradstudio.graph.model import Block, BodyId, Definition, Graph, ItemId, Node, Wire


class Seen:
    """The records of a graph at one revision; taking them costs next to nothing, for they are frozen."""

    def __init__(self, graph: Graph) -> None:
        """Keep hold of every record."""
        self.nodes: dict[ItemId, Node] = dict(graph.nodes)
        self.blocks: dict[ItemId, Block] = dict(graph.blocks)
        self.bodies: dict[BodyId, tuple[ItemId, ...]] = dict(graph.bodies)
        self.wires: list[Wire] = list(graph.wires.values())
        self.definitions: dict[str, Definition] = dict(graph.definitions)

    def turned(self, later: "Seen") -> tuple[ItemId, ...] | None:
        """The nodes whose literals alone are others later; None when more than that has changed."""
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


def _bare(node: Node) -> Node:
    """The node without what analysis does not read, or reads of itself only."""
    return msgspec.structs.replace(node, literals={}, covered={}, note="", blank_before=False)
