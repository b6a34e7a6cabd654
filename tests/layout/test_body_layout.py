"""Tidy of a selection: it is laid out where it stands, and the rest stays."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.layout.tidy import layout, layout_part
from tests.document.graphs import graphs
from tests.layout.programs import Corners, named, overlaps, placed, program, rectangles, strangers_in_frames

TWO_WAYS = "x = torch.ones(3)\na = torch.exp(x)\nb = torch.sin(a)\nc = a + b\nd = torch.zeros(3)"


def laid_out(text: str, *names: str) -> tuple[Graph, dict[str, tuple[float, float]], Corners]:
    """A tidy program in which items with these names are on one heap; its places, and those after Tidy of these."""
    graph = program(text)
    before, heap = dict(layout(graph)), [named(graph, name) for name in names]
    before |= {item: (100.0 + k, 3000.0 + k) for k, item in enumerate(heap)}
    return graph, before, layout_part(placed(graph, before), heap)


def test_only_the_selection_gets_places_and_its_corner_stays():
    graph, _, after = laid_out(TWO_WAYS, "a", "b", "c")
    assert after.keys() == {named(graph, name) for name in "abc"}
    assert min(x for x, _ in after.values()) == 100.0
    assert min(y for _, y in after.values()) == 3000.0


def test_a_selection_stands_left_to_right_even_where_wires_lead_through_what_is_not_selected():
    graph, _, after = laid_out("x = torch.ones(3)\na = torch.exp(x)\nb = torch.sin(a)", "x", "b")
    assert after[named(graph, "x")][0] + 200 < after[named(graph, "b")][0]


def test_a_selected_block_is_tidied_inside():
    graph = program("x = torch.ones(3)\nwith torch.no_grad():\n    a = torch.exp(x)\n    b = torch.sin(a)")
    (block,) = graph.blocks
    heap = placed(graph, dict.fromkeys((*graph.nodes, block), (5.0, 5.0)))
    after = layout_part(heap, [block])
    assert after.keys() == {block, named(graph, "a"), named(graph, "b")}
    assert after[named(graph, "a")][0] + 190 < after[named(graph, "b")][0]


def test_a_selection_gives_way_to_what_stands_there():
    graph = program(TWO_WAYS)
    heap = placed(graph, dict.fromkeys(graph.nodes, (0.0, 0.0)) | {named(graph, "d"): (300.0, 40.0)})
    after = layout_part(heap, [named(graph, name) for name in "xabc"])
    corners = {key: (place.x, place.y) for key, place in heap.places.items()} | after
    assert not overlaps(rectangles(graph, corners))


@given(graphs(), st.data())
@settings(max_examples=40)
def test_a_tidy_part_covers_nothing_and_no_stranger_comes_into_a_frame(graph, data):
    items: list[ItemId] = [*graph.nodes, *graph.blocks]
    chosen = data.draw(st.lists(st.sampled_from(items), unique=True)) if items else []
    before = dict(layout(graph))
    after = layout_part(placed(graph, before), chosen)
    inside = {one for item in chosen if item in graph.blocks for one in graph.order(BodyId(item))}
    assert {key.removeprefix("note:") for key in after} <= {*chosen, *inside}
    covers = rectangles(graph, before | after)
    assert not overlaps(covers)
    assert not strangers_in_frames(graph, covers)
