"""Tooltips of a run: failures, warnings, gradients with their reasons and parts, memory, what came along wires."""

from typing import NamedTuple

import pytest

from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.debugging import CheckRow
from gradstudio.protocol.messages.events import Failed, GradPart, GradRow, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import PlainRecord, Summary, TensorRecord
from gradstudio.scene.card.debug_sections import NoExperiments
from gradstudio.scene.hit_test import Hit
from gradstudio.scene.items import PortRef
from gradstudio.scene.words.tooltips import tooltip, wire_text
from tests.helpers.drawing import Drawing, GivenResults, scalar


class Failure(NamedTuple):
    """What is said of a node that failed."""

    failed: Failed
    what: str
    explanation: str


class RunResults(GivenResults):
    """What a run says beside its values."""

    def __init__(self) -> None:
        super().__init__()
        self.failed_at: dict[ItemId, Failure] = {}
        self.warned: dict[ItemId, tuple[Warned, ...]] = {}
        self.shared: tuple[tuple[ItemId, ItemId], ...] = ()
        self.is_stale = False

    def failure(self, node: ItemId) -> Failure | None:
        return self.failed_at.get(node)

    def warnings(self, node: ItemId) -> tuple[Warned, ...]:
        return self.warned.get(node, ())

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        return self.shared

    def stale(self, node: ItemId) -> bool:
        return self.is_stale


class OneCheck(NoExperiments):
    """A gradcheck of one node."""

    def __init__(self, row: CheckRow) -> None:
        self._row = row

    def check_rows(self, node: ItemId) -> tuple[CheckRow, ...]:
        return (self._row,) if node == self._row.node else ()


@pytest.fixture
def results(drawing: Drawing) -> RunResults:
    given = RunResults()
    drawing.results = drawing.scene.results = given
    return given


def grad_row(node: ItemId, state: str, *parts: float, reason: str = "", cause: ItemId | None = None) -> GradRow:
    grads = [Summary(dtype="float32", shape=(), minimum=one, maximum=one, value=one) for one in parts]
    told = tuple(GradPart(k, k, grad) for k, grad in enumerate(grads, 1))
    known = {"state": state, "reason": reason, "cause": cause or ItemId("")}
    return GradRow(node=node, parts=told, grad=grads[-1] if grads else None, **known)  # type: ignore[arg-type]  # by name


def card(drawing: Drawing, item: ItemId) -> str:
    return tooltip(drawing.scene, Hit("card", item))


def test_a_card_says_what_failed_what_torch_warned_of_last_and_that_it_is_old(
    drawing: Drawing, results: RunResults
) -> None:
    item = drawing.add("torch.relu")
    failed = Failed(1, item, "relu", 1, "RuntimeError", "m")
    results.failed_at[item] = Failure(failed, "a < b", "because & so")
    results.warned[item] = tuple(Warned(item, 1, "UserWarning", f"warning {k}") for k in range(3))
    results.is_stale = True
    text = card(drawing, item)
    assert "<b>because &amp; so</b><br><code>a &lt; b</code><br>warning 1<br>warning 2<br>" in text
    assert "warning 0" not in text
    assert text.endswith("<i>These results belong to an older program: run it again.</i>")


def test_a_gradient_is_said_with_its_state_its_reason_and_who_is_responsible(
    drawing: Drawing, results: RunResults
) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    results.records[x] = (scalar(7.0),)
    results.grads[x] = grad_row(x, "cut", reason="cut <here>", cause=y)
    text = card(drawing, x)
    assert "cut &lt;here&gt;" in text
    assert "Responsible: <b>relu</b>" in text
    results.grads[x] = grad_row(x, "accumulated", *map(float, range(1, 11)))
    text = card(drawing, x)
    assert "<code>2 earlier parts</code>" in text
    assert "pass 10: 10" in text
    assert "pass 2:" not in text


def test_a_tensor_says_how_it_lies_in_memory_and_what_made_it(drawing: Drawing, results: RunResults) -> None:
    x = drawing.add("torch.randn")
    summary = Summary(dtype="torch.float32", shape=(30, 20), minimum=-1.0, maximum=1.0, mean=0.0, rms=0.5)
    results.records[x] = (
        TensorRecord(
            device="cpu", summary=summary, version=2, contiguous=False, stride=(1, 30), grad_fn="TBackward0",
            size_bytes=2400,
        ),
    )  # fmt: skip
    text = card(drawing, x)
    assert "version 2: written to in place twice; not contiguous, strides [1, 30]" in text
    assert "grad_fn <code>TBackward0</code>" in text
    assert "float32[30, 20] · cpu" in text
    assert "min -1  max 1  mean 0  RMS 0.5" in text


def test_what_is_no_tensor_is_said_in_a_line(drawing: Drawing, results: RunResults) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    results.records[x] = (PlainRecord(what="number", class_name="int", value=8),)
    assert "<code>8</code>" in card(drawing, x)
    assert "▶ <code>8</code>" in wire_text(drawing.scene, drawing.graph.wires[y, "input"])


@pytest.mark.parametrize(("ok", "verdict"), [(True, "agrees"), (False, "<b>differs</b>")])
def test_gradcheck_says_both_numbers_and_where(drawing: Drawing, ok: bool, verdict: str) -> None:
    x = drawing.add("torch.relu")
    row = CheckRow(name="w", node=x, ok=ok, analytical=2.0, numerical=2.5, in_index=(0, 3))
    drawing.scene.state.experiments = OneCheck(row)
    assert f"gradcheck by w {verdict}: <code>autograd 2, differences 2.5 at [0, 3]</code>" in card(drawing, x)


def test_a_wire_says_who_shares_its_storage_and_of_how_many_edges_a_gradient_is_the_sum(
    drawing: Drawing, results: RunResults
) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    wire: Wire = drawing.graph.wires[y, "input"]
    results.records[x] = (scalar(7.0),)
    results.shared = ((x, y),)
    grad = Summary(dtype="float32", shape=(3,), minimum=1.0, maximum=3.0, value=[1.0, 2.0, 3.0])
    sent = WireGrad(source=x, target=y, port="input", place=0, grad=grad, parts=3)
    results.sent[wire] = sent
    text = wire_text(drawing.scene, wire)
    assert "shares its storage with relu" in text
    assert text.endswith("the sum of 3 autograd edges")
    assert "∇ <code>[3]</code> <code>[1, 2, 3]</code>" in text
    results.sent[wire] = WireGrad(source=x, target=y, port="input", place=0, grad=None)
    assert wire_text(drawing.scene, wire).endswith("◀ backward: undefined (None)")


def test_before_a_run_a_wire_and_its_port_say_what_is_expected(drawing: Drawing, results: RunResults) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    results.expected[x] = PortInference(node=x, dtype="float32", shape=(8, 4), device="cpu")
    words = "<i>expected:</i> <code>float32[8, 4]</code>"
    assert words in wire_text(drawing.scene, drawing.graph.wires[y, "input"])
    assert words in tooltip(drawing.scene, Hit("port", x, PortRef(x, "output")))
    assert tooltip(drawing.scene, Hit("port", x, PortRef(x, "output", "", 5))) == ""
    results.records[x] = (scalar(7.0),)
    assert "<b>7</b>" in tooltip(drawing.scene, Hit("port", x, PortRef(x, "output")))


def test_dots_titles_and_the_band_of_a_what_if_say_what_the_hand_can_do(drawing: Drawing) -> None:
    _, y = drawing.chain("torch.randn", "torch.relu")
    wire = drawing.graph.wires[y, "input"]
    assert tooltip(drawing.scene, Hit("dot", wire=wire)).startswith(wire_text(drawing.scene, wire))
    assert "moves the dot" in tooltip(drawing.scene, Hit("dot", wire=wire))
    assert "move the block" in tooltip(drawing.scene, Hit("title", y))
    assert "What if" in tooltip(drawing.scene, Hit("drop_what_if", y))


def test_a_field_and_a_label_say_what_the_argument_takes(drawing: Drawing) -> None:
    item = drawing.add("torch.full")
    row = drawing.scene.stack.cards[item].layout.input("fill_value")
    assert row is not None
    field = tooltip(drawing.scene, Hit("field", item, row=row))
    assert field.startswith("<b>fill_value</b>: ")
    assert tooltip(drawing.scene, Hit("card", item, label=row)) == field
