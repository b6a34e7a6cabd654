"""A module and what shares its card are one box: the graph as it is laid out. No Qt here."""

from gradstudio.graph.card_grouping import CardGroups, card_groups
from gradstudio.graph.graph_index import index_of, is_wire_forward
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire

OWN_OUTPUT = -1
"""The output of a joined card that is the module itself, in its header."""


def without_joined(graph: Graph) -> Graph:
    """The graph with all that shares a card taken into one item; the same graph when nothing does.

    Wires of a module lead to and from the call on its card. Each body is in an order in which wires go forward, as far
    as there is one.
    """
    groups = card_groups(graph)
    inside = groups.insides()
    if not inside:
        return graph
    made = graph.copy()
    led = _lead_wires(graph, made, groups)
    for body in {graph.parents[item] for item in inside}:
        made.bodies[body] = tuple(item for item in graph.bodies[body] if item not in inside)
    for item in inside:
        del made.nodes[item]
        del made.parents[item]
    if not index_of(graph).is_forward or not all(is_wire_forward(graph, wire) for wire in led):
        for body in graph.bodies:
            made.bodies[body] = _forward(made, body)
    made.revision += 1
    return made


def _lead_wires(graph: Graph, made: Graph, groups: CardGroups) -> list[Wire]:
    """Draw the wires of what is inside a card from and to the card, but for those within it; the wires drawn."""
    inner = {wire for item in groups.insides() for wire in (*graph.wires_from(item), *graph.wires_to(item))}
    found = []
    for wire in graph.wires.values():
        if wire in inner:
            made.erase(wire)
            if not groups.is_hidden(wire):
                found.append(_led(wire, groups.calls))
    for wire in found:
        made.draw(wire)
    return found


def _led(wire: Wire, calls: dict[ItemId, ItemId]) -> Wire:
    """The wire between cards."""
    output = OWN_OUTPUT if wire.source in calls else wire.output
    return Wire(calls.get(wire.source, wire.source), output, calls.get(wire.target, wire.target), wire.port)


def _forward(graph: Graph, body: BodyId) -> tuple[ItemId, ...]:
    """The items of a body, what an item takes from before it, and otherwise as they are."""
    items = graph.bodies[body]
    place = {item: number for number, item in enumerate(items)}
    needs: dict[ItemId, set[ItemId]] = {item: set() for item in items}
    for wire in graph.wires.values():
        source, target = _inside(graph, body, wire.source), _inside(graph, body, wire.target)
        if source is not None and target is not None and source != target and not wire.port.startswith("next."):
            needs[target].add(source)
    done: dict[ItemId, None] = {}
    for item in items:
        _put(item, needs, place, done)
    return tuple(done)


def _put(item: ItemId, needs: dict[ItemId, set[ItemId]], place: dict[ItemId, int], done: dict[ItemId, None]) -> None:
    """Put an item behind what it needs; what needs it in turn, in a ring, is not waited for."""
    stack = [(item, iter(sorted(needs[item], key=place.__getitem__)))]
    entered = {item}
    while stack:
        here, sources = stack[-1]
        source = next((one for one in sources if one not in done and one not in entered), None)
        if source is not None:
            entered.add(source)
            stack.append((source, iter(sorted(needs[source], key=place.__getitem__))))
        else:
            stack.pop()
            done[here] = None


def _inside(graph: Graph, body: BodyId, item: ItemId) -> ItemId | None:
    """The item of a body that is, or holds, the given one."""
    while item in graph.parents and graph.parents[item] != body:
        item = ItemId(graph.parents[item])
    return item if item in graph.parents else None
