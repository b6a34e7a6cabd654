"""From an empty canvas to a network that reads handwritten digits, as a newcomer makes it: which gestures it takes."""

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.graph.recipes import set_literal
from gradstudio.program.write import write_script
from gradstudio.scene.items import PortRef
from gradstudio.ui.state.settings import Preferences
from tests.ui.desk import Desk, Key
from tests.ui.test_classifier_gestures import Person

MOST = 25
EPOCHS = "3"
"""Instead of 20: what is learnt by then is enough for a test."""


@pytest.fixture
def person(desk: Desk, qtbot: QtBot) -> Person:
    desk.sit_down(qtbot)
    desk.window.canvas.setFocus()
    desk.window.canvas.take_preferences(Preferences(reduced_motion=True))
    return Person(desk)


def add(person: Person, words: str, *shapes: tuple[int, ...]) -> None:
    """Tab, a word, Enter."""
    person.key(Key.Key_Tab)
    person.word(words)
    person.key(Key.Key_Return)
    person.settle(*shapes)


def drag(person: Person, start: PortRef, end: PortRef) -> None:
    """A wire from a result into an input."""
    person.count += 1
    view, left = person.desk.window.canvas.viewport(), Qt.MouseButton.LeftButton
    first, last = (person.at(port.item, port=port) for port in (start, end))
    QTest.mousePress(view, left, pos=first)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(view, first + (last - first) * share)
    QTest.mouseRelease(view, left, pos=last)


def test_a_classifier_of_digits(person: Person) -> None:
    desk = person.desk
    add(person, "digits")
    add(person, "linear", (1438, 32))
    add(person, "relu")
    add(person, "linear", (1438, 8))
    add(person, "cross_entropy")
    loss = desk.current
    drag(person, PortRef(desk.node("y"), "output"), PortRef(loss, "input", "target"))
    fixes = desk.window.canvas.remedies
    desk.until(lambda: any("10 outputs" in pill.words for pill in fixes.pills()))
    (pill,) = fixes.pills()
    person.click(pill.rect.center().toPoint())
    person.settle((1438, 10))
    desk.until(lambda: "nn.Linear(32, 10)" in write_script(desk.graph))
    person.count += 2  # the menu, and its row
    desk.window.actions["graph.training"].trigger()
    desk.until(lambda: "optimizer.step()" in write_script(desk.graph))
    assert desk.window.frame.docks["code"].isVisible(), "what was added is read there"
    epochs = next(item for item, block in desk.graph.blocks.items() if block.variable == "epoch")
    assert person.count + 1 <= MOST
    assert desk.session.graph_store.attempt(set_literal, "Change range", epochs, "range.0", EPOCHS)
    person.key(Key.Key_F5)
    desk.until(lambda: "accuracy" in desk.said)
    (accuracy,) = re.findall(r"accuracy (0\.\d+)", desk.said)
    assert float(accuracy) > 0.9 and "Runs" in desk.said
    print("gestures:", person.count)
