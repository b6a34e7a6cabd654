"""What of a program stays as it is when somebody turns a number or gives a value another name."""

from collections.abc import Iterable, Mapping

import msgspec

from gradstudio.graph.edits import Edits, ReplaceNode, SetHeader, SetPlaces, SetTail, SetTensor
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import Graph, ItemId, Node

BESIDE = SetPlaces | SetHeader | SetTail | SetTensor
"""Edits that no analysis sees."""
Nodes = Mapping[ItemId, Node]


def turned_nodes(edits: Edits, before: Nodes, now: Nodes) -> tuple[ItemId, ...] | None:
    """The nodes whose literals or names alone are others after some edits; None when more than that has changed."""
    seen = [edit for edit in edits if not isinstance(edit, BESIDE)]
    turned = [edit.node.id for edit in seen if isinstance(edit, ReplaceNode)]
    if len(turned) < len(seen):
        return None
    found = [item for item in dict.fromkeys(turned) if now[item] is not before[item]]
    return tuple(found) if all(_bare(now[item]) == _bare(before[item]) for item in found) else None


def are_fresh(graph: Graph, before: Nodes, renamed: Iterable[ItemId]) -> bool:
    """Whether every name that came is bound once, and every name that went nowhere: no other can be misread."""
    binders = index_of(graph).binders
    came = {name for item in renamed for name in graph.nodes[item].names} - {"_", ""}
    went = {name for item in renamed for name in before[item].names} - {"_", ""} - came
    return all(len(binders[name]) == 1 for name in came) and went.isdisjoint(binders)


def _bare(node: Node) -> Node:
    """The node without what analysis does not read, or reads of itself only; of names, which of them are kept."""
    names = tuple("_" if name == "_" else "name" for name in node.names)
    return msgspec.structs.replace(node, literals={}, covered={}, note="", beside="", blank_before=False, names=names)
