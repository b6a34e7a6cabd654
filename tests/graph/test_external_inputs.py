"""What flows into a part from outside of it, and where it is found again."""

from gradstudio.graph.external_inputs import ExternalInput, end_words, external_inputs, reconnecting_wires
from gradstudio.graph.groups.definitions import definition_graph
from gradstudio.graph.model import DEFINITION_INPUTS, Wire
from tests.graph.recipes.wiring.test_rewiring import TEXT, at, program

LOOP = TEXT + "for i in range(3):\n    k = torch.mul(d, i)\n"


def test_wires_from_outside_are_remembered_and_those_within_are_not() -> None:
    graph = program()
    c, e = at(graph, "c"), at(graph, "e")
    found = external_inputs(graph, (c, e))
    assert found == (
        ExternalInput(at(graph, "a"), 0, "a", "torch.zeros", c, "input"),
        ExternalInput(at(graph, "b"), 0, "b", "torch.ones", c, "other"),
    )
    assert [end_words(graph, one) for one in found] == ["'input' of c", "'other' of c"]
    assert external_inputs(graph, ["nobody"]) == ()  # type: ignore[list-item]


def test_what_a_block_holds_belongs_to_the_part() -> None:
    graph = program(LOOP)
    loop, k = at(graph, "for i"), at(graph, "k")
    assert [(one.name, one.target, one.port) for one in external_inputs(graph, (loop,))] == [("d", k, "input")]


def test_a_result_of_a_block_is_known_by_its_variable_and_kind() -> None:
    graph = program(LOOP)
    loop, k = at(graph, "for i"), at(graph, "k")
    found = {one.source: one for one in external_inputs(graph, (k,))}
    assert found[loop] == ExternalInput(loop, 0, "i", graph.blocks[loop].kind, k, "other")


def test_the_same_node_is_found_even_under_another_name() -> None:
    graph = program()
    found = external_inputs(graph, (at(graph, "d"),))
    there = program(TEXT.replace("a = torch.zeros", "z = torch.zeros").replace("(a", "(z").replace("[a", "[z"))
    assert reconnecting_wires(there, found) == (Wire(at(there, "z"), 0, at(graph, "d"), "input"),)


def test_elsewhere_the_last_that_binds_the_name_is_taken() -> None:
    part = program()
    d = at(part, "d")
    there = program("x = torch.rand(3)\na = torch.rand(2)\nh, a = torch.max(x, dim=0)\n")
    last = next(item for item in reversed(list(there.order())) if "a" in there.nodes[item].names)
    assert reconnecting_wires(there, external_inputs(part, (d,))) == (Wire(last, 1, d, "input"),)


def test_what_is_nowhere_is_left_out() -> None:
    part = program()
    assert reconnecting_wires(program("x = torch.rand(3)\n"), external_inputs(part, (at(part, "d"),))) == ()


def test_a_result_without_a_name_is_found_by_its_node_alone() -> None:
    text = "x = torch.rand(3)\n_, n = torch.max(x, dim=0)\n"
    graph = program(text)
    pair, x = list(graph.order())[1], at(graph, "x")
    one = ExternalInput(pair, 0, "", graph.nodes[pair].operator, x, "size")
    assert reconnecting_wires(graph, (one,)) == (Wire(pair, 0, x, "size"),)
    assert reconnecting_wires(program("_ = torch.rand(3)\n"), (one,)) == ()


def test_an_input_of_a_group_is_remembered_by_its_name_and_found_again_in_the_group_and_outside() -> None:
    graph = program("def f(a):\n    b = torch.relu(a)\n    return b\n\n\nx = torch.rand(3)\ny = f(x)\n")
    inner = definition_graph(graph, "f")
    b = at(inner, "b")
    assert external_inputs(inner, (b,)) == (one := ExternalInput(DEFINITION_INPUTS, 0, "a", "", b, "input"),)
    assert reconnecting_wires(inner, (one,)) == (Wire(DEFINITION_INPUTS, 0, b, "input"),)
    there = program("a = torch.rand(3)\n")
    assert reconnecting_wires(there, (one,)) == (Wire(at(there, "a"), 0, b, "input"),)
    assert reconnecting_wires(graph, (one,)) == ()


def test_what_has_the_name_of_a_groups_input_is_wired_to_it_unless_a_statement_binds_the_name_anew() -> None:
    part = program()
    found = external_inputs(part, (at(part, "d"),))
    text = "def f(a):\n    b = torch.relu(a)\n    return b\n\n\nx = torch.rand(3)\ny = f(x)\n"
    inner = definition_graph(program(text), "f")
    assert [(wire.source, wire.output) for wire in reconnecting_wires(inner, found)] == [(DEFINITION_INPUTS, 0)]
    inner = definition_graph(program(text.replace("b", "a")), "f")
    assert [wire.source for wire in reconnecting_wires(inner, found)] == [at(inner, "a")]
