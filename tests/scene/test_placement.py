"""Where things stand follows from the graph's places: cards, frames around what they hold, notes above cards."""

import itertools

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.model import ItemId, Place
from gradstudio.scene.items import PortRef
from gradstudio.scene.note.note_layout import NOTE_GAP
from tests.helpers.drawing import Drawing


def framed(drawing: Drawing, *items: ItemId) -> ItemId:
    """A block around items."""
    before = set(drawing.graph.blocks)
    drawing.do(recipes.wrap(drawing.graph, items, "no_grad"))
    (block,) = set(drawing.graph.blocks) - before
    return block


def test_cards_stand_where_the_graph_has_them(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 120, 48)
    box, card = drawing.box(item), drawing.scene.stack.cards[item]
    assert (box.x, box.y, box.width, box.height) == (120, 48, card.layout.width, card.drawn_height)
    drawing.move({item: (8, 16)})
    assert (drawing.box(item).x, drawing.box(item).y) == (8, 16)


def test_cards_without_a_place_stand_in_a_column_and_cover_nothing(drawing: Drawing) -> None:
    items = [drawing.add("torch.randn") for _ in range(3)]
    drawing.do((SetPlaces(dict.fromkeys(items)),))
    boxes = [drawing.box(item) for item in items]
    assert [box.x for box in boxes] == [0, 0, 0]
    assert all(one.bottom < other.y for one, other in itertools.pairwise(boxes))


def test_a_frame_goes_around_what_it_holds_and_the_outer_one_comes_first(drawing: Drawing) -> None:
    x, y, z = (drawing.add("torch.randn", 300.0 * k, 100) for k in range(3))
    inner = framed(drawing, y)
    outer = framed(drawing, x, inner)
    frames = drawing.scene.placement.frames
    assert list(frames) == [outer, inner]
    assert (frames[outer].depth, frames[inner].depth) == (0, 1)
    for frame, held in ((outer, (x, inner)), (inner, (y,))):
        around = frames[frame].box
        assert all(around.contains(box.x, box.y) for item in held for box in (drawing.box(item),))
        assert all(around.contains(box.right, box.bottom) for item in held for box in (drawing.box(item),))
    assert not frames[outer].box.meets(drawing.box(z))
    assert drawing.scene.state.members(outer) == {x, inner, y}


def test_an_empty_frame_stands_at_its_own_place(drawing: Drawing) -> None:
    edits, block = recipes.add_block(drawing.graph, "no_grad", 40, 24)
    drawing.do(edits)
    box = drawing.scene.placement.frames[block].box
    assert (box.x, box.y) == (40, 24)
    assert box.width > 0 and box.height > 0


def test_a_note_lies_above_its_card_until_it_has_a_place_of_its_own(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 40, 200)
    drawing.do(recipes.set_note(drawing.graph, item, "why it is here"))
    note, box = drawing.scene.placement.notes[item], drawing.box(item)
    assert note.text == "why it is here"
    assert (note.box.x, note.box.bottom) == (box.x, box.y - NOTE_GAP)
    drawing.do((SetPlaces({note.key: Place(500, 8)}),))
    moved = drawing.scene.placement.notes[item].box
    assert (moved.x, moved.y) == (500, 8)


def test_a_longer_note_is_higher_in_the_same_width(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 40, 200)
    drawing.do(recipes.set_note(drawing.graph, item, "short"))
    short = drawing.scene.placement.notes[item].box
    drawing.do(recipes.set_note(drawing.graph, item, "a long explanation " * 12))
    long = drawing.scene.placement.notes[item].box
    assert long.width == short.width
    assert long.height > 2 * short.height


def test_ports_are_at_the_edges_of_cards_and_unknown_items_have_none(drawing: Drawing) -> None:
    item = drawing.add("torch.relu", 100, 50)
    box = drawing.box(item)
    x, y = drawing.input(item)
    assert x == pytest.approx(box.x, abs=1)
    assert box.y < y < box.bottom
    assert drawing.output(item)[0] == pytest.approx(box.right, abs=1)
    assert drawing.scene.placement.anchor(PortRef(ItemId("nobody"), "output")) == (0.0, 0.0)
    assert drawing.scene.placement.box(ItemId("nobody")) is None
    assert drawing.scene.placement.layout(ItemId("nobody")) is None


def test_the_extent_is_around_everything_or_around_some(drawing: Drawing) -> None:
    placement = drawing.scene.placement
    assert placement.extent() is None
    x, y = drawing.add("torch.randn", 0, 0), drawing.add("torch.randn", 700, 400)
    whole = placement.extent()
    assert whole is not None
    assert (whole.x, whole.y) == (0, 0)
    assert (whole.right, whole.bottom) == (drawing.room(y).right, drawing.room(y).bottom)
    assert placement.extent((x,)) == drawing.room(x)
    drawing.move({y: (900, 400)})
    later = placement.extent()
    assert later is not None
    assert later.right == whole.right + 200


def test_a_covered_card_is_raised_over_all_others_and_keeps_its_place(drawing: Drawing) -> None:
    below, above, apart = (
        drawing.add("torch.randn", 0, 0),
        drawing.add("torch.randn", 20, 20),
        drawing.add("torch.ones", 900, 0),
    )
    boxes = {item: drawing.box(item) for item in (below, above, apart)}
    placement, stack = drawing.scene.placement, drawing.scene.stack
    assert not placement.raise_cards((above,)), "nothing lies on it"
    assert not placement.raise_cards((apart,))
    assert placement.bounds.tolist() == [list(corners) for corners in placement.corners]
    standing = dict(zip(drawing.scene.stack.ids, placement.corners, strict=True))
    assert placement.raise_cards((below,))
    assert dict(zip(drawing.scene.stack.ids, placement.corners, strict=True)) == standing
    assert placement.bounds.tolist() == [list(corners) for corners in placement.corners]
    assert stack.ids == [above, apart, below]
    assert {item: drawing.box(item) for item in boxes} == boxes
    assert stack.index[below] == 2
