"""Components, longest paths, what lies between, and gates of gradients: by hand, and against brute force."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.structure import graph_questions as network
from gradstudio.graph.structure.dependencies import dependencies
from gradstudio.graph.structure.gradient_flows import GradientFlows
from tests.graph.structure.programs import Line, lines, names, node, program, written

LOOP = """
x = torch.tensor(1.0, requires_grad=True)
h = x * 2
for i in range(3):
    h = h * x
y = h + 1
y.backward()
"""


def through(graph: Graph, leaf: str) -> list[str] | None:
    found = {gates.leaf: gates.through for gates in network.gates(GradientFlows(graph))}
    item = node(graph, leaf)
    return names(graph, found[item]) if item in found else None


# -------------------------------------------------------------------- components


def test_parts_come_largest_first_and_each_in_program_order() -> None:
    graph = program("a = torch.ones(2)\nx = torch.ones(3)\ny = x + 1\nz = y + x\nb = a.sum()")
    assert [names(graph, part) for part in network.components(graph)] == [["x", "y", "z"], ["a", "b"]]


def test_a_node_that_nothing_joins_is_a_part_of_its_own_and_an_empty_graph_has_none() -> None:
    graph = program("a = torch.ones(2)\nb = torch.ones(3)")
    assert [names(graph, part) for part in network.components(graph)] == [["a"], ["b"]]
    assert network.components(Graph()) == ()


def test_a_with_block_joins_nothing_and_a_loop_joins_what_it_repeats() -> None:
    graph = program("with torch.no_grad():\n    a = torch.ones(2)\n    b = torch.ones(3)")
    assert [names(graph, part) for part in network.components(graph)] == [["a"], ["b"]]
    graph = program("for i in range(3):\n    a = torch.ones(2)\n    b = torch.ones(3)")
    assert [names(graph, part) for part in network.components(graph)] == [["for", "a", "b"]]


def test_a_write_joins_what_is_read_later_to_what_was_written() -> None:
    graph = program("x = torch.zeros(2)\nv = x[0]\nv.add_(1)\ny = x * 2")
    writes = [edge for edge in dependencies(graph) if edge.by == "write"]
    assert [names(graph, (edge.source, edge.target)) for edge in writes] == [["add_", "y"]]


# -------------------------------------------------------------------- longest paths


def test_the_longest_path_is_the_heaviest_chain_not_the_one_of_most_nodes() -> None:
    graph = program("x = torch.ones(2)\na = x + 1\nb = a + 1\nc = b + 1\nd = x * 2\ny = c + d")
    even = dict.fromkeys(graph.nodes, 1.0)
    assert names(graph, network.longest_path(graph, even)) == ["x", "a", "b", "c", "y"]
    assert names(graph, network.longest_path(graph, {**even, node(graph, "d"): 9.0})) == ["x", "d", "y"]


def test_a_path_ends_where_nothing_weighs_any_more() -> None:
    graph = program("x = torch.ones(2)\na = x + 1\nb = a + 1\nc = b + 1")
    weights = {node(graph, "a"): 2.0, node(graph, "b"): 1.0}
    assert names(graph, network.longest_path(graph, weights)) == ["a", "b"]
    assert network.longest_path(Graph(), {}) == ()


def test_what_a_loop_carries_back_makes_no_ring() -> None:
    graph = program(LOOP)
    path = network.longest_path(graph, dict.fromkeys(graph.order(), 1.0))
    assert names(graph, path)[:2] == ["x", "h"] and names(graph, path)[-1] == "backward"


# -------------------------------------------------------------------- between


def test_between_lies_every_way_and_nothing_beside() -> None:
    graph = program("x = torch.ones(2)\na = x + 1\nb = x * 2\nc = a + b\nbeside = a + 7\ny = c + 1")
    found = network.between(graph, node(graph, "x"), node(graph, "y"))
    assert names(graph, found) == ["a", "b", "c"]
    assert network.between(graph, node(graph, "x"), node(graph, "a")) == ()
    assert not network.reaches(graph, node(graph, "y"), node(graph, "x"))


# -------------------------------------------------------------------- gates


@pytest.mark.parametrize(
    ("text", "leaf", "expected"),
    [
        ("y = (x * 2).sum()\ny.backward()", "x", ["mul"]),
        ("a = x + 1\nb = x * 2\nc = a + b\ny = c.sum()\ny.backward()", "x", ["c"]),
        ("a = x + 1\nb = x * 2\ny = a + b\ny.backward()", "x", []),
        ("c = x + 1\ny = c.detach() + 1\ny.backward()", "x", None),
        ("with torch.no_grad():\n    c = x + 1\nd = x * 3\ny = c + d\ny.backward()", "x", ["d"]),
        ("a = x * 2\nb = x * 3\na.backward()\nb.backward()", "x", []),
        ("c = x + 1\na = c * 2\nb = c * 3\na.backward()\nb.backward()", "x", ["c"]),
    ],
)
def test_gates_of_small_programs(text: str, leaf: str, expected: list[str] | None) -> None:
    graph = program("x = torch.tensor(1.0, requires_grad=True)\n" + text)
    assert through(graph, leaf) == expected


def test_a_loop_leads_round_and_its_last_statement_is_the_gate() -> None:
    graph = program(LOOP)
    assert through(graph, "x") == ["h"]  # in the loop: x comes into every turn, and before the first
    graph = program(LOOP.replace("h * x", "h * 3"))
    assert through(graph, "x") == ["h", "for", "h"]


def test_the_gradient_passes_a_write_into_memory() -> None:
    graph = program("x = torch.ones(3, requires_grad=True)\nh = x * 1\nh.mul_(2)\ny = h.sum()\ny.backward()")
    assert through(graph, "x") == ["mul_", "h"]


def test_a_write_under_no_grad_is_no_gate_and_no_leaf() -> None:
    text = "w = torch.ones(3, requires_grad=True)\nwith torch.no_grad():\n    w -= 0.1\ny = w.sum()\ny.backward()"
    graph = program(text)
    known = GradientFlows(graph)
    assert names(graph, known.leaves) == ["w"] and known.leaves == (next(iter(graph.nodes)),)
    assert [gates.through for gates in network.gates(known)] == [()]


def test_a_layer_is_a_leaf_and_one_without_parameters_is_none() -> None:
    graph = program(
        "import torch.nn as nn\nfc = nn.Linear(2, 2)\nact = nn.ReLU()\nx = torch.ones(1, 2)\n"
        "h = fc(x)\na = act(h)\ny = a.sum()\ny.backward()"
    )
    assert names(graph, GradientFlows(graph).leaves) == ["fc"]
    assert through(graph, "fc") == ["a", "h"]


def test_the_node_marked_as_root_is_the_root() -> None:
    graph = program("x = torch.ones(2, requires_grad=True)\na = (x * 2).sum()\nb = (x * 3).sum()")
    assert names(graph, GradientFlows(graph).roots) == ["b"]


# -------------------------------------------------------------------- against brute force


def wires(drawn: list[Line]) -> list[tuple[int, int]]:
    return [(source, number) for number, (_, sources) in enumerate(drawn) for source in sources]


def paths(drawn: list[Line], first: int) -> Iterator[tuple[int, ...]]:
    """Every chain from a line on."""
    yield (first,)
    for target in dict.fromkeys(target for source, target in wires(drawn) if source == first):
        for rest in paths(drawn, target):
            yield (first, *rest)


def passed(drawn: list[Line], leaf: int) -> set[int] | None:
    """The lines on every chain of gradients from the last line to a leaf; None when there is no chain."""
    requires = set[int]()
    for number, (kind, sources) in enumerate(drawn):
        if kind == "leaf" or (kind == "sum" and requires & set(sources)):
            requires.add(number)
    ways = [
        set(path)
        for path in paths(drawn, leaf)
        if path[-1] == len(drawn) - 1 and all(number in requires for number in path)
    ]
    return set.intersection(*ways) - {leaf, len(drawn) - 1} if ways else None


def item(graph: Graph, number: int) -> ItemId:
    return node(graph, f"v{number}")


@given(lines())
def test_gates_are_what_every_way_of_the_gradient_shares(drawn: list[Line]) -> None:
    graph = written(drawn)
    found = {gates.leaf: set(gates.through) for gates in network.gates(GradientFlows(graph))}
    for number, (kind, _) in enumerate(drawn):
        if kind == "leaf":
            expected = passed(drawn, number)
            shared = {item(graph, one) for one in expected} if expected is not None else None
            assert found.get(item(graph, number)) == shared


@given(lines())
def test_between_is_what_lies_on_some_chain(drawn: list[Line]) -> None:
    graph, last = written(drawn), len(drawn) - 1
    for first in range(last):
        on_the_way = {one for path in paths(drawn, first) if path[-1] == last for one in path} - {first, last}
        found = network.between(graph, item(graph, first), item(graph, last))
        assert set(found) == {item(graph, one) for one in on_the_way}


@given(lines())
def test_no_chain_weighs_more_than_the_longest_path(drawn: list[Line]) -> None:
    graph = written(drawn)
    weights = {item(graph, number): float((number * 7) % 5 + 1) for number in range(len(drawn))}
    heaviest = max(
        sum(weights[item(graph, one)] for one in path) for first in range(len(drawn)) for path in paths(drawn, first)
    )
    path = network.longest_path(graph, weights)
    assert sum(weights.get(one, 0.0) for one in path) == heaviest
    together = {(edge.source, edge.target) for edge in dependencies(graph)}
    assert all(pair in together for pair in pairwise(path))


@given(lines())
def test_parts_are_what_wires_join(drawn: list[Line]) -> None:
    graph = written(drawn)
    parts = [{number} for number in range(len(drawn))]
    for source, target in wires(drawn):
        joined = [part for part in parts if source in part or target in part]
        parts = [*(part for part in parts if part not in joined), set.union(*joined)]
    backward = list(graph.order())[-1]
    found = {frozenset(part) - {backward} for part in network.components(graph)}
    assert found == {frozenset(item(graph, number) for number in part) for part in parts}


@given(lines())
def test_dependencies_go_forward_in_the_order_of_the_program(drawn: list[Line]) -> None:
    graph = written(drawn)
    place = {one: number for number, one in enumerate(graph.order())}
    assert all(place[edge.source] < place[edge.target] for edge in dependencies(graph))
