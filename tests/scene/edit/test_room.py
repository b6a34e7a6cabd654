"""What is added or brought somewhere covers nothing: it steps aside, or what is in its way does."""

from itertools import combinations

from gradstudio.graph import recipes
from gradstudio.graph.edits import ReplaceNode, SetPlaces
from gradstudio.graph.model import Place
from gradstudio.graph.recipes.fragments import duplicate
from gradstudio.scene.edit.avoid_overlap import avoid_overlap, place_output_at
from gradstudio.scene.edit.drag_group import drag_group, units, with_members
from gradstudio.scene.edit.empty_blocks import keep_frames
from gradstudio.scene.edit.insert_room import insert_with_room, lead_through_with_room
from gradstudio.scene.edit.make_room import with_room
from gradstudio.scene.edit.new_card_size import new_card_size
from tests.helpers.drawing import Drawing


def covered(drawing: Drawing) -> bool:
    boxes = [drawing.box(item) for item in drawing.scene.stack.ids]
    return any(one.meets(other) for one, other in combinations(boxes, 2))


def test_what_is_added_over_a_card_steps_aside(drawing: Drawing) -> None:
    drawing.add("torch.randn", 200, 100)
    edits, item = recipes.add_operator(drawing.graph, "torch.tanh", 240, 130)
    drawing.do(avoid_overlap(drawing.scene, edits))
    assert not covered(drawing)
    assert abs(drawing.graph.places[item].x - 240) < 300


def test_what_is_added_on_free_ground_stays_there(drawing: Drawing) -> None:
    drawing.add("torch.randn", 200, 100)
    edits, _ = recipes.add_operator(drawing.graph, "torch.tanh", 900, 100)
    assert avoid_overlap(drawing.scene, edits) == edits


def test_what_stands_on_its_own_steps_aside_as_beside_an_edit_of_what_is_there(drawing: Drawing) -> None:
    """A copy is looked at alone; with an edit of another card the whole program is, and both find one place."""
    items = [drawing.add("torch.randn", 200 + 260 * k, 100 + 90 * k) for k in range(4)]
    layer = drawing.add("torch.nn.Linear", 100, 700)
    stays = ReplaceNode(drawing.graph.nodes[items[0]])
    for chosen in ([items[1]], items[:3], [layer, *drawing.scene.state.card_groups.whole([layer])]):
        edits, _ = duplicate(drawing.graph, sorted(set(chosen)), 10.0, 20.0)
        alone = avoid_overlap(drawing.scene, edits)
        assert len(alone) == len(edits) + 1
        assert avoid_overlap(drawing.scene, (stays, *edits))[1:] == alone


def test_a_card_can_be_held_by_its_output(drawing: Drawing) -> None:
    edits, item = recipes.add_operator(drawing.graph, "torch.tanh", 0, 0)
    drawing.do(place_output_at(drawing.scene, edits, item, 500, 300))
    x, y = drawing.output(item)
    assert abs(x - 500) <= 8 and abs(y - 300) <= 8


def test_a_card_put_into_a_wire_moves_what_is_in_its_way(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    wire, before = drawing.graph.wires[y, "input"], drawing.box(y)
    edits, item = insert_with_room(drawing.scene, wire, "torch.exp", 150, 0)
    drawing.do(edits)
    assert not covered(drawing)
    assert drawing.box(x).right < drawing.box(item).x < drawing.box(y).x
    assert drawing.box(y).x > before.x


def test_a_card_that_stands_there_is_led_through_a_wire_in_the_same_way(drawing: Drawing) -> None:
    _, y = drawing.chain("torch.randn", "torch.relu")
    item = drawing.add("torch.exp", 0, 600)
    drawing.do(lead_through_with_room(drawing.scene, drawing.graph.wires[y, "input"], item, 150, 0))
    assert drawing.graph.wires[y, "input"].source == item
    assert not covered(drawing)


def test_cards_in_the_way_move_on_and_pinned_ones_stay(drawing: Drawing) -> None:
    one, other = drawing.add("torch.randn", 0, 0), drawing.add("torch.randn", 300, 0)
    places = {one: (250.0, 0.0)}
    moved = with_room(drawing.scene, (one,), places)
    assert moved[other][0] > 300
    assert drawing.box(one).x == 0, "the scene is as it was"
    drawing.move(moved)
    assert not covered(drawing)
    drawing.do((SetPlaces({other: Place(300, 0, pinned=True)}),))
    moved = with_room(drawing.scene, (one,), places)
    assert other not in moved
    drawing.move(moved)
    assert not covered(drawing)


def test_a_block_is_moved_with_what_it_holds_and_its_notes(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    wire = drawing.graph.wires[y, "input"]
    drawing.do(recipes.add_dot(drawing.graph, wire, 0, (250, 200)))
    drawing.do(recipes.wrap(drawing.graph, (x, y), "no_grad"))
    (block,) = drawing.graph.blocks
    assert with_members(drawing.scene, (block,)) == {block, x, y}
    assert set(drag_group(drawing.scene, (block,))) == {x, y, *drawing.scene.dots.of(wire)}
    assert units(drawing.scene, (block, x)) == [block]


def test_a_block_that_loses_its_last_statement_stays_where_it_is(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 400, 300)
    drawing.do(recipes.wrap(drawing.graph, (item,), "no_grad"))
    (block,) = drawing.graph.blocks
    frames = drawing.scene.placement.frames
    before = frames[block].box
    delete = keep_frames(recipes.delete, frames)
    drawing.do(delete(drawing.graph, (item,)))
    after = drawing.scene.placement.frames[block].box
    assert (after.x, after.y) == (round(before.x), round(before.y))


def test_an_operator_takes_the_room_that_its_card_would(drawing: Drawing) -> None:
    item = drawing.add("torch.full")
    box = drawing.room(item)
    assert new_card_size(drawing.scene, "torch.full") == (box.width, box.height)
