"""While a slider moves, only its results are shown; what stands around them follows when the hand rests."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.protocol.messages.requests import SampleMemory
from gradstudio.ui.state.run.slide import REST_MS
from tests.ui.desk import Desk
from tests.ui.gestures import come_to_rest

PROGRAM = """
import torch

x = torch.tensor(2.0, requires_grad=True)
for step in range(3):
    h = x * x
loss = h * 2
"""
NEVER_MS = 1_000_000


@pytest.fixture
def ran(desk: Desk, qtbot: QtBot) -> Desk:
    """A program that has run, and nothing under way."""
    desk.sit_down(qtbot)
    desk.session.engine.send(SampleMemory(every_ms=0))
    desk.open(PROGRAM)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end)
    come_to_rest(desk)
    return desk


@pytest.fixture
def hand(ran: Desk) -> Iterator[QTimer]:
    """Says that the hand rests; here only when it is started anew."""
    timer = ran.session.run.status.slide.findChild(QTimer)
    assert isinstance(timer, QTimer)
    timer.setInterval(NEVER_MS)
    yield timer
    timer.start(REST_MS)
    ran.rest()


def slide(desk: Desk, text: str) -> None:
    edits = recipes.set_literal(desk.graph, desk.node("x"), "data", text)
    desk.session.run.follow(edits, "Slide data", "slide")


def test_what_stands_around_the_canvas_waits_for_the_hand(ran: Desk, hand: QTimer) -> None:
    desk, changed = ran, list[str]()
    strip = desk.window.room.timeline.strip
    painted = strip.recording.cells(False)
    desk.window.actions.on_button("run.run").changed.connect(lambda: changed.append("Run"))
    light = desk.window.status.light.words
    words = light.text()
    slide(desk, "5.0")
    desk.until(lambda: desk.value("loss") == 50.0 and not desk.session.run.state.busy)
    QApplication.processEvents()
    assert desk.session.run.status.slide.moves
    assert (changed, light.text()) == ([], words)
    assert strip.recording.cells(False) is painted
    hand.start(0)
    come_to_rest(desk)
    assert desk.window.actions["run.run"].isEnabled() and light.text() == words
    assert strip.recording.cells(False) is not painted and len(strip.cells)


@pytest.mark.usefixtures("hand")
def test_a_key_means_what_it_can_do_now(ran: Desk) -> None:
    undo = ran.window.actions["edit.undo"].isEnabled()
    slide(ran, "6.0")
    assert not undo and ran.window.actions["edit.undo"].isEnabled(), "asked for, it is brought up to date"
    ran.rest()


def test_a_run_that_goes_on_is_seen_to(ran: Desk, hand: QTimer) -> None:
    words = ran.window.status.light.words
    slide(ran, "7.0")
    assert ran.session.run.state.busy and words.text() != "running"
    hand.timeout.emit()
    assert words.text() == "running"
    ran.rest()
