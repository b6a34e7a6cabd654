"""What a screen reader meets: cards as children of the canvas, names on everything that takes keys."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.graph import recipes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.accessibility import CardActions
from tests.ui.test_keys_of_access import Keyboard

Text = QAccessible.Text
QT_OWN = ("qt_", "QTabBar", "QScrollArea", "QStackedWidget", "QMainWindow", "QMenuBar")


@pytest.fixture
def keyboard(window: MainWindow) -> Keyboard:
    return Keyboard(window)


def cards(keyboard: Keyboard) -> list[QAccessibleInterface]:
    spoken = QAccessible.queryAccessibleInterface(keyboard.canvas)
    return [spoken.child(k) for k in range(spoken.childCount())]


@pytest.mark.feature(46)
def test_every_card_is_a_child_of_the_canvas_with_its_line_as_name(keyboard: Keyboard) -> None:
    names = [card.text(Text.Name) for card in cards(keyboard)]
    assert len(names) == 4
    assert names[2] in ("* y = x * w", "* y")
    told = cards(keyboard)[2].text(Text.Description)
    assert "a from x" in told
    assert "goes to z" in told


@pytest.mark.feature(46)
def test_press_selects_a_card_and_its_state_says_so(keyboard: Keyboard) -> None:
    card = cards(keyboard)[1]
    assert not card.state().selected
    action = card.actionInterface()
    action.doAction(action.pressAction())
    assert keyboard.attention.selection == {keyboard.node("w")}
    assert cards(keyboard)[1].state().selected
    spoken = QAccessible.queryAccessibleInterface(keyboard.canvas)
    assert spoken.focusChild().text(Text.Name).endswith(cards(keyboard)[1].text(Text.Name))
    at = cards(keyboard)[1].rect().center()
    assert spoken.childAt(at.x(), at.y()).text(Text.Name) == cards(keyboard)[1].text(Text.Name)


@pytest.mark.feature(46)
def test_children_follow_the_graph_also_while_a_screen_reader_listens(keyboard: Keyboard) -> None:
    QAccessible.setActive(True)
    try:
        first = cards(keyboard)
        keyboard.go("z")
        store = keyboard.window.session.shown_store
        assert store.attempt(recipes.delete, "Delete", [keyboard.node("z")])
        assert len(cards(keyboard)) == len(first) - 1
        store.undo_stack.undo()
        assert [card.text(Text.Name) for card in cards(keyboard)][-1].endswith(("z", "z = y.sum()"))
    finally:
        QAccessible.setActive(False)


def focusable(window: MainWindow) -> Iterator[QWidget]:
    for widget in window.frame.findChildren(QWidget):
        named = widget.metaObject().className()
        if widget.parentWidget().inherits("QComboBoxPrivateContainer"):
            continue  # the list of a box that has a name
        by_keys = widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        if by_keys and not widget.objectName().startswith("qt_") and named not in QT_OWN:
            yield widget


@pytest.mark.feature(46)
def test_everything_that_takes_keys_has_a_name(keyboard: Keyboard) -> None:
    keyboard.go("y")
    QApplication.sendPostedEvents()
    nameless = []
    for widget in focusable(keyboard.window):
        spoken = QAccessible.queryAccessibleInterface(widget)
        if spoken is not None and not spoken.text(Text.Name).strip():
            parent = widget.parentWidget()
            nameless.append(f"{type(widget).__name__} in {type(parent).__name__}")
    assert "\n".join(nameless) == ""


@pytest.mark.feature(46)
def test_a_card_says_which_ways_of_asking_it_answers_and_lives(keyboard: Keyboard) -> None:
    card = cards(keyboard)[0]
    for ask in (card.textInterface, card.valueInterface, card.selectionInterface, card.tableCellInterface):
        assert ask() is None
    assert isinstance(card.actionInterface(), CardActions)
