"""Where a failure was caused: torch says where it comes to light, which is often a backward far behind."""

from gradstudio.advice.cut_chains import find_cut, root_wire
from gradstudio.advice.failure_sentences import SECOND, backward_before, carried_graph, made_before_loop, shared_result
from gradstudio.advice.none_causes import NONE, computed_owner
from gradstudio.advice.rules.gradient_errors import CUT_OFF
from gradstudio.graph.analysis.call_addresses import locate_item
from gradstudio.graph.groups.call_ids import call_item_id, calls_around
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.events import Failed


def place_of_failure(failed: Failed, graph: Graph) -> ItemId:
    """The statement that a person has to look at: who overwrote, cut, carried along; else the one that failed."""
    place = locate_item(graph, failed.node)
    if failed.clash is not None and failed.clash.culprits:
        return failed.clash.culprits[-1].node
    if place is None:
        return failed.node
    cause = _cause(failed, place.item, place.graph)
    if cause is None:
        return failed.node
    calls = calls_around(failed.node)
    return call_item_id(calls[-1], cause) if calls else cause


def _cause(failed: Failed, node: ItemId, graph: Graph) -> ItemId | None:
    """The same within the graph that the statement stands in; None where it is the cause itself."""
    if CUT_OFF.match(failed.type_name, failed.message):
        cut = find_cut(node, graph)
        return cut.item if cut is not None else None
    if failed.message.startswith(SECOND):
        return _freed(failed, node, graph)
    return computed_owner(node, graph) if NONE in failed.message else None


def _freed(failed: Failed, node: ItemId, graph: Graph) -> ItemId | None:
    """What a second backward goes through again."""
    if made_before_loop(failed, graph):
        wire = root_wire(node, graph)
        return wire.source if wire is not None else None
    carried = carried_graph(graph, node)
    if carried is not None:
        return carried.source
    first = backward_before(graph, node)
    return shared_result(graph, first, node) if first is not None else None
