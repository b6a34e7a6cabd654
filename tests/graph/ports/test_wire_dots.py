"""Dots through which wires are led: their keys, and the recipes that change them."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import Graph, ItemId, Place
from gradstudio.graph.ports.wire_dots import (
    MOST_DOTS,
    Point,
    coinciding_dots,
    dot_key,
    dots_by_end,
    end_of,
    item_of,
    points_of,
    renumber_dots,
    wire_of,
    with_points,
)
from gradstudio.graph.recipes.wiring.dots import add_dot, branch, remove_dots, without_dots
from tests.graph.recipes.wiring.test_rewiring import at, program


def led(graph: Graph, name: str, *points: Point, port: str = "input") -> tuple[ItemId, str]:
    """The wire into a port is led through these points."""
    end = (at(graph, name), port)
    for k, point in enumerate(points):
        apply_all(graph, add_dot(graph, graph.wires[end], k, point))
    return end


@pytest.mark.parametrize("target", ["n1", "call/inner", "odd:id/with:both"])
def test_a_key_names_its_dot(target: str) -> None:
    key = dot_key((ItemId(target), "tensors.0"), 3)
    assert end_of(key) == ((target, "tensors.0"), 3)
    assert item_of(key) == target


@pytest.mark.parametrize(
    "key", ["n1", "note:n1", "dot:n1", "dot:n1/input", "dot:n1/input:x", "dot:n1/:0", "dot:input:0"]
)
def test_other_keys_are_no_dots(key: str) -> None:
    assert end_of(key) is None


def test_the_item_of_a_note_and_of_a_card() -> None:
    assert item_of("note:n1") == "n1"
    assert item_of("n1") == "n1"


def test_dots_are_put_in_at_their_index_and_can_be_undone() -> None:
    graph = program()
    end = led(graph, "d", (1, 1), (3, 3))
    inverse = apply_all(graph, add_dot(graph, graph.wires[end], 1, (2, 2)))
    assert points_of(graph, end) == [(1, 1), (2, 2), (3, 3)]
    apply_all(graph, inverse)
    assert points_of(graph, end) == [(1, 1), (3, 3)]


def test_a_wire_takes_no_more_dots_than_the_most() -> None:
    graph = program()
    end = led(graph, "d", *((float(k), 0.0) for k in range(MOST_DOTS)))
    with pytest.raises(Refused, match=f"at most {MOST_DOTS} dots"):
        add_dot(graph, graph.wires[end], 0, (9, 9))
    assert len(points_of(graph, end)) == MOST_DOTS


def test_only_what_differs_is_changed() -> None:
    graph = program()
    end = led(graph, "d", (1, 1), (2, 2))
    assert with_points(graph, end, [(1, 1), (2, 2)]) == {}
    assert with_points(graph, end, [(1, 1)]) == {dot_key(end, 1): None}
    assert with_points(graph, end, [(1, 1), (5, 5)]) == {dot_key(end, 1): Place(5, 5)}


def test_dots_of_wires_that_are_not_there_do_not_count() -> None:
    graph = program()
    end = led(graph, "d", (1, 1))
    graph.places[dot_key((ItemId("nobody"), "input"), 0)] = Place(0, 0)
    graph.places[at(graph, "e")] = Place(0, 0)
    assert dots_by_end(graph) == {end: [dot_key(end, 0)]}


def test_a_muted_wire_is_a_wire_with_dots() -> None:
    graph = program()
    end = led(graph, "c", (1, 1))
    wire = graph.wires[end]
    assert wire_of(graph, end) == wire
    apply_all(graph, recipes.mute_wires(graph, (wire,)))
    assert end not in graph.wires
    assert wire_of(graph, end) == wire
    assert dots_by_end(graph) == {end: [dot_key(end, 0)]}
    assert wire_of(graph, (end[0], "alpha")) is None
    assert wire_of(graph, (ItemId("nobody"), "input")) is None


def test_dots_of_one_output_at_one_place_are_one() -> None:
    graph = program()
    d, c, e = led(graph, "d", (1, 1), (2, 2)), led(graph, "c", (1, 1)), led(graph, "e", (1, 1))
    together = {dot_key(d, 0), dot_key(c, 0)}
    assert coinciding_dots(graph, [dot_key(d, 0)]) == together
    assert coinciding_dots(graph, [dot_key(d, 1)]) == {dot_key(d, 1)}
    assert coinciding_dots(graph, [dot_key(e, 0)]) == {dot_key(e, 0)}
    assert coinciding_dots(graph, ["dot:nobody/input:0"]) == frozenset()
    apply_all(graph, remove_dots(graph, [dot_key(c, 0)]))
    assert [points_of(graph, end) for end in (d, c, e)] == [[(2, 2)], [], [(1, 1)]]


def test_nothing_is_removed_where_no_dot_is() -> None:
    graph = program()
    assert remove_dots(graph, ["n1", "dot:nobody/input:0"]) == ()


def test_a_branch_goes_through_the_dots_up_to_where_it_leaves() -> None:
    graph = program()
    end, other = led(graph, "d", (1, 1), (2, 2), (3, 3)), (at(graph, "e"), "other")
    apply_all(graph, branch(graph, graph.wires[end], 1, *other))
    assert graph.wires[other].source == at(graph, "a")
    assert points_of(graph, other) == [(1, 1), (2, 2)]
    assert points_of(graph, end) == [(1, 1), (2, 2), (3, 3)]


def test_a_branch_that_would_close_a_loop_is_refused() -> None:
    graph = program()
    end = led(graph, "e", (1, 1))
    with pytest.raises(WireRefused):
        branch(graph, graph.wires[end], 0, at(graph, "c"), "input")


def test_the_dots_of_items_are_those_of_wires_into_and_from_them() -> None:
    graph = program()
    d, c, e = led(graph, "d", (1, 1)), led(graph, "c", (2, 2)), led(graph, "e", (3, 3))
    assert without_dots(graph, [c[0]]) == {dot_key(c, 0): None, dot_key(e, 0): None}
    assert without_dots(graph, [d[0]]) == {dot_key(d, 0): None}
    assert without_dots(graph, [at(graph, "f")]) == {}


def test_dots_of_a_file_are_numbered_without_gaps_and_not_too_many() -> None:
    one, many = (ItemId("n1"), "input"), (ItemId("n2"), "other")
    places = {dot_key(one, k): Place(k, 0) for k in (7, 2, 10)}
    places |= {dot_key(many, k): Place(k, 1) for k in range(MOST_DOTS + 3)}
    made = renumber_dots(places, [*places, "n1"])
    assert [made[dot_key(one, k)] for k in range(3)] == [Place(2, 0), Place(7, 0), Place(10, 0)]
    assert len(made) == 3 + MOST_DOTS
    assert renumber_dots(places, [dot_key(one, 7)]) == {dot_key(one, 0): Place(7, 0)}
