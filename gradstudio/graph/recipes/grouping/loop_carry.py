"""Recipes for loops: a value that a turn hands on to the next one (semantics §4)."""

import msgspec

from gradstudio.graph.edits import AddNode, AddWire, Edits, SetPlaces
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import BodyId, Graph, ItemId, Node, Place, Wire
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import fresh_node
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.loader import load

ALIAS = "python.alias"
BESIDE_PX = 240.0
"""How far left of what reads it the first turn's value stands."""


def loop_around(graph: Graph, item: ItemId) -> ItemId | None:
    """The innermost `for` in which an item stands."""
    around = (ItemId(body) for body in graph.ancestors(item) if body)
    return next((block for block in around if graph.blocks[block].kind == "for"), None)


def carriable_wires(graph: Graph, item: ItemId, output: int) -> tuple[Wire, ...]:
    """Wires into the loop around an item that its result could take the place of from the second turn on."""
    node = graph.nodes.get(item)
    loop = loop_around(graph, item) if node is not None else None
    if node is None or loop is None or output >= len(node.names) or node.names[output] in ("", "_"):
        return ()
    if node.names[output] in graph.blocks[loop].carried:
        return ()
    inside = set(graph.order(BodyId(loop)))
    found: dict[tuple[ItemId, int], Wire] = {}
    seen, stack = {item}, [item]
    while stack:
        for wire in graph.wires_to(stack.pop()):
            if wire.source in inside:
                if wire.source not in seen:
                    seen.add(wire.source)
                    stack.append(wire.source)
            elif wire.source in graph.nodes:
                found.setdefault((wire.source, wire.output), wire)
    return tuple(found.values())


def carry(graph: Graph, item: ItemId, output: int, first: Wire) -> Edits:
    """Hand a result on to the next turn of the loop around it, where so far `first` brought one value to every turn.

    The first turn still reads what `first` brought; an alias gives it the carried name before the loop.

    Raises:
        Refused: the result cannot take the place of that value.
    """
    loop = loop_around(graph, item)
    known = {(wire.source, wire.output) for wire in carriable_wires(graph, item, output)}
    if loop is None or (first.source, first.output) not in known:
        raise Refused(f"{title(graph, item)} cannot be carried into the next turn from there.")
    name = graph.nodes[item].names[output]
    draft = Draft(graph)
    inside = set(graph.order(BodyId(loop)))
    reads = tuple(
        wire for wire in graph.wires_from(first.source) if wire.output == first.output and wire.target in inside
    )
    draft.cut(reads)
    block = graph.blocks[loop]
    draft.put(msgspec.structs.replace(block, carried=(*block.carried, name)))
    start = _named_before(draft, loop, first, name)
    draft.do(
        AddWire(Wire(*start, loop, f"first.{name}")),
        *(AddWire(Wire(loop, len(block.carried) + 1, wire.target, wire.port)) for wire in reads),
        AddWire(Wire(item, output, loop, f"next.{name}")),
    )
    return draft.finish(keep=frozenset({item, start[0]}))


def _named_before(draft: Draft, loop: ItemId, first: Wire, name: str) -> tuple[ItemId, int]:
    """The binding of that name before the loop: what there is, or an alias."""
    graph = draft.graph
    source = graph.nodes[first.source]
    if first.output < len(source.names) and source.names[first.output] == name:
        return first.source, first.output
    fresh = fresh_node(draft, load()[ALIAS])
    alias: Node = msgspec.structs.replace(fresh, names=(name,))
    body = graph.parents[loop]
    place = graph.places.get(first.target) or graph.places.get(loop) or Place(0, 0)
    draft.do(
        AddNode(alias, body, graph.bodies[body].index(loop)),
        SetPlaces({alias.id: Place(place.x - BESIDE_PX, place.y)}),
        AddWire(Wire(first.source, first.output, alias.id, load()[ALIAS].parameters[0].name)),
    )
    return alias.id, 0
