"""The device and the engine in the status bar are chosen and restarted from there."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.main_window import MainWindow


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_a_click_on_the_device_chooses_another(window: MainWindow, qtbot: QtBot) -> None:
    menu, status = window.room.status_menus.device, window.status
    QTest.mouseClick(status.device, Qt.MouseButton.LeftButton)
    assert menu.isVisible()
    names = [action.text() for action in menu.actions()]
    assert names[:2] == ["auto", "cpu"]
    ticked = [action.text() for action in menu.actions() if action.isChecked()]
    assert ticked == [window.session.graph_store.graph.header.device]
    other = next(name for name in names if name not in ticked)
    menu.setActiveAction(menu.actions()[names.index(other)])
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert window.session.graph_store.graph.header.device == other
    qtbot.waitUntil(lambda: status.device.text() == f"device {other}")


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_enter_on_the_engine_offers_to_restart_it(window: MainWindow) -> None:
    menu, status = window.room.status_menus.engine, window.status
    QTest.keyClick(status.light, Qt.Key.Key_Return)
    assert menu.isVisible()
    assert [action.text() for action in menu.actions()] == ["Restart engine", "Stop", "Host…", "This machine"]
    menu.close()
