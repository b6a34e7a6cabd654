"""What is copied from a label is what it says."""

from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.ui.widgets.form_layout import BREAK, PairTable, strip_copied_breaks

LONG = "NativeBatchNormBackward0"


def test_a_long_word_is_copied_without_the_places_where_it_may_be_broken(qtbot: QtBot) -> None:
    table = PairTable()
    qtbot.addWidget(table)
    table.show_pairs((("grad_fn", LONG),))
    table.show()
    _, label = table._rows[0]
    assert BREAK in label.text()
    clipboard = QApplication.clipboard()
    clipboard.dataChanged.connect(strip_copied_breaks)
    label.setFocus()
    qtbot.waitUntil(label.hasFocus)
    label.setSelection(0, len(label.text()))
    QTest.keySequence(label, QKeySequence.StandardKey.Copy)
    qtbot.waitUntil(lambda: clipboard.text() == LONG)
    clipboard.dataChanged.disconnect(strip_copied_breaks)
