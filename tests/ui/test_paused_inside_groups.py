"""Pausing inside groups by hand: F9 there, F11 into and out of calls, run to here; canvas and docks follow."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradstudio.graph.boundary_cards import INPUTS_CARD, OUTPUTS_CARD
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Change
from gradstudio.scene.words.statement_description import BREAKPOINT, signs
from gradstudio.ui.docks.inspector.what_if_section import title_of
from tests.ui.desk import Desk
from tests.ui.test_inside_groups import TWICE, inner, number, open_text, run

pytestmark = pytest.mark.feature(40)
Key, Keys = Qt.Key, Qt.KeyboardModifier
CLASS = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(2, width)

    def forward(self, x):
        h = self.fc(x)
        return torch.relu(h)


net = Net(3)
y = net(torch.ones(1, 2))
z = net(torch.zeros(1, 2))
loss = (y * z).sum()
"""


@pytest.fixture(autouse=True)
def _ready(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)


def paused(desk: Desk) -> ItemId:
    """Where it stands once the engine has answered: what is next, by its id on the canvas."""
    desk.rest()
    return desk.session.results.next_node


def test_step_into_goes_into_the_call_that_is_selected(desk: Desk) -> None:
    open_text(desk, CLASS)
    run(desk)
    desk.session.attention.select((desk.node("z"),))
    desk.key(Key.Key_F11)
    assert [*desk.session.scope.path] == [desk.node("z")]
    active = desk.session.results.active
    assert active is not None and active.node == INPUTS_CARD


def test_f9_inside_a_group_pauses_in_each_call_and_the_canvas_goes_there(desk: Desk) -> None:
    open_text(desk, TWICE)
    desk.click("y")
    desk.window.canvas.group_commands.step_in()
    b, c = inner(desk, "b"), inner(desk, "c")
    desk.window.canvas.selection.select(frozenset({c}))
    desk.key(Key.Key_F9)
    (point,) = desk.session.debug.breakpoints
    assert (point.group, point.node) == ("half", c) and desk.session.debug.at(c) == (point,)
    assert BREAKPOINT in signs(desk.session, c)
    dock = desk.window.room.breakpoints
    assert dock.model.data(dock.model.index(0, 0)) == "half ▸ before c"
    desk.window.canvas.group_commands.step_out()
    for call, value in (("y", [0.5, 1.0]), ("z", [1.5, 3.0])):
        desk.key(Key.Key_F5)
        assert paused(desk) == c and desk.session.scope.path == (desk.node(call),)
        assert number(desk, b) == value and "half ▸ before c" in desk.said
    desk.key(Key.Key_F5)
    assert paused(desk) == "" and desk.session.run.state.at_end
    assert desk.session.debug.hits(point.id) == 2
    desk.window.canvas.group_commands.step_out(0)
    dock.view.selectRow(0)
    dock.view.doubleClicked.emit(dock.model.index(0, 0))
    assert desk.session.scope.name == "half" and desk.session.attention.selection == {c}
    desk.session.graph_store.undo_stack.clear()
    desk.window.canvas.selection.select(frozenset({c}))
    desk.key(Key.Key_F9)
    assert not desk.session.debug.breakpoints


def test_f11_goes_into_a_call_and_shift_f11_out_again(desk: Desk) -> None:
    open_text(desk, TWICE)
    desk.window.canvas.selection.select(frozenset({desk.node("x")}))
    desk.key(Key.Key_F10, Keys.ControlModifier)
    assert paused(desk) == desk.node("y")
    desk.key(Key.Key_F11)
    assert paused(desk) == inner(desk, "b") and desk.session.scope.names() == ("half",)
    dock = desk.window.room.code
    line = dock.marks.line_of(inner(desk, "b"))
    assert dock.editor.document().findBlockByNumber(line - 1).text() == "    b = a / 2"
    marked = [mark.cursor.blockNumber() + 1 for mark in dock.editor.extraSelections()]
    assert line in marked
    desk.key(Key.Key_F11)
    assert paused(desk) == inner(desk, "c")
    desk.key(Key.Key_F10)
    assert paused(desk) == OUTPUTS_CARD and number(desk, inner(desk, "c")) == 1.25
    desk.key(Key.Key_F10)
    assert paused(desk) in desk.graph and desk.session.scope.path == ()
    desk.click("z")
    desk.window.canvas.group_commands.step_in()
    desk.window.canvas.selection.select(frozenset({inner(desk, "b")}))
    desk.key(Key.Key_F10, Keys.ControlModifier)
    assert paused(desk) == inner(desk, "c") and number(desk, inner(desk, "b")) == [1.5, 3.0]
    desk.key(Key.Key_F11, Keys.ShiftModifier)
    assert paused(desk) == desk.node("loss") and desk.value("z") == 11.25
    assert desk.session.scope.path == ()


def test_in_a_class_f11_shows_the_layers_being_made_and_then_the_call(desk: Desk) -> None:
    open_text(desk, CLASS)
    desk.key(Key.Key_F11)
    assert paused(desk), desk.session.run.state
    assert paused(desk) == inner(desk, "fc") and desk.session.scope.name == "Net"
    desk.key(Key.Key_F11, Keys.ShiftModifier)
    assert paused(desk) and desk.session.scope.path == ()
    while desk.session.scope.name != "Net":
        desk.key(Key.Key_F11)
        paused(desk)
    assert paused(desk) == inner(desk, "h") and desk.session.scope.path == (desk.node("y"),)
    strip = desk.window.room.timeline.strip
    assert strip._name(len(strip.cells) - 1) == "in y"  # nothing inside has run yet
    desk.key(Key.Key_F10)
    paused(desk)
    outputs = desk.session.results.outputs(inner(desk, "h"))
    assert outputs is not None
    run(desk)
    results, y = desk.session.results, desk.node("y")
    called = next(tick.index for tick in results.timeline.ticks if tick.node.startswith(f"{y}/"))
    desk.session.attention.look_at(called, into=True)
    desk.key(Key.Key_F11)  # the layers are told as the call begins: no step
    moment = results.moment
    assert moment is not None and moment > called + 1
    assert not results.timeline.ticks[moment].node.endswith(f"/{inner(desk, 'fc')}")


def test_a_run_that_is_looked_back_on_is_stepped_into_as_it_was(desk: Desk) -> None:
    open_text(desk, TWICE)
    run(desk)
    desk.key(Key.Key_Home, Keys.ControlModifier)
    timeline = desk.session.results.timeline
    x = desk.session.results.moment
    assert x is not None
    seen = [timeline.ticks[x].node]
    for _ in range(4):
        desk.key(Key.Key_F11)
        moment = desk.session.results.moment
        assert moment is not None
        seen.append(timeline.ticks[moment].node)
    y = desk.node("y")
    assert [item.startswith(f"{y}/") for item in seen] == [False, True, True, True, False] and seen[-1] == y
    assert desk.session.scope.path == ()


def test_stepping_into_a_call_that_is_looked_back_on_shows_its_inside_and_behind_it_what_is_around(desk: Desk) -> None:
    open_text(desk, TWICE)
    run(desk)
    desk.key(Key.Key_Home, Keys.ControlModifier)
    desk.key(Key.Key_F11)
    dock, scope = desk.window.room.code, desk.session.scope
    assert scope.path == (desk.node("y"),) and "looking back" in desk.window.room.timeline.words.lower()
    desk.key(Key.Key_F11)
    b, active = inner(desk, "b"), desk.session.results.active
    assert active is not None and active.node == b and number(desk, b) == [0.5, 1.0]
    assert dock.editor.lines[dock.marks.active_line() - 1] == "    b = a / 2"
    desk.key(Key.Key_F10)
    assert scope.path == ()
    desk.key(Key.Key_F11)
    desk.key(Key.Key_F11)
    assert scope.name == "half"
    desk.key(Key.Key_End, Keys.ControlModifier)
    assert desk.session.results.moment is None and scope.path == ()


def test_inside_a_group_a_node_is_checked_and_another_value_is_tried(desk: Desk) -> None:
    open_text(desk, TWICE)
    run(desk)
    desk.click("y")
    desk.window.canvas.group_commands.step_in()
    b, experiments = inner(desk, "b"), desk.session.experiments
    desk.window.canvas.selection.select(frozenset({b}))
    desk.key(Key.Key_K, Keys.ControlModifier)
    desk.until(lambda: experiments.checked is not None)
    assert [row.ok for row in experiments.check_rows(b)] == [True]
    desk.session.run.questions.what_if(Change(node=b, index=(0,), value=3.0))
    desk.until(lambda: experiments.what_if is not None)
    assert experiments.what_if is not None and experiments.what_if.error == ""
    assert experiments.difference(b) is not None and experiments.difference(inner(desk, "c")) is not None
    desk.window.canvas.group_commands.step_out()
    assert experiments.difference(b) is None and experiments.check_rows(b) == ()
    assert experiments.difference(desk.node("y")) is not None and experiments.difference(desk.node("z")) is None
    answer = experiments.what_if
    assert answer is not None and title_of(desk.graph, answer) == "What if a value inside a group[0] = 3"
