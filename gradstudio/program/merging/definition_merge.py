"""Definitions of an edited text: what is printed as before stays the same object; others keep ids where they can."""

import secrets

import msgspec

from gradstudio.graph.groups.definitions import all_ids, call_order
from gradstudio.graph.model import ROOT, BodyId, Definition, Graph, ItemId, Wire
from gradstudio.program.printing.definition_printer import one_definition


def merged_definitions(graph: Graph, read: Graph, stem: str) -> dict[str, Definition]:
    """The definitions that the text means, and those of the graph that were not in its text."""
    printed = set(call_order(graph))
    found = {name: one for name, one in graph.definitions.items() if name not in printed}
    taken = all_ids(graph)
    for name, one in read.definitions.items():
        old = graph.definitions.get(name) if name in printed else None
        if old is not None and one_definition(graph, name, stem) == one_definition(read, name, stem):
            found[name] = old
        else:
            found[name] = _renumbered(one, old, taken)
    return found


def _renumbered(one: Definition, old: Definition | None, taken: set[ItemId]) -> Definition:
    """The definition under ids of its own: what binds the same names by the same operator keeps id and place."""
    known = _by_words(old.graph) if old is not None else {}
    ids: dict[ItemId, ItemId] = {}
    for item in one.graph.order():
        node = one.graph.nodes.get(item)
        kept = known.pop((node.operator, node.names), None) if node is not None and node.names else None
        if kept is None:
            kept = _fresh("n" if node is not None else "b", taken)
        ids[item] = kept
    inner = _with_ids(one.graph, ids)
    if old is not None:
        inner.places = {key: place for key, place in old.graph.places.items() if key in inner or key.startswith("@")}
    return one.but(graph=inner, setup=_named(one.setup, ids), kept=_named(one.kept, ids))


def _named(items: tuple[ItemId, ...], ids: dict[ItemId, ItemId]) -> tuple[ItemId, ...]:
    return tuple(ids[item] for item in items)


def _by_words(graph: Graph) -> dict[tuple[str, tuple[str, ...]], ItemId]:
    return {(node.operator, node.names): item for item, node in reversed(graph.nodes.items()) if node.names}


def _fresh(prefix: str, taken: set[ItemId]) -> ItemId:
    while (item := ItemId(prefix + secrets.token_hex(4))) in taken:
        pass
    taken.add(item)
    return item


def _with_ids(graph: Graph, ids: dict[ItemId, ItemId]) -> Graph:
    """A copy of an inside whose items have other ids."""
    inner = Graph()
    for body, items in graph.bodies.items():
        owner = body if body == ROOT else BodyId(ids[ItemId(body)])
        inner.bodies[owner] = tuple(ids[item] for item in items)
        inner.parents.update((ids[item], owner) for item in items)
        if body in graph.tails:
            inner.tails[owner] = graph.tails[body]
    for item, node in graph.nodes.items():
        inner.nodes[ids[item]] = msgspec.structs.replace(node, id=ids[item])
    for item, block in graph.blocks.items():
        inner.blocks[ids[item]] = msgspec.structs.replace(block, id=ids[item])
    for wire in graph.wires.values():
        source = ids.get(wire.source, wire.source)
        target = ids.get(wire.target, wire.target)
        moved = Wire(source, wire.output, target, wire.port)
        inner.draw(moved)
    return inner
