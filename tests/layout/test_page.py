"""A program has the shape of a screen as far as its wires let it, and long wires have lanes."""

import sys
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gradstudio.graph.model import ROOT
from gradstudio.layout.layered.arrangement import arrange_boxes
from gradstudio.layout.layered.fan_out import spread_fan_out
from gradstudio.layout.layered.layer_assignment import assign_layers
from gradstudio.layout.layered.model import Box, Edge
from gradstudio.layout.layered.packing import pack
from gradstudio.layout.layered.reading_order import arrange_in_order
from gradstudio.layout.tidy import layout
from tests.layout.programs import program

SIZES = st.lists(st.tuples(st.floats(50, 3000), st.floats(50, 2000)), max_size=40)


@given(SIZES)
def test_parts_stand_side_by_side_in_their_order_and_cover_nothing(sizes):
    corners = pack(sizes)
    covers = [(x, y, x + width, y + height) for (x, y), (width, height) in zip(corners, sizes, strict=True)]
    for k, one in enumerate(covers):
        for other in covers[:k]:
            assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
    lines = [(y, x) for x, y in corners]
    assert all(one[0] <= other[0] or one[1] <= other[1] for one, other in pairwise(lines))


def test_many_small_parts_have_the_shape_of_a_screen():
    corners = pack([(450.0, 250.0)] * 40)
    width, height = max(x for x, _ in corners) + 450, max(y for _, y in corners) + 250
    assert 1.0 < width / height < 3.0


def fan(users: int) -> tuple[list[Box], list[Edge]]:
    """A value, its users, and a print for each of these."""
    edges = [Edge(0, 1 + 2 * k) for k in range(users)] + [Edge(1 + 2 * k, 2 + 2 * k) for k in range(users)]
    return [Box(200, 250)] * (1 + 2 * users), edges


def test_a_fan_does_not_make_a_tower():
    boxes, edges = fan(24)
    points = arrange_boxes(boxes, edges)
    height = max(y for _, y in points) + 250
    assert height < 24 * 290 / 2
    assert max(x for x, _ in points) < 2.5 * height


def test_a_small_fan_stays_in_its_columns():
    boxes, edges = fan(5)
    layer = assign_layers(len(boxes), edges)
    pairs = [(edge.source, edge.target) for edge in edges]
    assert spread_fan_out(boxes, pairs, layer, frozenset(), frozenset()) == (layer, set())


def test_what_feeds_another_user_of_the_value_is_not_moved_past_it():
    boxes, edges = fan(24)
    edges = [*edges, Edge(1, 48)]  # the first user also feeds the last print
    pairs = [(edge.source, edge.target) for edge in edges]
    spread, _ = spread_fan_out(boxes, pairs, assign_layers(len(boxes), edges), frozenset(), frozenset())
    assert all(spread[source] < spread[target] for source, target in pairs)
    assert max(spread) > 2


def test_a_lane_between_two_cards_costs_no_height():
    """Two rows that are joined; a wire from the first column to the third passes between them."""
    edges = [Edge(0, 2), Edge(1, 3), Edge(2, 4), Edge(3, 5), Edge(0, 3, 60.0, 10.0)]
    plain = arrange_boxes([Box(200, 100)] * 6, edges)
    crossed = arrange_boxes([Box(200, 100)] * 6, [*edges, Edge(0, 5, 90.0, 10.0)])
    assert max(y for _, y in crossed) <= max(y for _, y in plain) + 50


def calls_of_layout(count: int) -> int:
    """How many calls the layout of a chain with leaves and long wires takes."""
    edges = [Edge(k, k + 1) for k in range(count - 1)] + [Edge(k, k + 10) for k in range(0, count - 10, 10)]
    counted = 0

    def count_call(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count_call)
    try:
        arrange_boxes([Box(200, 100)] * count, edges)
    finally:
        sys.setprofile(None)
    return counted


def test_a_program_twice_as_long_takes_about_twice_the_work():
    assert calls_of_layout(1000) < 3 * calls_of_layout(500)


def test_a_fan_that_is_joined_again_stands_in_two_or_three_columns():
    boxes, edges = fan(30)
    join = len(boxes)
    edges += [Edge(2 + 2 * k, join, 40.0, 40.0 + 22 * k) for k in range(30)]
    edges += [Edge(join, join + 2), Edge(join + 1, join + 2)]
    boxes += [Box(200, 700), Box(200, 250), Box(200, 250)]
    points = arrange_boxes(boxes, edges)
    covers = [(x, y, x + box.width, y + box.height) for box, (x, y) in zip(boxes, points, strict=True)]
    assert all(covers[edge.source][2] < covers[edge.target][0] for edge in edges)
    for k, one in enumerate(covers):
        assert all(
            one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3] for other in covers[:k]
        )
    assert len({points[1 + 2 * k][0] for k in range(30)}) == 3
    assert points[join + 1][0] == points[join][0], "a leaf stays beside its user"


@given(
    st.lists(st.tuples(st.floats(50, 3000), st.floats(50, 2000)), min_size=1, max_size=20),
    st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=30),
)
def test_boxes_in_their_order_stand_down_or_to_the_right(sizes, wires):
    boxes = [Box(*size) for size in sizes]
    edges = [Edge(one, other, 20.0, 20.0) for one, other in wires if one < other < len(boxes)]
    points = arrange_in_order(boxes, edges, ())
    for (x, y), box, (next_x, next_y) in zip(points, boxes, points[1:], strict=False):
        assert next_x >= x + box.width or (next_x == x and next_y >= y + box.height)
    assert all(points[edge.target][0] >= points[edge.source][0] + boxes[edge.source].width for edge in edges)


def test_the_frames_of_a_notebook_are_read_in_their_order():
    cells = ["x = torch.ones(3)", "y = x * 2", "a = torch.zeros(2)", "z = y + x", "b = torch.ones(4)", "b.sum()"]
    text = "\n".join(f"# region: Cell {k}\n{cell}\n# endregion" for k, cell in enumerate(cells))
    graph = program(text)
    places = layout(graph)
    corners = [places[item] for item in graph.bodies[ROOT]]
    assert len(corners) == len(cells)
    assert corners == sorted(corners)
