"""Ways out at what stands inside a function or a class of the program: edits of its definition, one undo step."""

from collections.abc import Callable

from gradstudio.advice.model import Fix
from gradstudio.graph.analysis.call_addresses import group_at
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.groups.call_ids import call_item_id, calls_around, is_call_item, path_of
from gradstudio.graph.groups.group_view import boundary_edits, close_group, open_group
from gradstudio.graph.model import Graph, ItemId

Maker = Callable[[Graph], tuple[Fix, ...]]


def fixes_where(graph: Graph, item: ItemId, make: Maker) -> tuple[Fix, ...]:
    """The ways out in the graph that an item of a run stands in.

    Args:
        make: the ways out, as edits of the graph it is given: the program's, or the inside of a definition.
    """
    name = definition_around(graph, item)
    if not name:
        return make(graph)
    inner = open_group(graph, name)
    return tuple(fix if fix.edits is None else _of_program(graph, name, inner, fix) for fix in make(inner))


def definition_around(graph: Graph, item: ItemId) -> str:
    """The definition whose inside an item of a run stands in; "" for the program itself, and for what is gone."""
    return group_at(graph, calls_around(item)[-1]) if is_call_item(item) else ""


def id_inside(item: ItemId) -> ItemId:
    """The id that an item of a run has in the graph it stands in."""
    return path_of(item)[-1]


def lookup_item(around: ItemId, item: ItemId) -> ItemId:
    """The id of a run for an item beside another one."""
    calls = calls_around(around)
    return call_item_id(calls[-1], item) if calls else item


def _of_program(graph: Graph, name: str, inner: Graph, fix: Fix) -> Fix:
    draft = inner.copy()
    apply_all(draft, fix.edits or ())
    apply_all(draft, boundary_edits(draft))
    edits: Edits = close_group(graph, name, draft)
    return Fix(fix.title, edits)
