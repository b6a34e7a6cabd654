"""The step of a backward in the inspector: y = x**2 + 2 * x + 1 at x = 3, as torch records it."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.backward_trace import (
    AutogradRow,
    BackwardTraced,
    EdgeValue,
    HookRun,
    SavedTensor,
    WireGrad,
)
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import GradPart, GradRow, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.timeline.run_timeline import Arrival, BackwardStep, Contribution, Timeline
from gradstudio.scene.wire.wire_labels import brief
from gradstudio.ui.docks.inspector import backward_lines
from gradstudio.ui.docks.inspector.cost_section import memory_facts, step_number
from gradstudio.ui.docks.inspector.display_names import in_a_line
from gradstudio.ui.docks.inspector.operands import Operands
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

X, POW, MUL, ADD, Y, BACKWARD = (ItemId(name) for name in ("x", "pow", "mul", "add", "y", "backward"))


def scalar(value: float) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, rms=abs(value), value=value)


def row(step: int, node: ItemId, value: float, seconds: float = 0.0) -> Row:
    record = TensorRecord(device="cpu", summary=scalar(value), requires_grad=True, size_bytes=4, storage=step)
    return Row(step=step, node=node, outputs=(record,), seconds=seconds, made_bytes=4)


SAVED = SavedTensor(name="self", dtype="float32", size_bytes=4, version=0, node=X)
ROWS = (
    AutogradRow(
        backward=1,
        autograd="AddBackward0",
        node=Y,
        incoming=(scalar(1),),
        outgoing=(scalar(1), None),
        id=0,
        next=((1, 0), (-1, 0)),
        values=(EdgeValue(node=Y),),
    ),
    AutogradRow(
        backward=1,
        autograd="AddBackward0",
        node=ADD,
        incoming=(scalar(1),),
        outgoing=(scalar(1), scalar(1)),
        id=1,
        next=((2, 0), (3, 0)),
        values=(EdgeValue(node=ADD),),
    ),
    AutogradRow(
        backward=1,
        autograd="MulBackward0",
        node=MUL,
        incoming=(scalar(1),),
        outgoing=(None, scalar(2)),
        id=3,
        next=((-1, 0), (4, 0)),
        values=(EdgeValue(node=MUL),),
    ),
    AutogradRow(
        backward=1,
        autograd="PowBackward0",
        node=POW,
        incoming=(scalar(1),),
        outgoing=(scalar(6),),
        id=2,
        next=((4, 0),),
        values=(EdgeValue(node=POW),),
        saved=(SAVED,),
        seconds=0.000012,
    ),
    AutogradRow(
        backward=1,
        autograd="AccumulateGrad",
        node=X,
        incoming=(scalar(8),),
        id=4,
        values=(EdgeValue(node=X),),
        before=scalar(8),
        after=scalar(16),
    ),
)
WIRES = (
    WireGrad(source=ADD, target=Y, port="a", place=0, grad=scalar(1)),
    WireGrad(source=POW, target=ADD, port="a", place=1, grad=scalar(1)),
    WireGrad(source=MUL, target=ADD, port="b", place=1, grad=scalar(1)),
    WireGrad(source=X, target=MUL, port="b", place=2, grad=scalar(2)),
    WireGrad(source=X, target=POW, port="a", place=3, grad=scalar(6)),
)


@pytest.fixture
def ran(session: Session) -> Session:
    """The example behind its run, as the engine tells it."""
    session.open_example(paths.examples() / "01_square_polynomial.gsg")
    values = ((X, 3.0), (POW, 9.0), (MUL, 6.0), (ADD, 15.0), (Y, 16.0))
    session.results.tables.add_rows([row(k + 1, node, value) for k, (node, value) in enumerate(values)])
    session.results.tables.add_backward(
        BackwardTraced(revision=0, rows=ROWS, wires=WIRES, backward=1, statement=BACKWARD)
    )
    parts = (GradPart(1, 1, scalar(8)), GradPart(2, 2, scalar(8)))
    session.results.tables.set_gradients(
        [GradRow(node=X, state="accumulated", grad=scalar(16), parts=parts)], whole=True
    )
    return session


@pytest.fixture
def inspector(qtbot: QtBot, ran: Session, dark: Theme) -> InspectorPanel:
    made = InspectorPanel(ran, dark)
    qtbot.addWidget(made)
    made.resize(340, 800)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_the_local_rule_stands_with_its_numbers_and_its_source(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([POW])
    section = inspector.details.backward
    assert section.isVisible()
    assert section.arrives.words() == ["from + (a)  1"]
    assert section.rule.words() == [
        "y = a ^ b",
        "∂y/∂a = b · a^(b − 1) = 2 · 3^(2 − 1) = 6  grad_a = grad · b · a^(b − 1) = 1 · 2 · 3^(2 − 1) = 6",
    ]
    assert section.source.text() == "derivatives.yaml: pow.Tensor_Tensor" and section.source.isVisible()
    assert section.leaves.words() == ["a → x  6"]
    ran.attention.select([X])  # a leaf has no rule that is written somewhere
    inspector.refresh()
    assert section.isVisible() and section.source.isHidden()


def test_a_constant_gets_no_gradient_and_no_formula(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([MUL])
    assert [line.text for line in inspector.details.backward.rule.lines][1:] == ["∂y/∂b = a = 2"]


def test_the_sum_of_a_fan_out_stands_below_its_parts(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([X])
    words = inspector.details.backward.arrives.words()
    assert [text.split()[-1] for text in words] == ["2", "6", "8"]
    assert words[-1].startswith("= sum")


def test_a_leaf_adds_what_arrives_to_its_grad(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([X])
    assert inspector.details.backward.leaves.words() == [
        ".grad before  8",
        "+ arrives  8",
        "= .grad  16",
        "It holds, pass by pass",
        "pass 1, backward 1  8",
        "pass 2, backward 2  8",
    ]


def test_the_autograd_nodes_unfold(inspector: InspectorPanel, ran: Session, qtbot: QtBot) -> None:
    ran.attention.select([POW])
    section = inspector.details.backward
    assert not section.autograd.isVisible()
    qtbot.mouseClick(section.unfold, Qt.MouseButton.LeftButton)
    assert section.autograd.words() == [
        "PowBackward0  0.012 ms",
        "    saved self  float32[]  4 B  the value of x",
        "    released here",
    ]


def test_the_arrow_of_the_autograd_nodes_says_whether_they_are_open(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([POW])
    section = inspector.details.backward
    ran.attention.unfold(True)
    inspector.refresh()
    assert section.autograd.isVisible() and section.unfold.arrowType() == Qt.ArrowType.DownArrow
    section.unfold.setChecked(False)
    inspector.refresh()
    assert not section.autograd.isVisible() and section.unfold.arrowType() == Qt.ArrowType.RightArrow
    section.unfold.setChecked(True)
    ran.attention.unfold(False)
    inspector.refresh()
    assert not section.autograd.isVisible() and section.unfold.arrowType() == Qt.ArrowType.RightArrow


def test_turns_are_counted_from_one_as_on_the_timeline(inspector: InspectorPanel, ran: Session) -> None:
    inside = msgspec.structs.replace(ROWS[3], backward=2, turns=(2, 0))
    ran.results.tables.add_backward(BackwardTraced(revision=0, rows=(inside,), backward=2, statement=BACKWARD))
    ran.attention.select([POW])
    inspector.refresh()
    assert inspector.details.backward.where.text() == "backward 2 · turn 1 in 3"


def test_a_step_of_order_two_has_the_rule_of_its_own_autograd_node(inspector: InspectorPanel, ran: Session) -> None:
    made = (
        AutogradRow(backward=2, autograd="MulBackward0", node=POW, order=2, incoming=(scalar(1),)),
        AutogradRow(backward=2, autograd="NoSuchBackward0", node=POW, order=2, incoming=(scalar(1),)),
    )
    ran.results.tables.add_backward(BackwardTraced(revision=0, rows=made, backward=2, statement=BACKWARD))
    ran.attention.select([POW])
    inspector.refresh()
    section = inspector.details.backward
    assert section.where.text() == "backward 2 · double backward, order 2"
    words = section.rule.words()
    assert words[0] == "Made by backward 1 with create_graph: the rule of MulBackward0 (mul)."
    assert words[1] == "y = input · other"
    assert words[-1] == "Made by backward 1 with create_graph: the rule of NoSuchBackward0."
    assert not [text for text in words if "^" in text] and section.source.text() == ""


def test_a_node_without_a_backward_shows_none(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([BACKWARD])
    assert not inspector.details.backward.isVisible()


def test_the_inspector_goes_along_with_the_backward(inspector: InspectorPanel, ran: Session, qtbot: QtBot) -> None:
    ran.attention.look_at(5)
    qtbot.waitUntil(lambda: inspector.item == Y)
    ran.attention.look_at(8)
    qtbot.waitUntil(lambda: inspector.item == POW and inspector.details.backward.isVisible())
    layout = inspector.details.layout()
    assert layout.indexOf(inspector.details.backward) < layout.indexOf(inspector.details.arguments)


def test_a_selection_from_before_goes_along_with_the_moment(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([MUL])
    ran.attention.look_at(5)
    assert inspector.item == Y and ran.attention.selection == {Y}
    ran.attention.look_at(2)
    assert inspector.item == MUL  # a step of the forward


def test_a_selection_made_while_looking_back_stays_until_the_step_is_selected(
    inspector: InspectorPanel, ran: Session
) -> None:
    ran.attention.look_at(5)
    ran.attention.select([MUL])
    ran.attention.look_at(6)
    assert inspector.item == MUL and ran.attention.selection == {MUL}
    ran.attention.select([POW])  # as a click into the timeline does
    ran.attention.look_at(8)
    ran.attention.look_at(9)
    assert inspector.item == X and ran.attention.selection == {X}


def test_several_selected_nodes_stay_selected(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([MUL, POW])
    ran.attention.look_at(5)
    assert ran.attention.selection == {MUL, POW}


def test_the_selection_moves_on_when_it_is_the_former_step(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.look_at(5)
    ran.attention.select([Y])
    ran.attention.look_at(6)
    assert ran.attention.selection == {ADD}


def test_before_its_step_a_node_has_none_at_that_moment(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.look_at(6)
    ran.attention.select([POW])
    assert not inspector.details.backward.isVisible()


def test_what_was_summed_over_broadcast_dimensions_is_said(inspector: InspectorPanel, ran: Session) -> None:
    wide = Summary(dtype="float32", shape=(3, 4), rms=1.0)
    rows = (msgspec.structs.replace(ROWS[1], backward=2, incoming=(wide,)),)
    wires = (WireGrad(source=MUL, target=ADD, port="b", grad=Summary(dtype="float32", shape=(4,), rms=3.0)),)
    ran.results.tables.add_backward(BackwardTraced(revision=0, rows=rows, wires=wires, backward=2, statement=BACKWARD))
    ran.attention.select([ADD])
    assert inspector.details.backward.leaves.words()[0].endswith("[3, 4] summed to [4]")


def test_the_state_of_a_gradient_names_and_shows_the_node_responsible(inspector: InspectorPanel, ran: Session) -> None:
    told = GradRow(node=POW, state="cut", reason="pow is cut off by y.", cause=Y)
    ran.results.tables.set_gradients([told], whole=True)
    ran.attention.select([POW])
    page = inspector.details.values.gradient
    inspector.details.values.tabs.setCurrentIndex(1)
    assert page.remark.text() == "pow is cut off by y." and page.pairs.pairs()["state"] == "cut here"
    assert page.cause.text() == "Show y"
    page.cause.click()
    assert ran.attention.selection == {Y}


def test_the_past_is_shown_as_it_was(inspector: InspectorPanel, ran: Session) -> None:
    ran.attention.select([POW])
    ran.attention.look_at(3)
    inspector.refresh()
    assert inspector.details.values.value.remark.text() == "As step 4 made it."


def test_a_finding_is_told_from_the_moment_on_at_which_it_stood(inspector: InspectorPanel, ran: Session) -> None:
    parts = (GradPart(1, 0, scalar(8)), GradPart(1, 1, scalar(8)))
    ran.results.tables.set_gradients([GradRow(node=X, state="accumulated", grad=scalar(16), parts=parts)], whole=True)
    ran.run.state_changed.emit(ran.run.state)  # a verb has ended
    ran.problems.refresh()
    ran.attention.select([X])
    inspector.refresh()
    assert "holds more than the last backward" in inspector.details.trouble.ours.text()
    assert inspector.details.trouble.isVisible()
    ran.attention.look_at(5)
    ran.attention.select([X])
    inspector.refresh()
    assert not inspector.details.trouble.isVisible()
    ran.attention.look_at(9)
    inspector.refresh()
    assert inspector.item == X and inspector.details.trouble.isVisible()


def test_what_goes_on_without_a_wire_names_where() -> None:
    summary = Summary(dtype="float32", shape=(), minimum=1.0, maximum=1.0, mean=1.0, rms=1.0, value=1.0)
    view, write = ItemId("t"), ItemId("w")
    row = AutogradRow(
        backward=1, autograd="AsStridedBackward0", node=view, id=0, next=((1, 0),), outgoing=(summary,)
    )  # fmt: skip
    step = BackwardStep(view, (), 1, 1, (row,), (), (), ())
    onward = AutogradRow(backward=1, autograd="CopySlices", node=write, id=1)
    told = backward_lines.lines_of(Graph(), step, Operands({}), (), False, (row, onward)).leaves
    assert [(line.link, line.summary) for line in told] == [(write, summary)]
    assert "CopySlices" in told[0].note
    alone = backward_lines.lines_of(Graph(), step, Operands({}), (), False, (row,)).leaves
    assert [line.text for line in alone] == ["On its way inside the node."]


def test_norms_are_written_as_on_the_canvas() -> None:
    vector = Summary(dtype="float32", shape=(8,), rms=0.5)
    assert in_a_line(vector, grad=True) == "‖∇‖ 1.41" == brief(vector)
    assert in_a_line(vector, grad=False) == "‖·‖ 1.41"
    for value in (-2.8, "nan"):
        matrix = Summary(dtype="float32", shape=(1, 1), value=[[value]], nan=int(value == "nan"))
        assert in_a_line(matrix, grad=True) == {-2.8: "-2.8", "nan": "NaN"}[value], "one element has its sign"


def test_the_step_that_freed_has_the_timelines_number() -> None:
    timeline = Timeline()
    timeline.add_rows([Row(step=5, node=ItemId("a"), outputs=()), Row(step=9, node=ItemId("b"), outputs=())])
    assert step_number(timeline, 9, unfolded=False) == 2
    assert step_number(timeline, 7, unfolded=False) is None
    memory = NodeMemory(node=ItemId("a"), freed_step=9)
    assert memory_facts(memory, 2) == (("freed", "at step 2"),)
    assert memory_facts(memory) == (("freed", "at an earlier step"),)
    trained = NodeMemory(node=ItemId("a"), alive_bytes=1024, grad_bytes=2048, state_bytes=4096)
    assert memory_facts(trained) == (("alive", "1 KiB"), ("gradients", "2 KiB"), ("optimizer state", "4 KiB"))


def test_a_hook_of_the_program_is_told_by_name_with_what_it_made_of_the_gradient() -> None:
    value = EdgeValue(node=Y)
    hooks = (
        HookRun(kind="tensor", name="double", file="a.py", line=4, before=scalar(3), after=scalar(6), changed=True),
        HookRun(kind="node", name="look", line=2, before=scalar(6), after=scalar(6)),
    )
    row = AutogradRow(backward=1, autograd="MulBackward0", node=Y, incoming=(scalar(6),), values=(value,), hooks=hooks)
    parts = tuple(Contribution(ItemId(""), "SumBackward0", scalar(part), "") for part in (1, 2))
    step = BackwardStep(Y, (), 1, 1, (row,), (Arrival(value, scalar(6), parts),), (), ())
    told = backward_lines.lines_of(Graph(), step, Operands({}), (), False, (row,))
    assert [(line.name, line.text, line.summary) for line in told.arrives[2:]] == [
        ("= sum", "", scalar(3)),
        ("", "hook of the tensor: double (a.py:4)", None),
        ("before", "", scalar(3)),
        ("behind", "", scalar(6)),
    ]
    assert [line.text for line in told.leaves[-2:]] == [
        "hook of the autograd node: look (line 2)",
        "It changed nothing.",
    ]
