"""A box for a number in a form."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QFormLayout, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.style import apply
from gradstudio.ui.widgets.number_box import NumberBox


def beginning(line: QLineEdit, form: QWidget) -> int:
    """Where the first letter stands."""
    line.setCursorPosition(0)
    cursor = line.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
    assert isinstance(cursor, QRect)
    return line.mapTo(form, QPoint(cursor.center().x(), 0)).x()


def test_digits_stand_where_the_letters_of_other_fields_do(qtbot: QtBot, dark: Theme) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply(app, dark, 1.0)
    form = QWidget()
    qtbot.addWidget(form)
    rows, number, line = QFormLayout(form), NumberBox(), QLineEdit("20")
    number.setValue(20)
    rows.addRow("Epochs", number)
    rows.addRow("Learning rate", line)
    form.show()
    assert abs(beginning(number.lineEdit(), form) - beginning(line, form)) <= 1
