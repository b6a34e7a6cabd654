"""A loop of many turns in the whole window, with the real engine: progress, curves, and turns recorded on demand."""

import pytest
import torch
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages.progress import CurveKey
from tests.ui.desk import Desk

Key = Qt.Key
DESCENT = """import torch
w = torch.tensor(4.0, requires_grad=True)
for t in range(300):
    loss = (w - 1) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
"""


def losses() -> list[float]:
    w, found = torch.tensor(4.0, requires_grad=True), []
    for _ in range(300):
        loss = (w - 1) ** 2
        loss.backward()
        found.append(loss.item())
        with torch.no_grad():
            w -= 0.01 * w.grad  # type: ignore[operator]
            w.grad = None
    return found


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(DESCENT)
    desk.window.canvas.setFocus()


def backward_of_turn(desk: Desk, turn: int) -> int:
    """The step of a turn's backward at which w, which stands outside of the loop, gets its gradient."""
    ticks = desk.session.results.timeline.ticks
    backwards = {traced.turns: number for number, traced in desk.session.results.timeline.backwards.items()}
    return next(one.index for one in ticks if one.backward == backwards[turn,] and one.node == desk.node("w"))


def run(desk: Desk) -> None:
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == losses()[-1])
    desk.rest()


def test_every_loss_is_in_the_curve_and_few_turns_in_the_record(desk: Desk) -> None:
    run(desk)
    store = desk.session.results.tables.curves
    ((loop, key),) = (name for name in store.names if name[1] == CurveKey(node=desk.node("loss")))
    x, y = store.points((loop, key))
    assert (x.tolist(), y.tolist()) == (list(range(300)), losses())
    kept = desk.session.results.timeline.turns_of(desk.node("loss"))
    assert {(0,), (1,), (2,), (299,)} <= set(kept) and len(kept) < 150
    assert desk.session.results.loops == ()
    made, sent = desk.session.results.timeline.made_at(desk.node("w"), None), backward_of_turn(desk, 2)
    assert made is not None
    for moment, words in ((sent, ["turn 3 of 300"]), (made, [])):
        desk.session.attention.look_at(moment)
        assert [one.words for one in desk.session.results.loops] == words
    desk.session.attention.look_at_now()
    desk.session.attention.choose_turn(loop, 1)
    assert [one.words for one in desk.session.results.loops] == ["turn 2 of 300"]
    desk.session.attention.look_at_now()
    assert desk.session.results.loops == ()


def test_a_turn_that_is_not_recorded_is_typed_and_gone_to_at_a_click(desk: Desk) -> None:
    run(desk)
    desk.click("loss")
    kept = {turns[0] for turns in desk.session.results.timeline.turns_of(desk.node("loss"))}
    missing = next(turn for turn in range(100, 299) if not {turn - 1, turn, turn + 1} & kept)
    chooser = desk.window.room.timeline.turns
    chooser.box.setValue(missing + 1)
    assert chooser.recording.isVisible() and chooser.recording.text() == f"Go to turn {missing + 1}"
    chooser.recording.click()
    desk.until(lambda: desk.session.results.active is not None)
    active = desk.session.results.active
    assert active is not None and active.turns == (missing,)
    assert [one.words for one in desk.session.results.loops] == [f"turn {missing + 1} of 300"]
    assert desk.value("loss") == losses()[missing]
    assert not chooser.recording.isVisible()
    desk.session.attention.look_at_now()
    assert desk.value("loss") == losses()[missing]  # the run stands there
    chooser.box.setValue(300)
    assert chooser.recording.isVisible() and chooser.recording.text() == "Go to turn 300"
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.value("loss") == losses()[-1])
    desk.rest()
    store = desk.session.results.tables.curves
    (name,) = (one for one in store.names if one[1] == CurveKey(node=desk.node("loss")))
    assert store.points(name)[1].tolist() == losses()  # each turn once
