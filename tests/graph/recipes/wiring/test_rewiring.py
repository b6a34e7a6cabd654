"""Wires that are there already: moved to another output, taken and drawn at once, two inputs exchanged."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.wire_dots import points_of
from gradstudio.graph.recipes.wiring.dots import add_dot
from gradstudio.graph.recipes.wiring.rewiring import move_wires, set_links, swap_inputs, swappable_operands
from gradstudio.graph.text.item_titles import title
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write

TEXT = """a = torch.zeros(2, 3)
b = torch.ones(2, 3)
c = torch.sub(a, b)
d = torch.relu(a)
e = torch.sub(c, 2)
f = torch.cat([a, b], dim=0)
g, h = torch.max(f, dim=0)
"""


def program(text: str = TEXT) -> Graph:
    return read_script(text, pasted=True).graph


def at(graph: Graph, words: str) -> ItemId:
    return next(item for item in graph.order() if title(graph, item) == words)


def sources(graph: Graph, item: ItemId) -> dict[str, str]:
    return {wire.port: title(graph, wire.source) for wire in graph.wires_to(item)}


def test_all_wires_of_an_output_begin_at_another_and_keep_their_dots() -> None:
    graph = program()
    a, b, d = at(graph, "a"), at(graph, "b"), at(graph, "d")
    apply_all(graph, add_dot(graph, graph.wires[d, "input"], 0, (5.0, 6.0)))
    edits, stay = move_wires(graph, a, 0, b, 0)
    inverse = apply_all(graph, edits)
    assert stay == ()
    assert list(graph.wires_from(a)) == []
    assert sources(graph, d) == {"input": "b"}
    assert sources(graph, at(graph, "c")) == {"input": "b", "other": "b"}
    assert sources(graph, at(graph, "f")) == {"tensors.0": "b", "tensors.1": "b"}
    assert points_of(graph, (d, "input")) == [(5.0, 6.0)]
    apply_all(graph, inverse)
    assert sources(graph, d) == {"input": "a"}
    assert points_of(graph, (d, "input")) == [(5.0, 6.0)]


def test_only_the_wires_of_that_output_are_moved() -> None:
    graph = program(TEXT + "i = torch.relu(g)\nj = torch.relu(h)\n")
    edits, _ = move_wires(graph, at(graph, "g, h"), 1, at(graph, "a"), 0)
    apply_all(graph, edits)
    assert sources(graph, at(graph, "i")) == {"input": "g, h"}
    assert sources(graph, at(graph, "j")) == {"input": "a"}


def test_wires_that_may_not_begin_there_stay_with_the_reason() -> None:
    graph = program()
    a, d = at(graph, "a"), at(graph, "d")
    edits, stay = move_wires(graph, a, 0, d, 0)
    apply_all(graph, edits)
    assert [(wire, why) for wire, why in stay] == [(Wire(a, 0, d, "input"), "d cannot feed itself.")]
    assert sources(graph, d) == {"input": "a"}
    assert sources(graph, at(graph, "c")) == {"input": "d", "other": "b"}
    assert sources(graph, at(graph, "f")) == {"tensors.0": "d", "tensors.1": "b"}


def test_moving_is_refused_where_none_may() -> None:
    graph = program()
    with pytest.raises(WireRefused, match="e cannot feed itself"):
        move_wires(graph, at(graph, "c"), 0, at(graph, "e"), 0)


def test_links_are_taken_and_drawn_at_once() -> None:
    graph = program()
    a, b, c, d = (at(graph, name) for name in "abcd")
    gone = (graph.wires[c, "input"], graph.wires[d, "input"])
    apply_all(graph, set_links(graph, gone, (Wire(d, 0, c, "input"), Wire(b, 0, d, "input"))))
    assert sources(graph, c) == {"input": "d", "other": "b"}
    assert sources(graph, d) == {"input": "b"}
    assert list(graph.order()).index(d) < list(graph.order()).index(c)
    assert all(wire.target not in (c, d) for wire in graph.wires_from(a))


def test_a_list_has_no_gap_where_a_link_was_taken() -> None:
    graph = program()
    f = at(graph, "f")
    apply_all(graph, set_links(graph, (graph.wires[f, "tensors.0"],), ()))
    assert sources(graph, f) == {"tensors.0": "b"}


def test_links_that_may_not_be_drawn_are_refused() -> None:
    graph = program()
    c = at(graph, "c")
    with pytest.raises(WireRefused, match="c cannot feed itself"):
        set_links(graph, (), (Wire(c, 0, c, "input"),))


def test_what_can_be_swapped() -> None:
    graph = program("for i in range(3):\n    k = torch.rand(2)\n" + TEXT)

    def paths(words: str) -> list[str]:
        return [port.path for port in swappable_operands(graph, at(graph, words)) or ()]

    assert paths("c") == ["input", "other"]
    assert paths("f") == ["tensors.0", "tensors.1"]
    assert paths("d") == paths("a") == paths("for i") == []


def test_two_wires_change_places() -> None:
    graph = program()
    c = at(graph, "c")
    inverse = apply_all(graph, swap_inputs(graph, c))
    assert sources(graph, c) == {"input": "b", "other": "a"}
    assert "c = torch.sub(b, a)" in write(graph).text
    apply_all(graph, inverse)
    assert sources(graph, c) == {"input": "a", "other": "b"}


def test_a_wire_and_a_literal_change_places() -> None:
    graph = program()
    e = at(graph, "e")
    apply_all(graph, swap_inputs(graph, e))
    assert sources(graph, e) == {"other": "c"}
    assert graph.nodes[e].literals == {"input": "2"}
    apply_all(graph, swap_inputs(graph, e))
    assert sources(graph, e) == {"input": "c"}
    assert graph.nodes[e].literals == {"other": "2"}


def test_a_muted_wire_changes_places_too() -> None:
    graph = program()
    c = at(graph, "c")
    apply_all(graph, recipes.mute_wires(graph, (graph.wires[c, "other"],)))
    apply_all(graph, swap_inputs(graph, c))
    assert graph.nodes[c].muted_wires == {"input": (at(graph, "b"), 0)}
    assert sources(graph, c) == {"other": "a"}


def test_a_node_without_two_operands_refuses() -> None:
    graph = program()
    with pytest.raises(Refused, match="d has no two inputs that could change places"):
        swap_inputs(graph, at(graph, "d"))
    assert swappable_operands(graph, ItemId("nobody")) is None


def test_an_input_that_does_not_take_the_literal_refuses() -> None:
    graph = program("a = torch.zeros(3)\ny = torch.pow(a, 2)\nz = torch.eq(a, 2)\n")
    z = at(graph, "z")
    assert graph.nodes[z].literals == {"other": "2"}
    with pytest.raises(Refused, match="input"):
        swap_inputs(graph, z)
    assert sources(graph, z) == {"input": "a"}


def test_an_input_that_does_not_take_the_wire_refuses() -> None:
    graph = program("a = torch.ones(2)\nn = a.size(0)\nf = torch.eq(a, n)\n")
    f = at(graph, "f")
    with pytest.raises(WireRefused, match="'input' takes a tensor; this is a number"):
        swap_inputs(graph, f)
    assert sources(graph, f) == {"input": "a", "other": "n"}
