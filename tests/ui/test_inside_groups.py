"""What is inside a call, by hand in the whole window with the real engine: values, gradients, failures of that call."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from gradstudio.graph.boundary_cards import INPUTS_CARD
from gradstudio.graph.edits import RemoveWire
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.canvas.menus.card_menu import item_rows
from tests.ui.desk import Desk

pytestmark = pytest.mark.feature(40)
Key, Keys = Qt.Key, Qt.KeyboardModifier
PLAIN = """import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
z = y ** 2
loss = z.sum()
loss.backward()
"""
TWICE = """import torch


def half(a):
    b = a / 2
    c = b @ b
    return c


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = half(x)
z = half(x * 3)
loss = y + z
loss.backward()
"""


@pytest.fixture(autouse=True)
def _ready(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)


def open_text(desk: Desk, text: str) -> None:
    desk.open(text)
    desk.window.canvas.setFocus()


def run(desk: Desk) -> None:
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.outcome in ("done", "failed") and not desk.session.run.state.busy)


def inner(desk: Desk, name: str) -> ItemId:
    shown = desk.session.shown_store.graph
    return next(item for item, node in shown.nodes.items() if name in node.names)


def number(desk: Desk, item: ItemId) -> object:
    outputs = desk.session.results.outputs(item)
    record = outputs[0] if outputs else None
    return record.summary.value if isinstance(record, TensorRecord) else None


def test_a_group_is_made_run_and_stepped_into_and_the_inner_card_shows_its_number(desk: Desk) -> None:
    open_text(desk, PLAIN)
    desk.window.canvas.selection.select(frozenset({desk.node("y"), desk.node("z")}))
    desk.key(Key.Key_G, Keys.ControlModifier)
    editor = desk.window.canvas.in_place.editor
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, "squared")
    QTest.keyClick(editor, Key.Key_Return)
    run(desk)
    desk.click("z")
    desk.window.canvas.group_commands.step_in()
    assert desk.session.scope.names() == ("squared",)
    y = inner(desk, "y")
    assert number(desk, y) == [3.0, 6.0]
    assert number(desk, INPUTS_CARD) == [1.0, 2.0]
    grad = desk.session.results.grad(y)
    assert grad is not None and grad.grad is not None and grad.grad.value == [6.0, 12.0]
    row = desk.window.canvas.scene.updates.row(y)
    assert row is not None and row.outputs == desk.session.results.outputs(y)
    desk.window.canvas.group_commands.step_out()
    assert number(desk, desk.node("z")) == [9.0, 36.0]


def test_before_a_run_the_cards_inside_know_their_shapes_and_what_torch_would_refuse(desk: Desk) -> None:
    open_text(desk, TWICE.replace("x * 3", "x.reshape(1, 2)"))
    session = desk.session
    desk.until(lambda: session.results.inference(desk.node("y")))
    for name, shape, refused in (("y", (2,), False), ("z", (1, 2), True)):
        desk.click(name)
        desk.window.canvas.group_commands.step_in()
        given, b, c = (session.results.inference(item) for item in (INPUTS_CARD, inner(desk, "b"), inner(desk, "c")))
        assert given is not None and b is not None and c is not None
        assert given.shape == b.shape == shape
        assert ("cannot be multiplied" in c.refusal) is refused and (c.shape == ()) is not refused
        desk.window.canvas.group_commands.step_out()
    port = session.results.inference(desk.node("z"))
    assert port is not None and port.refusal


def test_two_calls_of_one_group_show_what_each_of_them_was(desk: Desk) -> None:
    open_text(desk, TWICE)
    run(desk)
    for name, expected in (("y", [0.5, 1.0]), ("z", [1.5, 3.0])):
        desk.click(name)
        desk.window.canvas.group_commands.step_in()
        b = inner(desk, "b")
        assert number(desk, b) == expected
        wire = next(wire for wire in desk.session.shown_store.graph.wires_from(b))
        assert desk.session.results.wire_grad(wire) is not None
        desk.window.canvas.group_commands.step_out()


def test_a_failure_inside_stands_on_the_inner_card_and_on_the_call(desk: Desk) -> None:
    open_text(desk, TWICE.replace("[1.0, 2.0]", "[[1.0, 2.0]]"))
    call, results = desk.node("y"), desk.session.results
    run(desk)
    desk.until(lambda: desk.session.scope.path == (call,))
    desk.window.canvas.group_commands.step_out()
    failure = results.failure(call)
    assert failure is not None and failure.failed.address == "y/c"
    desk.click("y")
    desk.window.canvas.group_commands.step_in()
    c = inner(desk, "c")
    assert results.failure(c) is not None and results.failure(inner(desk, "b")) is None
    assert [one.failed.node for one in results.failures] == [c]


def test_stepping_in_the_record_lights_the_call_and_inside_it_the_statement(desk: Desk) -> None:
    open_text(desk, TWICE)
    run(desk)
    session = desk.session
    ticks = session.results.timeline.ticks
    place = next(k for k, tick in enumerate(ticks) if tick.node.startswith(f"{desk.node('z')}/"))
    session.attention.look_at(place)
    active = session.results.active
    assert active is not None and active.node == desk.node("z")
    assert len(session.results.active_group) > 1 and session.results.active_group[-1].row is not None
    desk.click("z")
    desk.window.canvas.group_commands.step_in()
    active = session.results.active
    assert active is not None and active.node == INPUTS_CARD
    session.attention.look_at_now()


LAYERS = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        h = self.fc(x)
        return torch.relu(h)


x = torch.ones(1, 2)
net = Block(2)
y = net(x)
loss = y.sum()
loss.backward()
"""


@pytest.mark.parametrize("entered", ["net", "y"])
def test_inside_a_module_layers_have_their_leaves_and_values_those_of_the_call(desk: Desk, entered: str) -> None:
    open_text(desk, LAYERS)
    run(desk)
    results, net = desk.session.results, desk.node("net")
    leaf = results.grad(net, 0, "fc.weight")
    assert desk.session.scope.enter(desk.node(entered))
    fc = inner(desk, "fc")
    own = results.grad(fc, 0, "weight")
    assert leaf is not None and own is not None and own.grad is not None
    assert leaf.grad is not None and own.grad.value == leaf.grad.value
    assert number(desk, inner(desk, "h")) is not None
    desk.session.scope.leave(0)


MANY = LAYERS.replace("y = net(x)", "for _ in range(2):\n    y = net(x)")


def test_a_call_of_a_module_of_a_class_is_stepped_into_where_it_stands(desk: Desk) -> None:
    open_text(desk, MANY)
    canvas, y = desk.window.canvas, desk.node("y")
    desk.click("y")
    assert canvas.group_commands.can_step_in() and not canvas.group_commands.has_group()
    desk.key(Key.Key_I, Keys.ControlModifier)
    assert desk.session.scope.path == (y,) and inner(desk, "h")
    canvas.group_commands.step_out()
    assert any(row is not None and row[0].startswith("Step into") for row in item_rows(canvas, y))


def test_the_timeline_calls_the_step_of_a_call_by_its_name(desk: Desk) -> None:
    open_text(desk, TWICE)
    run(desk)
    strip = desk.window.timeline.strip
    recording = strip.recording
    names = [recording.nodes[int(code)] for code in recording.cells(False).codes]
    assert desk.node("y") in names and desk.node("z") in names
    assert not [node for node in names[: names.index(desk.node("loss"))] if "/" in node]


def test_a_run_over_a_group_that_is_not_complete_says_so_until_it_is_and_selects_its_call(desk: Desk) -> None:
    open_text(desk, TWICE)
    y, store = desk.node("y"), desk.session.shown_store
    assert desk.session.scope.enter(y)
    wire = next(wire for wire in store.graph.wires.values() if wire.target == inner(desk, "b"))
    store.submit((RemoveWire(wire),), "Remove")
    desk.session.scope.leave(0)
    run(desk)
    words = "4 nodes did not run: y – inside 'half', b: 'a' is empty"
    assert desk.said == words and desk.session.attention.selection == {y}
    desk.window.status.note("Something else")
    assert desk.said == "Something else"
    desk.window.status._on_timer_timeout()
    assert desk.said == words
    desk.session.graph_store.undo_stack.undo()
    desk.until(lambda: not desk.said)


NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(17, 3)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return self.fc2(x)


inputs = torch.ones(32, 8)
net = Net()
outputs = net(inputs)
"""


def test_a_layer_that_fails_inside_forward_is_shown_where_it_is(desk: Desk) -> None:
    open_text(desk, NET)
    call = desk.node("outputs")
    run(desk)
    results, scope = desk.session.results, desk.session.scope
    desk.until(lambda: scope.path == (call,))
    (failure,) = results.failures
    fc2 = inner(desk, "fc2")
    graph = desk.session.shown_store.graph
    wire = graph.wire_into(failure.failed.node, "module")
    assert wire is not None and wire.source == fc2
    assert failure.explanation.startswith("In Net ▸ fc2: ") and "input (x) is float32 [32, 16]" in failure.explanation
    assert "Net ▸ fc2" in desk.said
    desk.window.canvas.group_commands.step_out()
    outside = results.failure(call)
    assert outside is not None and outside.failed.operands == ()
