"""Which wire is meant when one card is led to another: by what flows, what is free, and by name."""

from gradstudio.graph.model import Graph
from gradstudio.graph.ports.item_ports import output_ports
from gradstudio.graph.ports.port_matching import NATURAL, Link, best_links, rank_links
from gradstudio.program.reading.reader import read_script
from tests.graph.builder import Drawing

TEXT = """
import torch
import torch.nn as nn

x = torch.ones(2, 3)
w = torch.ones(3, 4)
y = torch.matmul(x, w)
model = nn.Linear(3, 4)
out = model(x)
both = torch.cat([x, w])
input = torch.ones(2)
"""


def script() -> tuple[Graph, dict[str, str]]:
    graph = read_script(TEXT).graph
    return graph, {node.names[0]: node.id for node in graph.nodes.values()}


def between(source: str, target: str) -> list[Link]:
    graph, ids = script()
    return rank_links(graph, [ids[source]], [ids[target]])


def test_a_free_required_input_goes_before_an_optional_one_and_one_that_is_wired_comes_last():
    d = Drawing()
    x, z = d.add("torch.ones", name="x"), d.add("torch.ones", name="z")
    product = d.add("torch.matmul", x)
    found = rank_links(d.graph, [z], [product])
    assert [(link.port, link.rank) for link in found] == [("other", (2, 3, 0)), ("input", (-1, 0, 0))]
    assert found[0] == Link(z, 0, product, "other", (2, 3, 0), "z → other")
    assert found[1].words == "z → input (instead of x)"
    assert best_links(found) == found[:1]


def test_of_equally_free_inputs_the_one_of_the_same_name_is_best():
    d = Drawing()
    x, other = d.add("torch.ones", name="x"), d.add("torch.ones", name="other")
    product = d.add("torch.matmul")
    assert [link.port for link in best_links(rank_links(d.graph, [x], [product]))] == ["input", "other"]
    assert [link.port for link in best_links(rank_links(d.graph, [other], [product]))] == ["other"]
    assert [link.source for link in best_links(rank_links(d.graph, [x, other], [product]))] == [other]


def test_a_wire_that_is_there_replaces_nothing():
    assert [link.words for link in between("x", "y")] == ["x → input", "x → other (instead of w)"]


def test_a_list_grows_before_its_elements_are_replaced():
    found = between("y", "both")
    assert [link.port for link in found] == ["tensors.2", "dim", "tensors.0", "tensors.1"]
    assert [link.port for link in best_links(found)] == ["tensors.2"]
    assert found[0].rank == (2, 2, 0)
    assert found[1].rank == (0, 2, 0), "a tensor is not what a person means by dim"


def test_a_field_with_a_literal_is_freer_than_a_wired_port():
    found = between("y", "model")
    assert [(link.port, link.rank) for link in found] == [("in_features", (0, 1, 0)), ("out_features", (0, 1, 0))]
    assert len(best_links(found)) == 2


def test_the_card_of_a_layer_and_its_call_offers_no_wire_into_the_called_module():
    graph, ids = script()
    assert rank_links(graph, [ids["model"]], [ids["out"]]) == []
    assert [link.port for link in rank_links(graph, [ids["w"]], [ids["out"]])] == ["inputs.0"]


def test_a_module_that_is_called_twice_shows_the_port_for_it():
    graph = read_script(TEXT + "again = model(w)\n").graph
    ids = {node.names[0]: node.id for node in graph.nodes.values()}
    found = rank_links(graph, [ids["model"]], [ids["out"]])
    assert "module" in [link.port for link in found]


def test_nothing_that_closes_a_loop_is_offered():
    assert between("y", "x") == []
    assert between("y", "w") == []
    assert between("y", "y") == []


def test_without_sources_or_targets_there_is_no_wire():
    graph, ids = script()
    assert rank_links(graph, [], ids.values()) == []
    assert rank_links(graph, [ids["x"]], []) == []
    assert best_links([]) == []


def test_links_of_many_are_ranked_together():
    graph, ids = script()
    found = rank_links(graph, ids.values(), iter(ids.values()))
    assert [link.rank for link in found] == sorted((link.rank for link in found), reverse=True)
    assert len({link[:4] for link in found}) == len(found)
    assert {link.target for link in best_links(found)} == {ids["both"]}


def test_results_without_a_name_are_called_by_their_number():
    graph = read_script("import torch\nx = torch.ones(2)\ntorch.relu(x)\ny = torch.ones(2)\nz = torch.tanh(y)\n").graph
    relu, tanh = (node.id for node in graph.nodes.values() if node.operator in ("torch.relu", "torch.tanh"))
    assert [link.words for link in rank_links(graph, [relu], [tanh])] == ["result 0 → input (instead of y)"]


def test_every_output_of_an_operator_is_offered_by_its_own_name():
    graph = read_script("import torch\nx = torch.ones(2, 2)\na, b = torch.max(x, dim=0)\nc = torch.cat([x])\n").graph
    top, joined = (node.id for node in graph.nodes.values() if node.names[0] in ("a", "c"))
    found = best_links(rank_links(graph, [top], [joined]))
    assert [(link.output, link.port, link.words) for link in found] == [
        (0, "tensors.1", "a → +"),
        (1, "tensors.1", "b → +"),
    ]
    assert [link.words for link in rank_links(graph, [top], [joined]) if link.port == "tensors.0"] == [
        "a → tensors[0] (instead of x)",
        "b → tensors[0] (instead of x)",
    ]


def test_what_flows_unknown_fits_neither_well_nor_ill():
    d = Drawing()
    chance = d.add("numpy.random.rand", name="chance")
    assert output_ports(d.graph, chance)[0].family not in NATURAL
    found = rank_links(d.graph, [chance], [d.add("torch.tensor")])
    assert {link.rank[0] for link in found} == {1}
    wired = rank_links(d.graph, [d.add("numpy.random.rand")], [d.add("torch.tensor", chance)])
    assert wired[-1].rank == (-1, 0, 0)


def test_elements_of_one_list_count_as_one_among_the_best():
    def link(port: str, rank: tuple[int, int, int] = (1, 1, 0)) -> Link:
        return Link("n1", 0, "n2", port, rank, port)

    ranked = [link("tensors.0"), link("tensors.1"), link("dim"), link("out", (0, 0, 0))]
    assert best_links(ranked) == [ranked[0], ranked[2]]
