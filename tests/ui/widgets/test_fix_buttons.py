"""Buttons of fixes: their titles stand whole, in as many lines as they need."""

from pytestqt.qtbot import QtBot

from gradstudio.advice.model import Fix
from gradstudio.ui.widgets.fix_buttons import FixButtons

TITLES = ("Use mul instead of mul_, which leaves its input as it is", "Write into a copy of h")


def test_a_title_wraps_and_its_button_grows(qtbot: QtBot) -> None:
    shown = FixButtons()
    qtbot.addWidget(shown)
    shown.show_fixes(tuple(Fix(title=title, edits=()) for title in TITLES))
    shown.resize(150, 300)
    shown.show()
    long, short = shown.buttons
    assert [" ".join(button.text().split()) for button in (long, short)] == list(TITLES)
    assert len(long.text().splitlines()) > len(short.text().splitlines()) > 1
    assert long.height() > short.height() and not long.geometry().intersects(short.geometry())
    lines = long.text().splitlines()
    assert all(each.height() >= each.heightForWidth(each.width()) for each in (long, short)), "no line is cut"
    assert max(long.fontMetrics().horizontalAdvance(line) for line in lines) <= long.width()
    shown.resize(900, 300)
    assert [button.text() for button in shown.buttons] == list(TITLES)
