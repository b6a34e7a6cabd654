"""The scene follows edits in one order; what moves nothing leaves every array alone."""

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, Header
from gradstudio.scene.items import PortRef
from tests.helpers.drawing import Drawing, scalar


def test_another_literal_moves_nothing_and_a_note_does(drawing: Drawing) -> None:
    item = drawing.add("torch.full")
    scene = drawing.scene
    revision, bounds = scene.state.geometry_revision, scene.placement.bounds
    drawing.do(recipes.set_literal(drawing.graph, item, "fill_value", "2.5"))
    assert scene.state.geometry_revision == revision
    assert scene.placement.bounds is bounds
    row = scene.stack.cards[item].layout.input("fill_value")
    assert row is not None
    assert row.text == "2.5"
    drawing.do(recipes.set_note(drawing.graph, item, "a note"))
    assert item in scene.placement.notes
    assert scene.state.geometry_revision > revision


def test_every_edit_is_another_revision_of_the_graph(drawing: Drawing) -> None:
    before = drawing.scene.state.graph_revision
    item = drawing.add("torch.relu")
    drawing.move({item: (80, 80)})
    assert drawing.scene.state.graph_revision == before + 2


def test_another_graph_is_shown_as_if_it_were_the_first(drawing: Drawing) -> None:
    drawing.chain("torch.randn", "torch.relu")
    other = Drawing()
    (item,) = other.chain("torch.ones")
    drawing.scene.rebuild(other.graph)
    assert drawing.scene.graph is other.graph
    assert drawing.scene.stack.ids == [item]
    assert drawing.scene.wiring.wires == []
    assert drawing.scene.placement.bounds.tolist() == other.scene.placement.bounds.tolist()
    drawing.scene.rebuild(Graph())
    assert drawing.scene.placement.extent() is None


def test_the_nearest_port_is_found_where_it_is_and_where_it_went(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    ports, (left, top) = drawing.scene.ports, drawing.input(y)
    assert ports.nearest(left - 3, top, 6) == PortRef(y, "input", "input")
    assert ports.nearest(*drawing.output(x), 6) == PortRef(x, "output", "", 0)
    assert ports.nearest(left - 8, top, 6) is None
    drawing.move({y: (500, 500)})
    assert ports.nearest(left, top, 6) is None
    assert ports.nearest(*drawing.input(y), 6) == PortRef(y, "input", "input")


def test_of_two_ports_at_one_place_the_later_is_found(drawing: Drawing) -> None:
    below, above = drawing.add("torch.relu", 40, 40), drawing.add("torch.relu", 40, 40)
    found = drawing.scene.ports.nearest(*drawing.output(below), 6)
    assert found == PortRef(above, "output", "", 0)


def test_statements_with_an_order_have_their_number_on_their_cards(drawing: Drawing) -> None:
    _, y = drawing.chain("torch.randn", "torch.relu")
    written = drawing.add("torch.Tensor.add_", 900, 0)
    drawing.connect(y, written, "self")
    numbers = drawing.scene.numbers
    assert numbers.order(written) == 3
    assert numbers.order(y) == 0
    drawing.do(recipes.set_header(drawing.graph, Header(device="cuda:0")))
    assert numbers.order(written) == 3, "all cards are new ones"


def test_cards_of_which_another_thing_is_said_are_others_once_they_are_looked_at(drawing: Drawing) -> None:
    x, y, z = drawing.chain("torch.randn", "torch.relu", "torch.sin")
    written = drawing.add("torch.Tensor.add_", 900, 0)
    drawing.connect(z, written, "self")
    numbers, stack = drawing.scene.numbers, drawing.scene.stack
    cards = (x, y, z, written)
    before = [stack.read(item).revision for item in cards]
    drawing.do(recipes.set_muted(drawing.graph, (z,), muted=True))
    assert numbers.left_out == {z, written}
    assert stack.cards[written].revision == before[3], "nobody looked"
    after = [stack.read(item).revision for item in cards]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, False, False]
    assert stack.revisions(cards) == after, "it is said once"


def test_cards_are_coloured_by_a_metric_until_by_none(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    scene = drawing.scene
    drawing.results.records = {x: (scalar(1.0),), y: (scalar(2.0),)}
    scene.results_changed()
    scene.colours.colour_by("dtype")
    scale = scene.colours.scale
    assert scale is not None
    assert scale.metric.name == "dtype"
    before = scene.stack.cards[x].revision
    drawing.results.records.clear()
    scene.results_changed()
    assert scene.stack.cards[x].revision > before
    assert scene.colours.scale is not None
    assert scene.colours.scale != scale
    scene.colours.colour_by("")
    assert scene.colours.scale is None
