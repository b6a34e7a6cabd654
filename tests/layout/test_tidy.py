from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Node, Place
from gradstudio.graph.text.notes import note_of
from gradstudio.layout.layered.arrangement import arrange_boxes
from gradstudio.layout.layered.column_order import crossings, order_columns
from gradstudio.layout.layered.coordinates import isotonic
from gradstudio.layout.layered.layer_assignment import assign_layers, make_columns
from gradstudio.layout.layered.model import Box, Edge
from gradstudio.layout.tidy import layout, layout_missing
from tests.document.graphs import graphs, put, wire
from tests.layout.programs import named, overlap, program, rectangles


def residual_net(count: int) -> tuple[int, list[Edge]]:
    """A chain of blocks `h + f(relu(h @ w1) @ w2)` with the weights as leaves."""
    edges: list[Edge] = []
    number = 1

    def box(*inputs: int) -> int:
        nonlocal number
        for port, source in enumerate(inputs):
            edges.append(Edge(source, number, 47.0, 47.0 + 22 * port))
        number += 1
        return number - 1

    state = 0
    while number < count:
        hidden = box(box(state, box()))
        state = box(state, box(hidden, box()))
    return number, edges


def test_a_residual_net_of_100_nodes_has_at_most_10_crossings():
    count, edges = residual_net(100)
    columns = make_columns([Box(200, 140)] * count, edges, assign_layers(count, edges))
    order_columns(columns)
    assert crossings(columns, columns.layers) <= 10


def test_crossings_are_counted_at_ports_and_not_at_boxes():
    edges = [Edge(0, 2, 0.0, 60.0), Edge(1, 2, 0.0, 20.0)]
    columns = make_columns([Box(200, 140)] * 3, edges, assign_layers(3, edges))
    assert crossings(columns, [[0, 1], [2]]) == 1
    assert crossings(columns, [[1, 0], [2]]) == 0


def test_inputs_stand_in_the_order_of_their_ports():
    edges = [Edge(source, 4, 47.0, 47.0 + 22 * port) for port, source in enumerate((2, 0, 3, 1))]
    points = arrange_boxes([Box(200, 100)] * 5, edges, [])
    assert sorted(range(4), key=lambda number: points[number][1]) == [2, 0, 3, 1]


def test_a_leaf_stands_in_the_column_before_its_first_user():
    edges = [Edge(0, 1), Edge(1, 2), Edge(2, 4), Edge(3, 4)]
    assert assign_layers(5, edges) == [0, 1, 2, 2, 3]


def test_a_chain_is_straight():
    edges = [Edge(number, number + 1, 47.0, 47.0) for number in range(5)]
    points = arrange_boxes([Box(200, 100)] * 6, edges, [])
    assert {y for _, y in points} == {0.0}


@given(st.integers(1, 30).flatmap(lambda count: st.tuples(st.just(count), edge_lists(count))))
def test_nothing_overlaps_and_no_wire_runs_back(drawn):
    count, edges = drawn
    boxes = [Box(150.0 + 10 * (number % 7), 80.0 + 30 * (number % 5)) for number in range(count)]
    points = arrange_boxes(boxes, edges, [])
    covers = [(x, y, x + box.width, y + box.height) for box, (x, y) in zip(boxes, points, strict=True)]
    assert not any(overlap(covers[one], covers[other]) for one in range(count) for other in range(one))
    assert all(covers[edge.source][2] < covers[edge.target][0] for edge in edges)


def edge_lists(count: int) -> st.SearchStrategy[list[Edge]]:
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda ends: ends[0] < ends[1])
    edge = st.builds(lambda ends, port: Edge(*ends, 40.0, 40.0 + 22 * port), pair, st.integers(0, 3))
    return st.lists(edge, max_size=60) if count > 1 else st.just([])


@given(graphs())
@settings(max_examples=40)
def test_every_item_and_note_of_a_program_gets_a_place_of_its_own(graph):
    places = layout(graph)
    noted = {item for item in graph.order() if note_of(graph.nodes.get(item) or graph.blocks[item])}
    assert places.keys() == {*graph.nodes, *graph.blocks, *(f"note:{item}" for item in noted)}
    covers = rectangles(graph, places)
    keys = list(covers)
    assert not [(a, b) for k, a in enumerate(keys) for b in keys[:k] if overlap(covers[a], covers[b])]


@given(graphs())
@settings(max_examples=40)
def test_a_frame_holds_its_statements_and_nothing_else(graph):
    places = layout(graph)
    covers = rectangles(graph, places)
    for block in graph.blocks:
        inside = set(graph.order(BodyId(block)))
        members = [covers[key] for key in covers if key.removeprefix("note:") in inside]
        if not members:
            continue
        frame = (*places[block], max(m[2] for m in members), max(m[3] for m in members))
        assert all(m[0] > frame[0] and m[1] > frame[1] for m in members)
        others = {key for key in covers if key.removeprefix("note:") not in {*inside, block}}
        assert not [key for key in others if overlap(covers[key], frame)]


@given(graphs())
@settings(max_examples=40)
def test_the_same_program_always_looks_the_same(graph):
    assert layout(graph) == layout(graph.copy())


def test_what_reads_a_gradient_stands_right_of_the_backward():
    graph = Graph()
    put(graph, Node(id=ItemId("x"), operator="torch.tensor", names=("x",), literals={"data": "2.0"}))
    put(graph, Node(id=ItemId("y"), operator="operator.mul", names=("y",), literals={"b": "3"}))
    put(graph, Node(id=ItemId("back"), operator="torch.Tensor.backward"))
    put(graph, Node(id=ItemId("g"), operator="torch.Tensor.grad", names=("g",)))
    wire(graph, "x", 0, "y", "a")
    wire(graph, "y", 0, "back", "self")
    wire(graph, "x", 0, "g", "self")
    places = layout(graph)
    assert places["g"][0] > places["back"][0] > places["y"][0] > places["x"][0]


def test_true_sizes_are_respected():
    graph = Graph()
    for name in ("x", "y"):
        put(graph, Node(id=ItemId(name), operator="operator.add", names=(name,)))
    wire(graph, "x", 0, "y", "a")
    places = layout(graph, {ItemId("x"): (900.0, 50.0)})
    assert places["y"][0] - places["x"][0] > 900


def test_a_thousand_nodes_without_wires_do_not_stand_in_one_row():
    places = arrange_boxes([Box(200, 140)] * 1000, [], [])
    assert 4 < len({y for _, y in places}) < 250


def test_missing_places_are_filled_below_and_the_others_stay():
    graph = Graph()
    for name in ("x", "y"):
        put(graph, Node(id=ItemId(name), operator="operator.add", names=(name,)))
    graph.places["x"] = Place(7.0, 9.0)
    places = layout_missing(graph)
    assert places["x"] == Place(7.0, 9.0)
    assert places["y"].y > 9.0
    assert graph.places.keys() == {"x"}


def test_deep_blocks_are_no_trouble():
    graph, body = Graph(), ROOT
    for number in range(100):
        body = BodyId(put(graph, Block(id=ItemId(f"b{number}"), kind="group"), body))
    assert len(layout(graph)) == 100


@given(st.lists(st.tuples(st.floats(-100, 100), st.floats(0.1, 10)), max_size=12))
def test_isotonic_numbers_never_fall_and_keep_the_mean(pairs):
    wishes, weights = [wish for wish, _ in pairs], [weight for _, weight in pairs]
    best = isotonic(wishes, weights)
    assert all(one <= other + 1e-9 for one, other in pairwise(best))
    kept = sum(value * weight for value, weight in zip(best, weights, strict=True))
    assert abs(kept - sum(wish * weight for wish, weight in pairs)) < 1e-6
    if wishes == sorted(wishes):
        assert best == wishes


TRAINING = """
w = torch.zeros(3, requires_grad=True)
x = torch.ones(3)
for step in range(5):
    loss = (w * x).sum()
    loss.backward()
seen = w.sum()
other = torch.ones(2) * 2
"""


def test_what_reads_trained_values_stands_right_of_the_training():
    graph = program(TRAINING)
    covers = rectangles(graph, layout(graph))
    (block,) = graph.blocks
    inside = [covers[item] for item in graph.order(BodyId(block)) if item in covers]
    assert covers[named(graph, "seen")][0] > max(rect[2] for rect in inside)
    assert covers[named(graph, "other")][0] < max(rect[2] for rect in inside), "nothing else waits for it"


def test_what_takes_the_counter_of_a_loop_stands_right_of_the_frames_port():
    """The port's name is beside it: a longer one needs more room."""
    lefts = []
    for counter in ("i", "a_longer_name"):
        graph = program(f"x = torch.ones(3)\nfor {counter} in range(5):\n    y = x * {counter}")
        places = layout(graph)
        (block,) = graph.blocks
        lefts.append(places[named(graph, "y")][0] - places[block][0])
    assert lefts[0] + 60 < lefts[1]


LATE = """
B, C = 2, 16
x = torch.randn(B, C)
w1 = torch.randn(C, C)
w2 = torch.randn(C, C // 2)
y = ((x @ w1).relu() * 2).sin().cos()
z = y @ w2
"""


def test_what_needs_only_numbers_stands_directly_left_of_its_first_user():
    graph = program(LATE)
    places = layout(graph)
    columns = sorted({x for x, _ in places.values()})
    column = {item: columns.index(x) for item, (x, _) in places.items()}
    assert column[named(graph, "z")] > 5
    assert column[named(graph, "w2")] == column[named(graph, "z")] - 1
    half = next(node.id for node in graph.nodes.values() if node.operator == "operator.floordiv")
    assert column[half] == column[named(graph, "w2")] - 1
    assert column[named(graph, "w1")] == 1


def test_updates_in_a_block_that_no_wire_joins_stand_below_one_another():
    graph = program(
        "import torch\n"
        "w = torch.ones(3, requires_grad=True)\nb = torch.ones(3, requires_grad=True)\n"
        "(w * b).sum().backward()\n"
        "with torch.no_grad():\n    w -= 0.1 * w.grad\n    b -= 0.1 * b.grad\n"
    )
    places = layout(graph)
    one, other = (item for item, node in graph.nodes.items() if node.operator == "operator.isub")
    assert places[one][0] == places[other][0] and places[one][1] < places[other][1]
