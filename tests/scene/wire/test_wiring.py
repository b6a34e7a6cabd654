"""Which wires are drawn: those between cards, muted ones last; which of them touch what."""

from gradstudio.graph import recipes
from gradstudio.scene.wire.wire_options import WireOptions
from gradstudio.scene.wire.wiring import MANY
from tests.helpers.drawing import Drawing


def test_wires_are_found_by_themselves_and_by_the_port_where_they_end(drawing: Drawing) -> None:
    _, y, z = drawing.chain("torch.randn", "torch.relu", "torch.exp")
    wiring = drawing.scene.wiring
    assert [wiring.wires[k].target for k in (wiring.ends[y, "input"], wiring.ends[z, "input"])] == [y, z]
    assert all(wiring.wires[k] == wire for wire, k in wiring.index.items())


def test_a_wire_inside_a_card_is_not_drawn(drawing: Drawing) -> None:
    drawing.add("torch.nn.Linear")
    assert drawing.graph.wires
    assert drawing.scene.wiring.wires == []


def test_muted_wires_are_drawn_last(drawing: Drawing) -> None:
    _, y, _ = drawing.chain("torch.randn", "torch.relu", "torch.exp")
    wiring, wire = drawing.scene.wiring, drawing.graph.wires[y, "input"]
    drawing.do(recipes.mute_wires(drawing.graph, (wire,)))
    assert wiring.muted == {wire}
    assert wiring.wires[-1] == wire
    assert wiring.is_muted_as_before()
    drawing.do(recipes.unmute_wires(drawing.graph, (wire,)))
    assert not wiring.muted
    assert len(wiring.wires) == 2


def test_wires_touch_what_they_begin_and_end_at_and_their_dots(drawing: Drawing) -> None:
    x, y, z = drawing.chain("torch.randn", "torch.relu", "torch.exp")
    wiring, wire = drawing.scene.wiring, drawing.graph.wires[z, "input"]
    assert wiring.touching(frozenset({x})).tolist() == [True, False]
    assert wiring.touching(frozenset({y})).tolist() == [True, True]
    drawing.do(recipes.add_dot(drawing.graph, wire, 0, (400, 200)))
    (key,) = drawing.scene.dots.of(wire)
    assert wiring.touching(frozenset({key})).tolist() == [False, True]
    assert wiring.touching(frozenset()).tolist() == [False, False]
    for items in ({x}, {y}, {key}, {x, z}, set[str]()):
        touched = wiring.touching(frozenset(items)).nonzero()[0].tolist()
        assert wiring.lit_among(frozenset(items), range(2)) == touched
    assert wiring.lit_among(frozenset({y}), [1]) == [1]


def test_of_many_items_the_same_wires_are_touched_as_of_each(drawing: Drawing) -> None:
    items = drawing.chain("torch.randn", *["torch.relu"] * (MANY + 1))
    wiring = drawing.scene.wiring
    some = frozenset(items[:-1])
    assert len(some) > MANY
    touched = wiring.touching(some).tolist()
    assert touched == [k in wiring.at(some) for k in range(len(wiring.wires))]
    assert touched.count(False) == 0


def test_a_person_may_want_only_the_wires_of_the_selection_or_none(drawing: Drawing) -> None:
    x, y, z = drawing.chain("torch.randn", "torch.relu", "torch.exp")
    wiring = drawing.scene.wiring
    one, other = drawing.graph.wires[y, "input"], drawing.graph.wires[z, "input"]
    assert wiring.is_drawn(one)
    drawing.scene.show_wires(WireOptions(shown="selection"))
    wiring.selection = frozenset({x})
    assert wiring.is_drawn(one) and not wiring.is_drawn(other)
    drawing.scene.show_wires(WireOptions(shown="none"))
    assert not wiring.is_drawn(one)
