"""The slider under a number: its range, its steps, one undo step a drag."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradstudio.graph.model import ItemId
from gradstudio.ui.docks.inspector.editors.number_range import parse_number, range_around
from gradstudio.ui.docks.inspector.editors.number_slider import NumberSlider
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add


def drag(slider: NumberSlider, pixels: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    start = slider.handle_pos().toPoint()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, modifier, start)
    for x in range(0, pixels, 10 if pixels > 0 else -10):
        move(slider, start + QPoint(x, 0), modifier)
    move(slider, start + QPoint(pixels, 0), modifier)
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, modifier, start + QPoint(pixels, 0))


def move(slider: NumberSlider, place: QPoint, modifier: Qt.KeyboardModifier) -> None:
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    button = Qt.MouseButton.LeftButton
    spot, shown = QPointF(place), QPointF(slider.mapToGlobal(place))
    QApplication.sendEvent(slider, QMouseEvent(QEvent.Type.MouseMove, spot, shown, button, button, modifier))


def literal(session: Session, item: ItemId, path: str) -> str:
    return session.graph_store.graph.nodes[item].literals.get(path, "")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("3.0", -3.0, 9.0), ("0.0", -1.0, 1.0), ("0", -10, 10), ("7", -7, 21), ("-0.5", -1.5, 0.5)],
)
def test_the_range_lies_around_the_number(text: str, low: float, high: float) -> None:
    number = parse_number(text)
    assert number is not None
    assert (range_around(number).low, range_around(number).high) == (low, high)


@pytest.mark.parametrize("text", ["True", "[1.0]", "math.pi", "", "1.0.0", "nan", "2 * 3"])
def test_only_plain_numbers_slide(text: str) -> None:
    assert parse_number(text) is None


def test_numbers_are_round_and_keep_their_kind() -> None:
    assert range_around(3.0).text(4.12345) == "4.12"
    assert range_around(3.0).text(4.12345, fine=True) == "4.123"
    assert range_around(3.0).text(4.0) == "4.0"
    assert range_around(3).text(4.4) == "4"
    assert range_around(0.0).text(-0.0001) == "0.0"
    assert range_around(1e-5).text(1.234e-5) == "0.0000123"


def test_a_drag_changes_the_literal_in_one_undo_step(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.tensor", data="3.0")
    session.attention.select([item])
    slider, steps = inspector.details.arguments.editors["data"].slider, session.graph_store.undo_stack.count()
    assert slider.isVisible()
    drag(slider, 40)
    assert float(literal(session, item, "data")) > 3.5
    assert session.graph_store.undo_stack.count() == steps + 1
    assert session.graph_store.undo_stack.undoText() == "Slide data"
    drag(slider, -10)
    assert session.graph_store.undo_stack.count() == steps + 2
    session.graph_store.undo_stack.undo()
    session.graph_store.undo_stack.undo()
    assert literal(session, item, "data") == "3.0"


def test_shift_goes_finer(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.full", fill_value="1.0")
    session.attention.select([item])
    slider = inspector.details.arguments.editors["fill_value"].slider
    drag(slider, 20, Qt.KeyboardModifier.ShiftModifier)
    fine = float(literal(session, item, "fill_value")) - 1.0
    session.graph_store.undo_stack.undo()
    drag(slider, 20)
    coarse = float(literal(session, item, "fill_value")) - 1.0
    assert 0 < fine < coarse / 5


def test_a_typed_number_is_the_new_middle(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.full", fill_value="1.0")
    session.attention.select([item])
    slider = inspector.details.arguments.editors["fill_value"].slider
    drag(slider, 30)
    assert slider.handle_pos().x() > slider.width() / 2 + 20
    session.graph_store.attempt(_set, "Set", item)
    assert slider.handle_pos().x() == pytest.approx(slider.width() / 2, abs=1)


def _set(graph, item):  # type: ignore[no-untyped-def]  # a recipe
    from gradstudio.graph import recipes

    return recipes.set_literal(graph, item, "fill_value", "250.0")


def test_escape_brings_the_old_number_back(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.full", fill_value="1.0")
    session.attention.select([item])
    slider = inspector.details.arguments.editors["fill_value"].slider
    start = slider.handle_pos().toPoint()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    move(slider, start + QPoint(30, 0), Qt.KeyboardModifier.NoModifier)
    assert literal(session, item, "fill_value") != "1.0"
    QTest.keyClick(slider, Qt.Key.Key_Escape)
    assert literal(session, item, "fill_value") == "1.0"


def test_texts_and_lists_have_no_slider(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.tensor", data="[1.0, 2.0]")
    session.attention.select([item])
    assert not inspector.details.arguments.editors["data"].slider.isVisible()
