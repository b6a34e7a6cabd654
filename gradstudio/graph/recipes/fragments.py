"""Fragments: a part of a graph that stands on its own, for copy, paste and duplicate."""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.edits import AddBlock, AddNode, AddWire, Edits, SetPlaces, SetTensor
from gradstudio.graph.external_inputs import external_inputs, reconnecting_wires
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Place, Wire
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.wire_dots import dots_by_end, end_of, wire_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.grouping.definition_copies import bring, called_definitions
from gradstudio.graph.renaming import new_names, renamed_block, renamed_node, renamed_port
from gradstudio.graph.rules import why_not
from gradstudio.graph.text.drawn_bodies import bodies_in, with_body_names
from gradstudio.graph.text.late_names import with_late_names

STORED = "python.stored"


def copy_items(graph: Graph, items: Iterable[ItemId]) -> Graph:
    """The items (blocks with all they hold) and the wires between them, as a graph of their own."""
    chosen = {item for item in items if item in graph}
    for block in [item for item in chosen if item in graph.blocks]:
        chosen.update(graph.order(BodyId(block)))
    part = Graph()
    part.header = graph.header
    for item in sorted(chosen, key=graph.numbers().__getitem__):
        _add(part, graph, item, chosen)
    for wire in _wires_among(graph, chosen):
        part.draw(wire)
    for end, dots in dots_by_end(graph).items():
        if end[0] in chosen and wire_of(part, end) is not None:
            part.places |= {key: graph.places[key] for key in dots}
    part.definitions = called_definitions(graph, part.nodes.values())
    return part


def paste(
    graph: Graph,
    part: Graph,
    dx: float = 40.0,
    dy: float = 40.0,
    *,
    outer: Iterable[Wire] = (),
    wished: Iterable[Wire] = (),
    as_typed: bool = False,
) -> tuple[Edits, tuple[ItemId, ...]]:
    """Put a fragment at the end of the program, moved by (dx, dy) scene pixels.

    Args:
        graph: the program.
        part: the fragment.
        dx, dy: in scene pixels.
        outer: wires into the fragment from items of the program.
        wished: as `outer`; those that the rule-book refuses are left out.
        as_typed: its names stay, and bind anew what they bound, as statements do that are written below others.

    Returns:
        The edits, and the new ids of the fragment's outermost items.
    """
    draft = Draft(graph)
    ids = {item: draft.new_id("b" if item in part.blocks else "n") for item in part.order()}
    of_nodes = {name for one in graph.nodes.values() for name in one.names} if part.blocks else set[str]()
    names = {} if as_typed else new_names(part, draft.taken_names(), of_nodes)
    draft.do(*(SetTensor(digest, tensor) for digest, tensor in part.tensors.items() if digest not in graph.tensors))
    called = _brought(draft, part)
    for item in part.order():
        body = part.parents[item]
        into = ROOT if body == ROOT else BodyId(ids[ItemId(body)])
        index = draft.end_of(into)
        if (node := part.nodes.get(item)) is not None:
            muted = {port: (ids[source], k) for port, (source, k) in node.muted_wires.items() if source in ids}
            operator = called.get(node.operator, node.operator)
            own = renamed_node(with_late_names(part, node, names), ids[item], names)
            fresh = msgspec.structs.replace(with_body_names(own, called), muted_wires=muted, operator=operator)
            draft.do(AddNode(fresh, into, index))
        else:
            draft.do(AddBlock(renamed_block(part.blocks[item], ids[item], names), into, index))
    draft.do(
        *(
            AddWire(Wire(ids[w.source], w.output, ids[w.target], renamed_port(part, w, names)))
            for w in part.wires.values()
        )
    )
    draft.do(*(AddWire(Wire(w.source, w.output, ids[w.target], w.port)) for w in outer))
    for wish in wished:
        port = renamed_port(part, wish, names)
        if not why_not(draft.graph, wish.source, wish.output, ids[wish.target], port, exact=True):
            draft.do(AddWire(Wire(wish.source, wish.output, ids[wish.target], port)))
    places = {_new_key(key, ids): _moved(place, dx, dy) for key, place in part.places.items() if not end_of(key)}
    draft.do(SetPlaces(dict(places)))
    for end, dots in dots_by_end(part).items():
        wire = wire_of(part, end)
        port = renamed_port(part, wire, names) if wire is not None else end[1]
        moved = [(part.places[key].x + dx, part.places[key].y + dy) for key in dots]
        draft.lead((ids[end[0]], port), moved)
    return draft.finish(), tuple(ids[item] for item in part.bodies[ROOT])


def duplicate(
    graph: Graph, items: Iterable[ItemId], dx: float = 40.0, dy: float = 40.0, *, wired: bool = False
) -> tuple[Edits, tuple[ItemId, ...]]:
    """Copy items in place, moved by (dx, dy), with the wires between them; `wired`: also with those into them."""
    chosen = tuple(items)
    wished = reconnecting_wires(graph, external_inputs(graph, chosen)) if wired else ()
    return paste(graph, copy_items(graph, chosen), dx, dy, wished=wished)


def _brought(draft: Draft, part: Graph) -> dict[str, str]:
    """Bring the definitions that the fragment calls; by operator, or name in code, what it is called here."""
    called: dict[str, str] = {}
    for operator in dict.fromkeys(node.operator for node in part.nodes.values()):
        name = operator.removeprefix(GROUP)
        if operator.startswith(GROUP) and name in part.definitions:
            edits, here = bring(draft.graph, part, name)
            draft.do(*edits)
            called[operator] = f"{GROUP}{here}"
    for name in dict.fromkeys(one for node in part.nodes.values() for one in bodies_in(node)):
        if name in part.definitions:
            edits, called[name] = bring(draft.graph, part, name)
            draft.do(*edits)
    return called


def _wires_among(graph: Graph, chosen: set[ItemId]) -> list[Wire]:
    """The wires between some items, in the order they were drawn."""
    found = [wire for item in chosen for wire in graph.incoming.get(item, ()) if wire.source in chosen]
    if len(found) < 2:
        return found
    ends = {(wire.target, wire.port) for wire in found}
    return [graph.wires[end] for end in graph.wires if end in ends]


def _add(part: Graph, graph: Graph, item: ItemId, chosen: set[ItemId]) -> None:
    body = next((around for around in graph.ancestors(item) if around == ROOT or ItemId(around) in chosen), ROOT)
    part.bodies[body] = (*part.bodies.get(body, ()), item)
    part.parents[item] = body
    if item in graph.blocks:
        part.blocks[item] = graph.blocks[item]
        part.bodies.setdefault(BodyId(item), ())
    else:
        node = part.nodes[item] = graph.nodes[item]
        digest = node.literals.get("digest", "").strip("'\"")
        if node.operator == STORED and digest in graph.tensors:
            part.tensors[digest] = graph.tensors[digest]
    for key in (item, f"note:{item}"):
        if key in graph.places:
            part.places[key] = graph.places[key]


def _new_key(key: str, ids: dict[ItemId, ItemId]) -> str:
    prefix, _, item = key.rpartition(":")
    return f"{prefix}:{ids[ItemId(item)]}" if prefix else ids[ItemId(item)]


def _moved(place: Place, dx: float, dy: float) -> Place:
    """A place elsewhere; a copy of what is pinned down is free."""
    return msgspec.structs.replace(place, x=place.x + dx, y=place.y + dy, pinned=False)
