"""Wires have the colour of what flows along them; what results changed is read when somebody asks."""

from gradstudio.graph import recipes
from gradstudio.graph.model import Wire
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.scene.card.port_style import PortStyle, record_look
from tests.helpers.call_count import calls_of
from tests.helpers.drawing import Drawing, matrix, scalar


def look_along(drawing: Drawing, wire: Wire) -> PortStyle:
    looks = drawing.scene.looks
    return looks.by_code[looks.codes[drawing.scene.wiring.index[wire]]]


def read_all(drawing: Drawing) -> None:
    drawing.scene.looks.read_wires(range(len(drawing.scene.wiring.wires)))


def test_a_wire_takes_the_colour_of_what_ran_when_it_is_read(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    (wire,) = drawing.scene.wiring.wires
    revision, card = drawing.scene.looks.revision, drawing.scene.stack.cards[y]
    assert not look_along(drawing, wire).known
    drawing.results.records[x] = (scalar(),)
    drawing.scene.results_changed((x,))
    assert not look_along(drawing, wire).known, "nobody looked yet"
    before = card.revision
    read_all(drawing)
    assert look_along(drawing, wire).dtype == "float32"
    assert drawing.scene.looks.revision > revision
    assert card.revision > before, "its input is drawn in that colour"
    assert drawing.scene.looks.input_looks(y) == (("input", look_along(drawing, wire)),)


def test_reading_what_did_not_change_colours_nothing_anew(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    read_all(drawing)
    revision, card = drawing.scene.looks.revision, drawing.scene.stack.cards[y]
    drawing.scene.results_changed((x,))
    before = card.revision
    read_all(drawing)
    assert drawing.scene.looks.revision == revision
    assert card.revision == before


def test_a_look_of_the_same_records_is_not_worked_out_again_and_of_others_it_is(drawing: Drawing) -> None:
    x, _ = drawing.chain("torch.randn", "torch.relu")
    taken = list[int]()
    for records in ((scalar(),), None, None, (matrix(),)):
        drawing.results.records[x] = records or drawing.results.records[x]  # None: a gradient alone is another
        drawing.scene.results_changed((x,))
        taken.append(calls_of(lambda: read_all(drawing)))
    assert taken[1] == taken[2] < min(taken[0], taken[3])
    (wire,) = drawing.scene.wiring.wires
    assert look_along(drawing, wire).requires_grad
    del drawing.results.records[x]
    drawing.scene.results_changed((x,))
    read_all(drawing)
    assert not look_along(drawing, wire).known, "before it ran"


def test_a_second_output_that_is_wired_at_another_moment_is_read_again_with_the_first(drawing: Drawing) -> None:
    x, first, second = (
        drawing.add(key, 300.0 * k, 0.0) for k, key in enumerate(("torch.aminmax", "torch.relu", "torch.relu"))
    )
    drawing.connect(x, first, "input")
    here = drawing.results.records[x] = (matrix(), scalar())
    drawing.scene.results_changed((x,))
    read_all(drawing)
    drawing.results.records[x] = (matrix(), matrix())
    drawing.scene.results_changed((x,))
    drawing.do(recipes.connect(drawing.graph, x, 1, second, "input"))
    drawing.results.records[x] = here
    drawing.scene.results_changed((x,))
    read_all(drawing)
    assert drawing.scene.looks.look_of(x, 1) == record_look(here[1])


def test_the_wires_of_a_card_are_those_of_both_its_halves(drawing: Drawing) -> None:
    x, layer = drawing.add("torch.randn", 0, 0), drawing.add("torch.nn.Linear", 300, 0)
    call = drawing.scene.state.card_groups.home(layer)
    wire = drawing.connect(x, call, "inputs.0")
    module = drawing.scene.stack.cards[call].layout.module
    assert module is not None
    assert drawing.scene.looks.wires_of(module) == drawing.scene.looks.wires_of(call) == [wire]
    assert drawing.scene.looks.wires_of(x) == [wire]


def test_wires_of_what_is_left_out_are_idle(drawing: Drawing) -> None:
    _, y, z = drawing.chain("torch.randn", "torch.relu", "torch.sum")
    drawing.do(recipes.set_muted(drawing.graph, (y,), True))
    assert drawing.scene.numbers.left_out == {y, z}
    assert all(look_along(drawing, wire).idle for wire in drawing.scene.wiring.wires)
    drawing.do(recipes.set_muted(drawing.graph, (y,), False))
    assert not drawing.scene.numbers.left_out
    assert not any(look_along(drawing, wire).idle for wire in drawing.scene.wiring.wires)


def test_a_muted_wire_looks_muted(drawing: Drawing) -> None:
    _, y = drawing.chain("torch.randn", "torch.relu")
    wire = drawing.graph.wires[y, "input"]
    drawing.do(recipes.mute_wires(drawing.graph, (wire,)))
    assert look_along(drawing, wire).muted


def test_what_an_edited_node_gives_is_read_again(drawing: Drawing) -> None:
    x = drawing.add("torch.full", 0, 0)
    wire = drawing.connect(x, drawing.add("torch.relu", 300, 0), "input")
    read_all(drawing)
    drawing.results.expected[x] = PortInference(node=x, dtype="int64", shape=(3,))
    drawing.do(recipes.set_literal(drawing.graph, x, "fill_value", "2"))
    read_all(drawing)
    assert look_along(drawing, wire).dtype == "int64"


def test_the_looks_of_another_graph_are_read_anew(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    drawing.results.records[x] = (scalar(),)
    drawing.scene.rebuild()
    assert look_along(drawing, drawing.graph.wires[y, "input"]).known
