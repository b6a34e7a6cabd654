"""The docks keep what a person put in front; every row of the registry is a dock, with all that belongs to one."""

import subprocess
import sys

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu
from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.dock_registry import DOCKS
from gradstudio.ui.docks.dock_set import Docks
from gradstudio.ui.theme import Theme, ThemedWidget


def test_what_lay_at_the_left_before_a_lesson_comes_back_as_wide(qtbot: QtBot, dark: Theme) -> None:
    frame = QMainWindow()
    qtbot.addWidget(frame)
    docks = Docks(frame, dark)
    frame.resize(1280, 800)
    docks.arrange(1280)
    frame.show()
    qtbot.waitExposed(frame)
    docks.bring_forward("outline")

    def in_front(key: str) -> bool:
        return not docks[key].visibleRegion().isEmpty()

    qtbot.waitUntil(lambda: in_front("outline"))
    docks.offer_lesson(True)
    docks.share(1280, 800)
    qtbot.waitUntil(lambda: in_front("lesson"))
    wide = docks["lesson"].width()
    docks.offer_lesson(False)
    docks.share(1280, 800)
    qtbot.waitUntil(lambda: in_front("outline"))
    assert docks["outline"].width() >= wide - 2
    docks.offer_lesson(True)
    qtbot.waitUntil(lambda: in_front("lesson"))
    docks.bring_forward("library")
    qtbot.waitUntil(lambda: in_front("library"))
    docks.offer_lesson(False)
    QApplication.processEvents()
    assert in_front("library")


def test_every_dock_of_the_registry_can_be_shown_and_has_a_name(window: MainWindow) -> None:
    menu = QMenu()
    window.frame.docks.fill_menu(menu)
    assert [action.text() for action in menu.actions()] == [row.title for row in DOCKS]
    for row in DOCKS:
        dock = window.frame.docks[row.id]
        assert dock.objectName() == row.id
        said = QAccessible.queryAccessibleInterface(dock)
        assert said is not None and said.text(QAccessible.Text.Name) == row.title
    menu.deleteLater()


def test_every_document_has_a_panel_in_every_dock_that_is_not_the_windows(window: MainWindow) -> None:
    assert list(window.room.panels) == [row.id for row in DOCKS if row.factory is not None]
    for key, panel in window.room.panels.items():
        pages = window.frame.docks[key].widget()
        assert pages is not None and pages.isAncestorOf(panel), key
        assert isinstance(panel, ThemedWidget), key


def test_the_registry_loads_no_panel() -> None:
    words = "import sys, gradstudio.ui.docks.dock_set; print([m for m in sys.modules if m.endswith('panel')])"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_six_lines_of_code_are_seen_in_a_small_window(window: MainWindow) -> None:
    window.frame.resize(1280, 800)
    window.frame.show()
    window.frame.layout_keeper.settle()
    editor = window.code.editor
    line = editor.fontMetrics().lineSpacing()
    assert editor.viewport().height() >= 6 * line
