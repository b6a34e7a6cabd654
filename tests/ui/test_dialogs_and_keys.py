"""What is typed for a dialog that opens does nothing to the canvas, and the canvas has the keys again afterwards."""

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog

from gradstudio.graph.model import ItemId
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.file_dialog import ask_where
from tests.ui.conftest import Add


def test_a_letter_typed_for_a_dialog_that_opens_is_no_command(window: MainWindow, add: Add) -> None:
    item: ItemId = add("torch.randn")
    window.canvas.selection.select(frozenset({item}))
    dialog = QDialog(window.frame)
    dialog.setModal(True)
    dialog.show()
    window.actions["graph.mute"].trigger()
    assert not window.session.graph_store.graph.nodes[item].muted
    dialog.close()
    window.actions["graph.mute"].trigger()
    assert window.session.graph_store.graph.nodes[item].muted


def test_after_a_file_dialog_the_canvas_has_the_focus_again(window: MainWindow, tmp_path: Path) -> None:
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    window.canvas.setFocus()

    def leave() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QFileDialog)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)

    QTimer.singleShot(0, leave)
    assert ask_where(window.frame, window.theme, "Save", tmp_path / "x.png", "PNG (*.png)") is None
    assert window.frame.focusWidget() is window.canvas
