"""Cards that grew over what is below them: everything makes way, and each card asks its neighbours alone."""

from gradstudio.graph.edits import SetPlaces, apply_all
from gradstudio.graph.model import Graph, ItemId, Place
from gradstudio.graph.recipes import add_operator
from gradstudio.scene.edit.make_room import NEIGHBOURS_AT_ONCE
from gradstudio.scene.edit.room_for_growth import FEW, growth_slices, room_for_growth
from tests.helpers.call_count import calls_of
from tests.helpers.drawing import Drawing

GROWTH = 26.0
ROWS = 20


def crowd(columns: int) -> Drawing:
    """Columns of cards of which each has grown a little into the one below it."""
    graph = Graph()
    items = list[ItemId]()
    for _ in range(columns * ROWS):
        edits, item = add_operator(graph, "torch.rand", 0, 0)
        apply_all(graph, edits)
        items.append(item)
    drawing = Drawing(graph)
    step = drawing.room(items[0]).height - GROWTH / 2
    drawing.do((SetPlaces({item: Place(300.0 * (k // ROWS), step * (k % ROWS)) for k, item in enumerate(items)}),))
    return drawing


def test_thousands_of_cards_make_way_as_a_few_do() -> None:
    few, many = crowd(1), crowd(6)
    assert len(few.scene.stack.ids) < FEW < len(many.scene.stack.ids)
    column = room_for_growth(few.scene, dict.fromkeys(few.scene.stack.ids, GROWTH))
    heights = [column[item][1] for item in few.scene.stack.ids[1:]]
    assert len(heights) == ROWS - 1
    moved = room_for_growth(many.scene, dict.fromkeys(many.scene.stack.ids, GROWTH))
    for k in range(6):
        others = many.scene.stack.ids[ROWS * k + 1 : ROWS * (k + 1)]
        assert [moved[item] for item in others] == [(300.0 * k, y) for y in heights]


def test_twice_as_many_cards_that_grew_ask_twice_as_much() -> None:
    asked = list[int]()
    for columns in (6, 12):
        scene = crowd(columns).scene
        asked.append(calls_of(lambda scene=scene: room_for_growth(scene, dict.fromkeys(scene.stack.ids, GROWTH))))
    assert asked[1] < 2.2 * asked[0]


def test_many_cards_make_way_in_slices_between_which_all_is_drawn_where_it_stands() -> None:
    scene = crowd(3 * NEIGHBOURS_AT_ONCE // ROWS).scene
    stood, revision = list(scene.placement.corners), scene.state.geometry_revision
    work, stops = growth_slices(scene, dict.fromkeys(scene.stack.ids, GROWTH)), 0
    for _ in work:
        stops += 1
        assert scene.placement.corners == stood and scene.state.geometry_revision == revision
    assert stops >= 2
