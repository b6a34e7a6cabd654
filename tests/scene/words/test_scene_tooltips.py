"""Tooltips of what lies on a scene: cards, wires and ports say what is known of them."""

from gradstudio.graph import recipes
from gradstudio.scene.hit_test import Hit
from gradstudio.scene.items import PortRef
from gradstudio.scene.words.module_tooltips import mode_text
from gradstudio.scene.words.tooltips import tooltip, wire_text
from tests.helpers.drawing import Drawing, scalar


def test_a_card_says_what_its_operator_does_and_what_came_of_it(drawing: Drawing) -> None:
    x, _ = drawing.chain("torch.randn", "torch.relu")
    before = tooltip(drawing.scene, Hit("card", x))
    assert "randn" in before
    drawing.results.records[x] = (scalar(7.0),)
    drawing.scene.results_changed((x,))
    assert "<b>7</b>" in tooltip(drawing.scene, Hit("card", x))


def test_the_header_says_where_the_statement_stands(drawing: Drawing) -> None:
    item = drawing.add("torch.randn")
    written = drawing.add("torch.Tensor.add_", 300, 0)
    drawing.connect(item, written, "self")
    assert "Statement 2 in program order" in tooltip(drawing.scene, Hit("card", written, header=True))


def test_a_wire_says_what_went_through_and_what_came_back(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    wire = drawing.graph.wires[y, "input"]
    drawing.results.records[x] = (scalar(7.0),)
    drawing.send_back(wire, 0.5)
    text = wire_text(drawing.scene, wire)
    assert "▶ <b>7</b>" in text
    assert "◀ backward: 0.5" in text
    assert tooltip(drawing.scene, Hit("wire", wire=wire)) == text
    drawing.do(recipes.mute_wires(drawing.graph, (wire,)))
    assert "the argument counts as unwired" in wire_text(drawing.scene, wire)


def test_ports_say_what_they_take_and_give(drawing: Drawing) -> None:
    _, y = drawing.chain("torch.randn", "torch.relu")
    taken = tooltip(drawing.scene, Hit("port", y, PortRef(y, "input", "input")))
    assert "input" in taken
    assert tooltip(drawing.scene, Hit("port", y, PortRef(y, "output"))) not in ("", taken)
    assert tooltip(drawing.scene, Hit("empty")) == ""


def test_the_switch_of_a_module_says_what_a_click_writes(drawing: Drawing) -> None:
    layer = drawing.add("torch.nn.Dropout")
    home = drawing.scene.state.card_groups.home(layer)
    module = drawing.scene.stack.cards[home].layout.module
    assert module is not None
    assert "training mode" in mode_text(drawing.scene, home)
    drawing.do(recipes.set_training(drawing.graph, (module,), False))
    assert "evaluation mode" in mode_text(drawing.scene, home)
    assert mode_text(drawing.scene, drawing.add("torch.relu")) == ""
