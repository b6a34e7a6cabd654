"""Names that functions in undrawn Python look up when they are called.

No wire brings them: what they read gets another name in the code, or in none at all.
"""

import builtins
from collections import Counter
from collections.abc import Iterable, Mapping

from gradstudio.graph.edits import Edits, ReplaceNode
from gradstudio.graph.errors import Refused
from gradstudio.graph.graph_index import nodes_of
from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.names import bound_names
from gradstudio.graph.text.code_records import CODE, READ, code_names, code_of, is_code, with_code
from gradstudio.graph.text.code_text import renamed_code
from gradstudio.graph.text.drawn_bodies import bound_around, is_body

_BUILT_IN = frozenset(dir(builtins))


def late_name_edits(before: Graph, after: Graph) -> Edits:
    """What keeps the functions of code reading the same after a gesture has given items other names.

    Args:
        before: the program as it was.
        after: a draft, in which items may have other names.

    Raises:
        Refused: a name that code reads cannot be changed in it, or another would be read in its place.
    """
    codes = nodes_of(after, (CODE,))
    inside = names_read_inside(after)
    if not codes and not inside:
        return ()
    lost, gained, changed = _changes(before, after)
    if not gained and not lost:
        return ()
    moved = _bound_beside(after, before) | _bound_beside(before, after)  # by a card that was split, or merged
    if name := next((one for one in (*lost, *gained) if one in inside and one not in moved), ""):
        raise Refused(f"Code in a definition reads '{name[:60]}' when that is called: change it in the text.")
    bound = Counter(name for item in after.order() for name in _bound(after, item))
    was = {name for item in before.order() for name in _bound(before, item)} | _BUILT_IN
    edits = []
    for node in codes:
        late = late_names(after, node)
        if caught := next((name for name in gained if name in late and name in was), ""):
            raise Refused(f"A function in the code reads '{caught[:60]}' when it is called: choose another name.")
        for old in lost & late:
            if old not in changed or bound[old]:
                reason = f"A function in the code reads '{old[:60]}' when it is called, and more than one has that name"
                raise Refused(f"{reason if bound[old] else reason.partition(',')[0]}: change it in the text.")
        edits += _edits(node, {old: changed[old] for old in lost & late})
    return tuple(edits)


def with_late_names(part: Graph, node: Node, names: Mapping[tuple[ItemId, int], str]) -> Node:
    """A node of a fragment whose functions read what other items of it bind, by their new names.

    Raises:
        Refused: a name cannot be changed in its code.
    """
    if not is_code(node):
        return node
    late = late_names(part, node)
    changed = {
        name: names[item, k]
        for item, other in part.nodes.items()
        for k, name in enumerate(other.names)
        if name in late and names.get((item, k), name) != name
    }
    return next((edit.node for edit in _edits(node, changed)), node)


def late_names(graph: Graph, node: Node) -> set[str]:
    """What the functions of a code read, or bind, when they are called, and no wire says."""
    names = code_names(node)
    wired = {wire.port.removeprefix(READ) for wire in graph.wires_to(node.id) if wire.port.startswith(READ)}
    return {*names.later, *names.rebound} - wired - {*names.binds}


def names_read_inside(graph: Graph) -> set[str]:
    """What code in definitions, and parts of code that are drawn, read or bind of the program by its name."""
    found = {name for names in bound_around(nodes_of(graph, (CODE,))).values() for name in names}
    for definition in graph.definitions.values() if graph.edges is None else ():
        found.update(definition.settings if is_body(definition.name) else ())
        codes = nodes_of(definition.graph, (CODE,))
        own = {*definition.inputs, *bound_names(definition.graph)} if codes else set[str]()
        for node in codes:
            names = code_names(node)
            found |= {*names.reads, *names.keeps, *names.later} - own
    return found


def _edits(node: Node, changed: Mapping[str, str]) -> list[ReplaceNode]:
    if not changed:
        return []
    code = renamed_code(code_of(node), changed)
    return [ReplaceNode(with_code(node, code))]


def _changes(before: Graph, after: Graph) -> tuple[set[str], set[str], dict[str, str]]:
    """The names that items have no longer, those that they have instead, and which for which."""
    lost: set[str] = set()
    gained: set[str] = set()
    changed: dict[str, str] = {}
    for item in _both(before, after):
        old, new = _bound(before, item), _bound(after, item)
        if old == new:
            continue
        lost |= set(old) - set(new)
        gained |= set(new) - set(old)
        if len(old) == len(new):
            changed.update((one, other) for one, other in zip(old, new, strict=True) if one != other and other != "_")
    return lost - {"_", ""}, gained - {"_", ""}, changed


def _bound_beside(graph: Graph, other: Graph) -> set[str]:
    """The names that items bind which another graph has not."""
    return {name for item in graph.order() if item not in other for name in _bound(graph, item)}


def _both(before: Graph, after: Graph) -> Iterable[ItemId]:
    return [item for item in (*before.nodes, *before.blocks) if item in after]


def _bound(graph: Graph, item: ItemId) -> tuple[str, ...]:
    if item in graph.nodes:
        return graph.nodes[item].names
    block = graph.blocks[item]
    return (block.variable, *block.carried)
