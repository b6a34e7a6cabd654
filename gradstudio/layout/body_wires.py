"""Which wires run within each body, and which cross its border on their way in or out."""

from collections.abc import Iterable

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire

Output = tuple[ItemId, int]
Ends = list[tuple[Wire, ItemId]]


class BodyWires:
    """The wires of one body.

    Attributes:
        within: wires between two items of the body, with these (either may be a block around the wire's end).
        entering: by the output they come from, wires from outside, with the item of the body they go to.
        leaving: by the output they come from, wires to the outside, with the item of the body they come from.
    """

    def __init__(self) -> None:
        """No wires."""
        self.within: list[tuple[Wire, ItemId, ItemId]] = []
        self.entering: dict[Output, Ends] = {}
        self.leaving: dict[Output, Ends] = {}


def wires_by_body(graph: Graph, wires: Iterable[Wire] | None = None) -> dict[BodyId, BodyWires]:
    """For each body that has any, its wires, or those among `wires`; none to and from the edge of a definition."""
    chains: dict[ItemId, list[ItemId]] = {}
    found: dict[BodyId, BodyWires] = {}
    for wire in sorted(graph.wires.values() if wires is None else wires):
        for item in (wire.source, wire.target):
            if item not in chains:
                chains[item] = _chain(graph, item)
        source, target = chains[wire.source], chains[wire.target]
        if not source or not target:
            continue
        shared = _shared(source, target)
        inside = shared
        if shared < min(len(source), len(target)):
            inside += 1
            body = graph.parents[source[shared]]
            found.setdefault(body, BodyWires()).within.append((wire, source[shared], target[shared]))
        key = (wire.source, wire.output)
        for item in target[inside:]:
            found.setdefault(graph.parents[item], BodyWires()).entering.setdefault(key, []).append((wire, item))
        for item in source[inside:]:
            found.setdefault(graph.parents[item], BodyWires()).leaving.setdefault(key, []).append((wire, item))
    return found


def _shared(one: list[ItemId], other: list[ItemId]) -> int:
    """How many blocks the two chains begin with in common."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count


def _chain(graph: Graph, item: ItemId) -> list[ItemId]:
    """The item and the blocks around it, outermost first; none of the edge of a definition."""
    if item not in graph.parents:
        return []
    around = [ItemId(body) for body in graph.ancestors(item) if body != ROOT]
    return [*reversed(around), item]
