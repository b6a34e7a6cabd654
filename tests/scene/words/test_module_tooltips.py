"""What is said of a module's leaves, and where they and its switch lie on the card."""

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import LeafInference, PortInference
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord
from gradstudio.scene.hit_test import Hit, hit
from gradstudio.scene.items import PortRef
from gradstudio.scene.words.module_tooltips import leaf_text
from gradstudio.scene.words.tooltips import tooltip
from tests.helpers.drawing import Drawing

MANY = Summary(dtype="float32", shape=(4, 8), minimum=-0.5, maximum=0.5, mean=0.25, rms=0.3)
ONE = Summary(dtype="float32", shape=(), minimum=2.0, maximum=2.0, value=2.0)


def leaf(summary: Summary, *, requires_grad: bool = True, grad: Summary | None = None) -> TensorRecord:
    reason = "The backward reached it." if grad is not None else "Nothing went backward."
    return TensorRecord(device="cpu", summary=summary, requires_grad=requires_grad, grad=grad, grad_reason=reason)


def module_of(drawing: Drawing, item: ItemId) -> ItemId:
    """The node that makes the module of a card."""
    home = drawing.scene.state.card_groups.home(item)
    return drawing.scene.stack.cards[home].layout.module or item


@pytest.fixture
def norm(drawing: Drawing) -> ItemId:
    """The card of a layer that ran: a parameter that learns, a frozen one, and a buffer."""
    home = drawing.scene.state.card_groups.home(drawing.add("torch.nn.BatchNorm1d"))
    module = module_of(drawing, home)
    parameters = {"weight": leaf(MANY, grad=ONE), "bias": leaf(MANY, requires_grad=False)}
    drawing.results.records[module] = (
        ModuleRecord(class_name="BatchNorm1d", parameters=parameters, buffers={"running_mean": leaf(ONE)}),
    )
    drawing.scene.results_changed((module,))
    return home


def test_a_parameter_says_its_numbers_its_gradient_and_why(drawing: Drawing, norm: ItemId) -> None:
    text = leaf_text(drawing.scene, norm, "weight")
    assert ".weight</b> (parameter)" in text
    assert "<code>float32[4, 8]</code>" in text
    assert "min -0.5  max 0.5  mean 0.25" in text
    assert text.endswith("∇ The backward reached it.<br>∇ <b>2</b>")


def test_a_frozen_parameter_and_a_buffer_are_called_so_and_a_buffer_has_no_gradient(
    drawing: Drawing, norm: ItemId
) -> None:
    assert "(parameter, frozen)" in leaf_text(drawing.scene, norm, "bias")
    buffer = leaf_text(drawing.scene, norm, "running_mean")
    assert "(buffer)" in buffer
    assert "<b>2</b>" in buffer
    assert "∇" not in buffer
    assert leaf_text(drawing.scene, norm, "no_such_leaf") == ""


def test_what_is_not_finite_is_said_instead_of_numbers(drawing: Drawing, norm: ItemId) -> None:
    module = module_of(drawing, norm)
    spoilt = msgspec.structs.replace(MANY, minimum=None, maximum=None, nan=32)
    drawing.results.records[module] = (ModuleRecord(class_name="L", parameters={"weight": leaf(spoilt)}),)
    assert "NaN" in leaf_text(drawing.scene, norm, "weight")


def test_before_a_run_a_leaf_is_expected(drawing: Drawing) -> None:
    home = drawing.scene.state.card_groups.home(drawing.add("torch.nn.Linear"))
    module = module_of(drawing, home)
    leaves = (LeafInference(path="weight", shape=(4, 8), dtype="float32", requires_grad=True),)
    drawing.results.expected[module] = PortInference(node=module, leaves=leaves)
    assert leaf_text(drawing.scene, home, "weight").endswith("<i>expected; its values are there after a run</i>")


def test_the_row_of_a_leaf_is_hit_and_says_the_same_as_its_port(drawing: Drawing, norm: ItemId) -> None:
    box, card = drawing.box(norm), drawing.scene.stack.cards[norm]
    rows = drawing.scene.stack.leaves(norm).rows
    assert [row.path for row in rows][:2] == ["weight", "bias"]
    found = {
        one.leaf
        for y in range(int(card.layout.height), int(card.drawn_height))
        if (one := hit(drawing.scene, box.x + box.width / 2, box.y + y, 1.0)).leaf
    }
    assert {"weight", "bias"} <= found
    text = tooltip(drawing.scene, Hit("card", norm, leaf="weight"))
    assert text == leaf_text(drawing.scene, norm, "weight")
    assert tooltip(drawing.scene, Hit("port", norm, PortRef(norm, "output", "weight"))).startswith(text)


def test_the_switch_of_the_mode_is_hit_near_and_not_from_afar(drawing: Drawing, norm: ItemId) -> None:
    switch = drawing.scene.stack.cards[norm].layout.switch
    assert switch is not None
    box = drawing.box(norm)
    at = switch.moved(box.x, box.y).center
    found = hit(drawing.scene, *at, 1.0)
    assert (found.kind, found.item) == ("switch", norm)
    assert "training mode" in tooltip(drawing.scene, found)
    assert hit(drawing.scene, *at, 0.4).kind == "card"
