"""What lies under a point: the topmost thing, from ports down to frames."""

import pytest

from gradstudio.graph import recipes
from gradstudio.scene.card.frame_titles import title_from_afar
from gradstudio.scene.hit_test import EMPTY, Hit, card_at, field_box, frame_at, hit, port_at, wire_at
from gradstudio.scene.wire.wire_options import WireOptions
from tests.helpers.drawing import Drawing


def test_a_port_is_hit_from_a_little_away_and_not_from_afar(drawing: Drawing) -> None:
    x = drawing.add("torch.relu", 100, 100)
    at = drawing.output(x)
    found = hit(drawing.scene, at[0] + 5, at[1] + 3, 1.0)
    assert found.kind == "port"
    assert found.port is not None
    assert (found.port.item, found.port.side) == (x, "output")
    assert port_at(drawing.scene, at[0] + 50, at[1], 11.0) is None
    assert hit(drawing.scene, at[0] - 8, at[1], 0.2).kind == "card"


def test_a_port_under_another_card_is_not_hit(drawing: Drawing) -> None:
    below = drawing.add("torch.relu", 100, 100)
    x, y = drawing.output(below)
    above = drawing.add("torch.randn", x - 60, y - 40)
    found = hit(drawing.scene, x, y, 1.0)
    assert found.item == above
    assert card_at(drawing.scene, x, y) == above


def test_fields_and_the_row_of_folded_arguments_are_hit_when_near(drawing: Drawing) -> None:
    item = drawing.add("torch.full", 0, 0)
    row = drawing.scene.stack.cards[item].layout.input("fill_value")
    assert row is not None
    box = field_box(drawing.scene, item, row)
    assert box is not None
    found = hit(drawing.scene, *box.center, 1.0)
    assert (found.kind, found.row) == ("field", row)
    assert hit(drawing.scene, *box.center, 0.5).kind == "field", "its line on a plate"
    assert hit(drawing.scene, *box.center, 0.2).kind == "card"
    more = drawing.scene.stack.cards[item].layout.more
    assert more is not None
    assert hit(drawing.scene, *more.center, 1.0).kind == "more"


def test_the_header_of_a_card_is_told_from_the_rest(drawing: Drawing) -> None:
    item = drawing.add("torch.relu", 100, 100)
    box = drawing.box(item)
    assert hit(drawing.scene, box.x + 40, box.y + 8, 1.0).header
    below = hit(drawing.scene, box.x + box.width / 2, box.bottom - 4, 1.0)
    assert (below.kind, below.item, below.header) == ("card", item, False)


def test_wires_and_their_dots_are_hit_unless_they_are_hidden(drawing: Drawing) -> None:
    x, y = drawing.add("torch.randn", 0, 0), drawing.add("torch.relu", 800, 0)
    wire = drawing.connect(x, y, "input")
    middle = drawing.scene.routes.paths[0, 11].tolist()
    assert hit(drawing.scene, *middle, 1.0).wire == wire
    assert wire_at(drawing.scene, middle[0], middle[1] + 3, 6.0) == wire
    drawing.do(recipes.add_dot(drawing.graph, wire, 0, (504, 304)))
    found = hit(drawing.scene, 504, 304, 1.0)
    assert (found.kind, found.wire, found.dot) == ("dot", wire, drawing.scene.dots.of(wire)[0])
    drawing.scene.show_wires(WireOptions(shown="none"))
    assert hit(drawing.scene, 504, 304, 1.0) == EMPTY


@pytest.mark.parametrize("zoom", [0.2, 0.35])
def test_from_afar_a_title_is_hit_where_it_is_painted(drawing: Drawing, zoom: float) -> None:
    item = drawing.add("torch.randn", 200, 300)
    drawing.do(recipes.wrap(drawing.graph, (item,), "no_grad"))
    (block,) = drawing.graph.blocks
    frame = drawing.scene.placement.frames[block]
    title = title_from_afar(frame, drawing.scene, zoom)
    assert title is not None
    middle = frame.box.y + (title.top + title.height / 2) / zoom
    lower = frame.box.y + (title.top + title.height - 1) / zoom
    for y in (middle, lower):
        assert hit(drawing.scene, frame.box.x + 20, y, zoom) == Hit("title", block)
    assert hit(drawing.scene, frame.box.x + 20, frame.box.y - 20 / zoom, zoom).kind == "empty"


def test_frames_notes_and_nothing(drawing: Drawing) -> None:
    item = drawing.add("torch.randn", 200, 300)
    drawing.do(recipes.wrap(drawing.graph, (item,), "no_grad"))
    (block,) = drawing.graph.blocks
    frame = drawing.scene.placement.frames[block].box
    assert hit(drawing.scene, frame.x + 20, frame.y + 6, 1.0).kind == "title"
    assert hit(drawing.scene, frame.x + 5, frame.bottom - 3, 1.0).kind == "frame"
    assert frame_at(drawing.scene, frame.x + 5, frame.bottom - 3) == block
    assert frame_at(drawing.scene, frame.x + 5, frame.bottom - 3, frozenset({block})) is None
    other = drawing.add("torch.randn", 900, 300)
    drawing.do(recipes.set_note(drawing.graph, other, "words"))
    note = drawing.scene.placement.notes[other].box
    found = hit(drawing.scene, *note.center, 1.0)
    assert (found.kind, found.item) == ("note", other)
    assert hit(drawing.scene, -500, -500, 1.0) == EMPTY
