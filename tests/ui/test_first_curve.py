"""The first curve is seen as it is drawn: its dock comes forward once, and never against what a person has chosen."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar
from pytestqt.qtbot import QtBot

from gradstudio.ui.docks.curves.first_curve import FirstCurve
from tests.ui.desk import Desk
from tests.ui.test_runs_by_hand import LINE


@pytest.fixture(autouse=True)
def _line(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    docks = desk.window.frame.docks
    docks._offered.clear()
    docks._chosen.clear()
    docks["log"].raise_()
    desk.until(lambda: "curves" not in docks._seen)
    desk.open(LINE)
    desk.window.canvas.setFocus()


def train(desk: Desk) -> None:
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()


def tab(desk: Desk, title: str) -> tuple[QTabBar, int]:
    bars = desk.window.frame.findChildren(QTabBar)
    return next((bar, k) for bar in bars for k in range(bar.count()) if bar.tabText(k) == title)


def click(desk: Desk, title: str) -> None:
    bar, place = tab(desk, title)
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(place).center())


def test_the_first_curve_is_seen_and_the_keys_stay_where_they_are(desk: Desk) -> None:
    canvas, docks = desk.window.canvas, desk.window.frame.docks
    room = canvas.geometry()
    train(desk)
    desk.until(lambda: "curves" in docks._seen)
    assert QApplication.focusWidget() is canvas and canvas.geometry() == room
    click(desk, "Log")
    train(desk)
    assert "curves" not in docks._seen, "once is enough"


def test_what_a_person_has_chosen_stays_in_front(desk: Desk) -> None:
    click(desk, "History")
    click(desk, "Problems (0)")
    train(desk)
    desk.until(lambda: desk.session.results.tables.curves.names)
    assert "curves" not in desk.window.frame.docks._seen and "problems" in desk.window.frame.docks._seen


def test_the_code_that_a_person_reads_stays_in_front(desk: Desk) -> None:
    docks = desk.window.frame.docks
    docks["code"].raise_()
    desk.until(lambda: "code" in docks._seen)
    train(desk)
    desk.until(lambda: desk.session.results.tables.curves.names)
    assert "code" in docks._seen and "curves" not in docks._seen


def test_nobody_listens_to_a_document_that_is_closed(desk: Desk) -> None:
    docks = desk.window.frame.docks
    listeners = len(docks.findChildren(FirstCurve))
    desk.window.actions["file.new"].trigger()
    assert len(docks.findChildren(FirstCurve)) == listeners + 1
    desk.window.actions["file.close"].trigger()
    desk.until(lambda: len(docks.findChildren(FirstCurve)) == listeners)
