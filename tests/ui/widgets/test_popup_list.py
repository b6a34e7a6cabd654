"""The list narrowed by typing, as every kind of it behaves."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.ui.widgets.popup_list import PopupList

Key = Qt.Key
WORDS = tuple(f"word {number:02}" for number in range(20))


class Words(PopupList[str]):
    """Twenty words; those that have what is typed in them fit."""

    def __init__(self, room: QWidget) -> None:
        super().__init__(room, "Words")
        column = QVBoxLayout(self)
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.narrow("")

    def matches(self, typed: str) -> Sequence[str]:
        return [word for word in WORDS if typed in word]

    def row_data(self, row: str, role: int) -> object:
        return row if role == Qt.ItemDataRole.DisplayRole else None

    def take(self) -> None:
        taken = self.current
        if taken is not None:
            self.close_now()
            self.chosen.emit(taken)

    def page_rows(self) -> int:
        return 5


class Round(Words):
    """Its ends meet."""

    goes_round = True


@pytest.fixture
def room(qtbot: QtBot) -> QWidget:
    made = QWidget()
    made.resize(400, 400)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    return made


def shown(kind: type[Words], room: QWidget, qtbot: QtBot) -> Words:
    popup = kind(room)
    popup.setGeometry(0, 0, 300, 300)
    popup.show()
    popup.field.setFocus(Qt.FocusReason.PopupFocusReason)
    qtbot.waitUntil(popup.field.hasFocus)
    return popup


def test_letters_narrow_it_and_enter_takes_the_best(room: QWidget, qtbot: QtBot) -> None:
    popup = shown(Words, room, qtbot)
    QTest.keyClicks(popup.field, "1")
    assert popup.rows == ["word 01", *(f"word {number}" for number in range(10, 20))] and popup.list.current_row == 0
    happened = list[object]()
    popup.closed.connect(lambda: happened.append("closed"))
    popup.chosen.connect(happened.append)
    QTest.keyClick(popup.field, Key.Key_Return)
    assert happened == ["closed", "word 01"]


def test_what_fits_nothing_takes_nothing(room: QWidget, qtbot: QtBot) -> None:
    popup = shown(Words, room, qtbot)
    QTest.keyClicks(popup.field, "none such")
    QTest.keyClick(popup.field, Key.Key_Down)
    QTest.keyClick(popup.field, Key.Key_Return)
    assert popup.rows == [] and popup.current is None and popup.isVisible()


@pytest.mark.parametrize(("kind", "before_first"), [(Words, 0), (Round, len(WORDS) - 1)])
def test_arrows_walk_it_and_pages_stop_at_its_ends(
    room: QWidget, qtbot: QtBot, kind: type[Words], before_first: int
) -> None:
    popup = shown(kind, room, qtbot)
    QTest.keyClick(popup.field, Key.Key_Up)
    assert popup.list.current_row == before_first
    popup.list.go(0)
    rows = []
    for key in (Key.Key_Down, Key.Key_PageDown, Key.Key_PageDown, Key.Key_PageDown, Key.Key_PageDown, Key.Key_PageUp):
        QTest.keyClick(popup.field, key)
        rows.append(popup.list.current_row)
    assert rows == [1, 6, 11, 16, 19, 14]


def test_a_click_takes_a_row(room: QWidget, qtbot: QtBot) -> None:
    popup = shown(Words, room, qtbot)
    at: QPoint = popup.list.visualRect(popup.list.index_of(2)).center()
    with qtbot.waitSignal(popup.chosen) as chosen:
        QTest.mouseClick(popup.list.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert chosen.args == [WORDS[2]]


def test_escape_and_leaving_the_field_are_no_choice(room: QWidget, qtbot: QtBot) -> None:
    for end in ("escape", "leave"):
        popup, taken = shown(Words, room, qtbot), list[object]()
        popup.chosen.connect(taken.append)
        with qtbot.waitSignal(popup.closed):
            if end == "escape":
                QTest.keyClick(popup.field, Key.Key_Escape)
            else:
                popup.field.clearFocus()
        assert taken == [] and not popup.isVisible()
