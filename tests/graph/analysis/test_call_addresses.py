"""Items inside calls of groups: where they stand, and what reports call them."""

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.analysis.call_addresses import addresses, locate_item
from gradstudio.graph.groups.call_ids import INPUTS, call_item_id
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script
from tests.graph.test_copying_groups import NESTED


def graph_of() -> Graph:
    return read_script(NESTED).graph


def bound(graph: Graph, name: str) -> ItemId:
    return next(node.id for node in graph.nodes.values() if name in node.names)


def deep(graph: Graph) -> tuple[ItemId, ItemId, ItemId]:
    """The call `b`, the call `s` inside it, and `v` inside that."""
    outer, inner = graph.definitions["outer"].graph, graph.definitions["inner"].graph
    call = bound(graph, "b")
    second = call_item_id(call, bound(outer, "s"))
    return call, second, call_item_id(second, bound(inner, "v"))


def test_an_item_of_the_program_stands_in_it() -> None:
    graph = graph_of()
    found = locate_item(graph, bound(graph, "a"))
    assert found is not None
    assert found.graph is graph
    assert found.item == bound(graph, "a")
    assert locate_item(graph, ItemId("gone")) is None


def test_what_is_inside_calls_stands_in_the_definition() -> None:
    graph = graph_of()
    _, second, third = deep(graph)
    for item, name in ((second, "s"), (third, "v")):
        found = locate_item(graph, item)
        assert found is not None
        assert found.graph.nodes[found.item].names == (name,)
        assert found.graph.edges is not None


def test_a_call_that_is_none_has_no_inside() -> None:
    graph = graph_of()
    assert locate_item(graph, call_item_id(bound(graph, "a"), ItemId("n1"))) is None
    assert locate_item(graph, call_item_id(ItemId("gone"), ItemId("n1"))) is None
    third = deep(graph)[2]
    del graph.definitions["inner"]
    assert locate_item(graph, third) is None


def test_the_inputs_of_a_call_stand_in_its_definition() -> None:
    graph = graph_of()
    found = locate_item(graph, call_item_id(bound(graph, "c"), INPUTS))
    assert found is not None
    assert found.item == INPUTS
    assert found.graph.edges is not None
    assert found.graph.edges.inputs == ("u",)


def test_addresses_go_through_the_calls() -> None:
    graph = graph_of()
    call, second, third = deep(graph)
    known = addresses(graph)
    assert dict(known) == program_analysis.addresses(graph)
    assert (known[call], known[second], known[third]) == ("b", "b/s", "b/s/v")


def test_an_address_of_what_is_not_known_is_its_id() -> None:
    graph = graph_of()
    known, call = addresses(graph), bound(graph, "b")
    assert known[ItemId("gone")] == "gone"
    assert known[call_item_id(call, ItemId("gone"))] == "b/gone"
    assert known[call_item_id(ItemId("gone"), ItemId("n1"))] == "gone/n1"


def test_get_knows_insides_and_gives_the_default_of_others() -> None:
    graph = graph_of()
    known = addresses(graph)
    call, second, _ = deep(graph)
    assert known.get(call) == "b"
    assert known.get(second, "none") == "b/s"
    assert known.get(ItemId("gone"), "none") == "none"
    assert known.get(ItemId("gone")) == ""
