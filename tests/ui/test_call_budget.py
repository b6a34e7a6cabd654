"""How many calls of our own functions a gesture takes in a whole window: what is asked twice shows here at once."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import gradstudio
from gradstudio.protocol.messages.requests import SampleMemory
from gradstudio.ui.canvas.gestures.operator_drop import MIME
from tests.ui.desk import Desk, Key, Keys

OURS = str(Path(gradstudio.__file__).parent)
PROGRAM = """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
h = x * w
r = torch.relu(h)
loss = r.sum()
loss.backward()
"""
SOON_MS = 1000
"""What waits so long at most belongs to the gesture."""


class Calls:
    """Calls of functions in `gradstudio` while it counts."""

    def __init__(self) -> None:
        self.by_function = Counter[tuple[str, str]]()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OURS):
            self.by_function[code.co_filename.removeprefix(OURS), code.co_name] += 1

    def within(self, most: int) -> None:
        """Fail with the functions that are called most, when there are more than `most` calls."""
        lines = [f"{count:6} {path} {name}" for (path, name), count in self.by_function.most_common(20)]
        assert self.by_function.total() <= most, "\n".join([f"{self.by_function.total()} calls", *lines])


@contextmanager
def counting() -> Iterator[Calls]:
    calls = Calls()
    sys.setprofile(calls)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def is_quiet(desk: Desk) -> bool:
    """Whether nothing waits to be shown: no timer of the window or the session is about to fire."""
    timers = [*desk.window.frame.findChildren(QTimer), *desk.session.findChildren(QTimer)]
    return not any(timer.isActive() and timer.isSingleShot() and timer.interval() < SOON_MS for timer in timers)


def come_to_rest(desk: Desk) -> None:
    desk.until(lambda: is_quiet(desk))
    QApplication.processEvents()
    desk.until(lambda: is_quiet(desk))


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
    calls.within(3750)


def test_a_drop_asks_little_before_the_hand_is_free_again(rested: Desk) -> None:
    with counting() as calls:
        drop(rested, "torch.relu")
    calls.within(1400)
