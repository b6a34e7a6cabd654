"""The box of the timeline that says which turn is shown."""

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.style import apply
from gradstudio.ui.timeline.turn_chooser import TurnChooser


def test_the_turn_has_room_in_its_box(qtbot: QtBot, session: Session, dark: Theme) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply(app, dark, 1.0)
    chooser = TurnChooser(session)
    qtbot.addWidget(chooser)
    chooser._turns = 200
    chooser._show(None)
    chooser.show()
    text = chooser.box.lineEdit()
    assert text.text() == "last turn"
    assert text.width() >= text.fontMetrics().horizontalAdvance("last turn")
