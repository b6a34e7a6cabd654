"""The shortcut sheet: what holds now, searched, and written as a page."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.shortcut_sheet import MOUSE, NO_KEYS, STEP, ShortcutDialog, page_of, sheet_lines, write_page


@pytest.mark.feature(47)
def test_ctrl_slash_shows_what_holds_now_and_typing_finds(window: MainWindow) -> None:
    window.settings.change(keys={"graph.tidy": ("Ctrl+Alt+Y",)})
    seen: list[tuple[str, ...]] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ShortcutDialog)
        seen.append(dialog.shown())
        QTest.keyClicks(dialog.search, "ctrl+alt+y")
        seen.append(dialog.shown())
        dialog.search.clear()
        QTest.keyClicks(dialog.search, "restart engine")
        assert dialog.shown()[0] == "Restart engine", "a command without keys is found, too"
        dialog.search.clear()
        QTest.keyClicks(dialog.search, "cut wires")
        seen.append(dialog.shown())
        QTest.keyClick(dialog.search, Qt.Key.Key_Return)
        seen.append((str(dialog.isVisible()),))
        QTest.keyClick(dialog, Qt.Key.Key_Escape)

    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    window.canvas.setFocus()
    QTimer.singleShot(0, look)
    QTest.keyClick(window.canvas, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    everything, by_keys, by_words, open_still = seen
    assert {"Tidy", "Run", "Pan", "Add behind the selected card, else at the pointer"} <= set(everything)
    assert by_keys[0] == "Tidy"
    assert not {"Left edges", "Values"} & set(everything), "alone they would say nothing"
    assert any(text.endswith(f"{STEP}Left edges") for text in everything)
    assert "Cut wires" in by_words and len(by_words) < 5
    assert open_still == ("True",)


@pytest.mark.parametrize("typed", ["", "drag"])
def test_no_line_is_broken_where_it_has_room(window: MainWindow, qtbot: QtBot, typed: str) -> None:
    dialog = ShortcutDialog(sheet_lines(window.key_map.lines()))
    qtbot.addWidget(dialog)
    dialog.search.setText(typed)
    dialog.show()
    qtbot.waitExposed(dialog)
    shown, room = set(dialog.shown()), dialog.width() - 80
    texts = [made for made in dialog.findChildren(QLabel) if made.isVisible() and made.text() in shown]
    assert {made.text() for made in texts} == shown
    for made in texts:
        needed = made.fontMetrics().horizontalAdvance(made.text())
        assert needed > room // 4 or made.height() < 2 * made.fontMetrics().height(), made.text()


def test_the_page_has_every_line_once(window: MainWindow, tmp_path: Path) -> None:
    lines = sheet_lines(window.key_map.lines())
    page = page_of(lines)
    assert f"<h2>{MOUSE}</h2>" in page and page.count("<tr>") == sum(line.keys != NO_KEYS for line in lines)
    path = tmp_path / "keys.pdf"
    write_page(lines, str(path))
    assert path.read_bytes().startswith(b"%PDF")
