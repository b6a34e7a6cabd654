"""How many calls of our own functions a gesture takes in a whole window: what is asked twice shows here at once."""

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages.requests import SampleMemory
from gradstudio.ui.canvas.gestures.operator_drop import MIME
from tests.ui.desk import Desk, Key, Keys
from tests.ui.gestures import come_to_rest, counting

PROGRAM = """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
h = x * w
r = torch.relu(h)
loss = r.sum()
loss.backward()
"""


class LayoutRequests(QObject):
    """Counts how often a widget is asked to lay out what is in it."""

    count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.fixture
def rested(desk: Desk, qtbot: QtBot) -> Desk:
    """Six statements that have run, all in view, and nothing under way."""
    desk.sit_down(qtbot)
    desk.session.engine.send(SampleMemory(every_ms=0))
    desk.open(PROGRAM)
    desk.until(lambda: desk.session.results.tables.inference)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    desk.window.canvas.navigation.travel.smooth = False
    desk.window.canvas.navigation.fit_all()
    come_to_rest(desk)
    return desk


def drop(desk: Desk, key: str) -> None:
    """A drag out of the library, let go over the canvas."""
    data, point, copy = QMimeData(), QPoint(60, 120), Qt.DropAction.CopyAction
    data.setData(MIME, key.encode())
    viewport = desk.window.canvas.viewport()
    buttons = Qt.MouseButton.LeftButton, Keys.NoModifier
    QApplication.sendEvent(viewport, QDragEnterEvent(point, copy, data, *buttons))
    QApplication.sendEvent(viewport, QDropEvent(QPointF(point), copy, data, *buttons))


def test_a_second_step_back_asks_little(rested: Desk) -> None:
    rested.key(Key.Key_F10, Keys.ShiftModifier)
    rested.until(lambda: rested.session.results.tables.memory_rows)  # the inspector asks what its node holds
    come_to_rest(rested)
    with counting() as calls:
        rested.key(Key.Key_F10, Keys.ShiftModifier)
        come_to_rest(rested)
    assert calls.own <= 2300, calls.told()


def test_a_step_back_does_not_lay_out_the_window(rested: Desk) -> None:
    """The words of the timeline and of the band change at every step; the docks have nothing to do with that."""
    rested.key(Key.Key_F10, Keys.ShiftModifier)
    come_to_rest(rested)
    layouts = LayoutRequests()
    rested.window.frame.installEventFilter(layouts)
    words = rested.window.room.timeline.words
    rested.key(Key.Key_F10, Keys.ShiftModifier)
    come_to_rest(rested)
    assert rested.window.room.timeline.words != words
    assert layouts.count == 0


def test_a_drop_asks_little_before_the_hand_is_free_again(rested: Desk) -> None:
    with counting() as calls:
        drop(rested, "torch.relu")
    assert calls.total <= 1400, calls.told()
