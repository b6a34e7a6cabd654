"""Definitions of an edited text: what is printed as before stays the same object; others keep ids where they can."""

import secrets

from gradstudio.graph.groups.definitions import all_ids, call_order
from gradstudio.graph.model import Definition, Graph, ItemId
from gradstudio.graph.recipes.grouping.definition_copies import with_ids
from gradstudio.graph.text.drawn_bodies import is_body
from gradstudio.program.printing.definition_printer import one_definition


def merged_definitions(graph: Graph, read: Graph, stem: str) -> dict[str, Definition]:
    """The definitions that the text means, and those of the graph that were not in its text."""
    printed = {*call_order(graph), *filter(is_body, graph.definitions)}
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
    made = with_ids(one, ids)
    if old is not None:
        places = old.graph.places.items()
        made.graph.places = {key: place for key, place in places if key in made.graph or key.startswith("@")}
    return made


def _by_words(graph: Graph) -> dict[tuple[str, tuple[str, ...]], ItemId]:
    return {(node.operator, node.names): item for item, node in reversed(graph.nodes.items()) if node.names}


def _fresh(prefix: str, taken: set[ItemId]) -> ItemId:
    while (item := ItemId(prefix + secrets.token_hex(4))) in taken:
        pass
    taken.add(item)
    return item
