"""A two-layer classifier from nothing, as a person makes it: how many gestures it takes by keys, and by mouse."""

from functools import partial

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.program.write import write_script
from gradstudio.scene.items import PortRef
from gradstudio.ui.state.settings import Preferences
from tests.ui.desk import Desk, Key, Keys

MOST_BY_KEYS, MOST_BY_MOUSE = 35, 25
LINES = (
    "x = torch.randn(16, 20)",
    "(20, 8)",
    "relu(",
    "(8, 3)",
    "torch.randint(3, (16,))",
    "F.cross_entropy(",
    ".backward()",
)


class Person:
    """Counts what a person does; a word typed is one gesture, as is each key, click and drag."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.count = desk, 0

    def key(self, key: Key, keys: Keys = Keys.NoModifier) -> None:
        self.count += 1
        self.desk.press(key, keys)

    def word(self, text: str) -> None:
        self.count += 1
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClicks(focused, text)

    def settle(self, *shapes: tuple[int, ...]) -> None:
        """Wait as a person does who looks at what came: until some results have these shapes; no gesture."""
        results, graph = self.desk.session.results, self.desk.session.graph_store
        self.desk.rest()
        for shape in shapes:
            self.desk.until(
                lambda shape=shape: any(
                    (port := results.inference(item, 0)) is not None and port.shape == shape
                    for item in graph.graph.nodes
                )
            )

    def at(self, item: ItemId, field: str = "", port: PortRef | None = None) -> QPoint:
        canvas = self.desk.window.canvas
        box, layout = canvas.scene.placement.box(item), canvas.scene.placement.layout(item)
        assert box is not None and layout is not None
        x, y = box.x + 40, box.y + 12
        if port is not None:
            x, y = canvas.scene.placement.anchor(port)
        row = layout.input(field) if field else None
        if row is not None and row.field is not None:
            x, y = box.x + row.field.x + 8, box.y + row.field.y + row.field.height / 2
        return QPointF(*canvas.camera.to_view(x, y)).toPoint()

    def click(self, at: QPoint) -> None:
        self.count += 1
        QTest.mouseClick(self.desk.window.canvas.viewport(), Qt.MouseButton.LeftButton, Keys.NoModifier, at)

    def drag_out(self, port: PortRef, by: QPoint) -> None:
        """A wire let go over nothing."""
        self.count += 1
        view, start = self.desk.window.canvas.viewport(), self.at(port.item, port=port)
        QTest.mousePress(view, Qt.MouseButton.LeftButton, Keys.NoModifier, start)
        for share in (0.3, 0.7, 1.0):
            QTest.mouseMove(view, start + QPoint(round(by.x() * share), round(by.y() * share)))
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, Keys.NoModifier, start + by)

    def choose(self, words: str) -> None:
        """A click on the row of the open search that has this title."""
        self.count += 1
        popup = self.desk.window.canvas.searching.popup
        assert popup is not None
        row = next(k for k, find in enumerate(popup.rows) if find.operator.title == words)
        place = popup.list.visualRect(popup.list.model().index(row, 0)).center()
        QTest.mouseClick(popup.list.viewport(), Qt.MouseButton.LeftButton, Keys.NoModifier, place)


@pytest.fixture
def person(desk: Desk, qtbot: QtBot) -> Person:
    desk.open("import torch\n")
    desk.sit_down(qtbot)
    desk.window.canvas.setFocus()
    desk.window.canvas.take_preferences(Preferences(reduced_motion=True))
    return Person(desk)


def add(person: Person, words: str, *shapes: tuple[int, ...]) -> None:
    """Behind what is selected, by keys."""
    person.key(Key.Key_Tab)
    person.word(words)
    person.key(Key.Key_Return)
    person.settle(*shapes)


def draw_by_keys(person: Person) -> None:
    """Up to the loss and its target."""
    desk = person.desk
    add(person, "randn")
    person.key(Key.Key_Return)
    person.word("16, 20")
    person.key(Key.Key_Return)
    person.settle((16, 20))
    add(person, "linear", (16, 8))
    add(person, "relu")
    desk.until(lambda: desk.session.results.inference(desk.current) is not None)
    add(person, "linear")
    person.key(Key.Key_Return)
    person.key(Key.Key_Tab)
    person.word("3")
    person.key(Key.Key_Return)
    person.settle((16, 3))
    add(person, "cross_entropy")
    person.key(Key.Key_W, Keys.ShiftModifier)
    person.key(Key.Key_Return)
    person.key(Key.Key_Return)
    person.settle((16,))


def learns(desk: Desk) -> None:
    """A training is there, and it has run."""
    desk.until(lambda: "optimizer.step()" in write_script(desk.graph))
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.said.startswith("Trained"))
    assert not desk.session.results.failures and desk.session.results.tables.curves.names


def test_by_keys(person: Person) -> None:
    desk = person.desk
    draw_by_keys(person)
    add(person, "backward")
    person.key(Key.Key_F5)
    desk.rest()
    is_made(desk)
    print("by keys:", person.count)
    assert person.count <= MOST_BY_KEYS


def test_a_training_by_keys(person: Person) -> None:
    draw_by_keys(person)
    person.key(Key.Key_P, Keys.ControlModifier | Keys.ShiftModifier)
    person.word("add training")
    person.key(Key.Key_Return)
    learns(person.desk)
    print("a training by keys:", person.count + 1)
    assert person.count + 1 <= MOST_BY_KEYS


def test_by_keys_without_a_look_at_what_came(person: Person) -> None:
    """Nobody waits for shapes: what was added before they were known has its sizes as the run begins."""
    desk = person.desk

    def add(words: str) -> None:
        person.key(Key.Key_Tab)
        person.word(words)
        person.key(Key.Key_Return)

    def edit(*words: str) -> None:
        person.key(Key.Key_Return)
        for word in words:
            if word:
                person.word(word)
            person.key(Key.Key_Tab if not word else Key.Key_Return)

    add("randn")
    edit("16, 20")
    add("linear")
    add("relu")
    add("linear")
    edit("", "3")
    add("cross_entropy")
    person.key(Key.Key_W, Keys.ShiftModifier)
    person.key(Key.Key_Return)
    person.key(Key.Key_Return)
    add("backward")
    person.key(Key.Key_F5)
    desk.rest()
    is_made(desk)


def add_behind(person: Person, item: ItemId, title: str, *shapes: tuple[int, ...]) -> ItemId:
    """A wire let go over nothing, and what is chosen there."""
    person.drag_out(PortRef(item, "output"), QPoint(60, 0))
    person.choose(title)
    person.settle(*shapes)
    return person.desk.current


def draw_by_mouse(person: Person) -> ItemId:
    """Up to the loss, which is returned, and its target."""
    desk = person.desk
    canvas = desk.window.canvas

    def literal(item: ItemId, field: str, text: str, shape: tuple[int, ...]) -> None:
        person.click(person.at(item, field))
        person.word(text)
        person.key(Key.Key_Return)
        person.settle(shape)

    behind = partial(add_behind, person)
    middle = QPoint(120, 200)
    person.count += 1
    QTest.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, Keys.NoModifier, middle)
    person.word("randn")
    person.choose("randn")
    QTest.mouseMove(canvas.viewport(), middle)
    person.click(middle)
    (x,) = desk.graph.nodes
    literal(x, "size", "16, 20", (16, 20))
    first = behind(x, "Linear", (16, 8))
    relu = behind(first, "relu")
    desk.until(lambda: desk.session.results.inference(relu) is not None)
    second = behind(relu, "Linear")
    literal(second, "out_features", "3", (16, 3))
    loss = behind(second, "cross_entropy")
    person.drag_out(PortRef(loss, "input", "target"), QPoint(-60, 130))
    person.choose("randint")
    person.settle((16,))
    return loss


def test_by_mouse(person: Person) -> None:
    desk = person.desk
    add_behind(person, draw_by_mouse(person), "backward")
    person.key(Key.Key_F5)
    desk.rest()
    is_made(desk)
    print("by mouse:", person.count)
    assert person.count <= MOST_BY_MOUSE


def test_a_training_by_mouse(person: Person) -> None:
    loss = draw_by_mouse(person)
    person.desk.session.attention.select([loss])
    person.count += 2  # the menu of the loss, and its row
    person.desk.window.actions["graph.training"].trigger()
    learns(person.desk)
    print("a training by mouse:", person.count + 1)
    assert person.count + 1 <= MOST_BY_MOUSE


def is_made(desk: Desk) -> None:
    text = write_script(desk.graph)
    missing = [line for line in LINES if line not in text]
    assert not missing, text
    assert not desk.session.results.failures
    loss = next(item for item, node in desk.graph.nodes.items() if node.operator.endswith("cross_entropy"))
    assert desk.session.results.outputs(loss), "it ran"
    view = desk.window.canvas
    assert view.camera.zoom >= 0.6, "what was added last can be read"
