"""The export dialog: every form is shown as it would be written, by keys alone; what has no form says why."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QListWidget, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from gradstudio.document.file import load
from gradstudio.document.python.python_document import load_python
from gradstudio.graph.model import Graph
from gradstudio.paths import examples
from gradstudio.program.forms.form_table import FORMS, form_named
from gradstudio.ui.dialogs.export_dialog import ExportDialog
from gradstudio.ui.theme import theme
from gradstudio.ui.theme.style import style_sheet


def opened(qtbot: QtBot, name: str) -> ExportDialog:
    path = Path(examples() / f"{name}.gsg")
    dialog = ExportDialog(load(path), path.stem, theme("dark"))
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def shown(dialog: ExportDialog) -> str:
    return dialog.findChild(QPlainTextEdit).toPlainText()


def test_the_arrow_keys_show_one_form_after_the_other(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    forms = dialog.findChild(QListWidget)
    seen = []
    for _ in FORMS:
        seen.append((dialog.form.name, shown(dialog)))
        QTest.keyClick(forms, Qt.Key.Key_Down)
    assert [name for name, _ in seen] == [form.name for form in FORMS]
    assert "class LinearRegression(nn.Module):" in dict(seen)["module"]
    assert dict(seen)["notebook"].startswith("# %% [markdown]\n# One step of linear regression.")


def test_a_remembered_form_is_shown_and_an_unknown_one_is_the_first(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    dialog.choose("notebook")
    assert dialog.form.name == "notebook"
    dialog.choose("of another version")
    assert dialog.form is FORMS[0]


def test_copy_puts_the_text_on_the_clipboard(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    dialog.choose("module")
    copy = next(b for b in dialog.findChildren(QPushButton) if "Cop" in b.text())
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    graph = load(examples() / "03_linear_regression.gsg")
    assert QGuiApplication.clipboard().text() == form_named("module").write(graph, "03_linear_regression")


def test_the_copy_button_says_that_it_copied_until_another_form_is_shown(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    copy = next(b for b in dialog.findChildren(QPushButton) if "Cop" in b.text())
    for form in FORMS:
        dialog.choose(form.name)
        assert copy.text() == "&Copy"
        QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
        assert copy.text() == "Copied"
        assert QGuiApplication.clipboard().text() == shown(dialog)


def test_the_text_shows_that_it_has_the_focus(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    dialog.setStyleSheet(style_sheet(theme("dark")))
    preview = dialog.findChild(QPlainTextEdit)
    dialog.activateWindow()
    assert QTest.qWaitForWindowActive(dialog)
    dialog.findChild(QListWidget).setFocus()
    without = preview.grab().toImage().pixelColor(0, preview.height() // 2)
    QTest.keyClick(dialog.findChild(QListWidget), Qt.Key.Key_Tab)
    assert preview.hasFocus()
    assert preview.grab().toImage().pixelColor(0, preview.height() // 2) != without


def test_enter_asks_where_to_save_the_form_that_is_shown(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    dialog.choose("module")
    with qtbot.waitSignal(dialog.save_asked) as asked:
        QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert asked.args == [form_named("module")]


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_what_has_no_form_says_why_and_is_not_saved(qtbot: QtBot, key: Qt.Key) -> None:
    dialog = ExportDialog(Graph(), "nothing", theme("light"))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.choose("module")
    asked: list[object] = []
    dialog.save_asked.connect(asked.append)
    QTest.keyClick(dialog, key)
    assert asked == []
    assert any("requires_grad=True" in label.text() and label.isVisible() for label in dialog.findChildren(QLabel))


def test_a_box_decides_about_the_prints_at_the_end(qtbot: QtBot) -> None:
    dialog = opened(qtbot, "03_linear_regression")
    box = dialog.findChild(QCheckBox)
    assert box.isChecked() and 'print("' in shown(dialog)
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert not dialog.report and 'print("' not in shown(dialog)
    dialog.choose("train")
    assert not box.isVisible()


def test_a_program_that_was_read_from_a_file_is_shown_as_it_was_typed(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text("#!/usr/bin/env python\nimport torch\n\n\nx = torch.ones( 2 )   # two\n")
    dialog = ExportDialog(load_python(path).graph, path.stem, theme("dark"))
    qtbot.addWidget(dialog)
    assert not dialog.report
    assert shown(dialog) == path.read_text()
