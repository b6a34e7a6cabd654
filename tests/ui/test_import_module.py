"""File > Import module…: nothing runs before the yes; it becomes a new document; what goes wrong is told there."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from gradstudio.document.python.module_import import graph_of, import_options
from gradstudio.protocol.client import COMMAND
from gradstudio.protocol.messages.module_import import Brought
from gradstudio.ui.dialogs.import_module_dialog import ImportModuleDialog
from gradstudio.ui.state.run.module_importer import ModuleImporter
from gradstudio.ui.theme import Theme

MODELS = Path(__file__).parents[1] / "engine" / "bring" / "models.py"


@pytest.fixture
def dialog(qtbot: QtBot, dark: Theme, tmp_path: Path) -> ImportModuleDialog:
    path = tmp_path / "models.py"
    path.write_text(MODELS.read_text() + "\n\nPath = __import__('pathlib').Path\nPath('executed').touch()\n")
    bringing = ModuleImporter(COMMAND)
    made = ImportModuleDialog(path, import_options(path), bringing, dark)
    qtbot.addWidget(made, before_close_func=lambda _dialog: bringing.close())
    made.bringing_of_test = bringing  # a signal's sender must live
    made.show()
    return made


def button(dialog: ImportModuleDialog, text: str) -> QPushButton:
    return next(one for one in dialog.findChildren(QPushButton) if one.text() == text)


def choose(dialog: ImportModuleDialog, name: str) -> None:
    names = dialog.findChild(QComboBox)
    names.setCurrentIndex(names.findData(name))


def problem(dialog: ImportModuleDialog) -> str:
    return "\n".join(
        label.text()
        for label in dialog.findChildren(QLabel)
        if label.property("role") == "danger" and label.isVisible()
    )


def field(dialog: ImportModuleDialog, name: str) -> QLineEdit:
    return next(one for one in dialog.findChildren(QLineEdit) if one.accessibleName() == name)


def test_it_lists_the_modules_and_their_inputs_without_executing_the_file(
    dialog: ImportModuleDialog, qtbot: QtBot
) -> None:
    names = dialog.findChild(QComboBox)
    listed = [names.itemData(row) for row in range(names.count())]
    assert {"MLP", "GPT", "make", "trained"} <= set(listed)
    assert "NoModule" not in listed
    choose(dialog, "NeedsArguments")
    assert field(dialog, "Constructor arguments").placeholderText() == "width=…, depth=…"
    qtbot.waitUntil(field(dialog, "Input scale").isVisible)
    assert not (dialog._path.parent / "executed").exists()


def test_arguments_that_the_file_itself_offers_stand_there(dialog: ImportModuleDialog) -> None:
    arguments = field(dialog, "Constructor arguments")
    choose(dialog, "Configured")
    assert arguments.text() == "config=Config()"
    choose(dialog, "MLP")
    assert arguments.text() == ""
    arguments.setText("hidden=3")
    choose(dialog, "Configured")
    assert arguments.text() == "hidden=3"  # the person's own words stay


def test_the_model_is_chosen_and_not_a_part_of_it(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "from torch import nn\nclass Part(nn.Module):\n    def forward(self, x): return x\n"
        "class Base(Part):\n    def forward(self, x): return x\n"
        "class Whole(Base):\n    def __init__(self):\n        self.part = Part()\n"
        "class Other(nn.Module):\n    def forward(self, x): return x\n"
    )
    bringing = ModuleImporter(COMMAND)
    made = ImportModuleDialog(path, import_options(path), bringing, dark)
    qtbot.addWidget(made, before_close_func=lambda _dialog: bringing.close())
    made.bringing_of_test = bringing
    assert made.findChild(QComboBox).currentData() == "Whole"


def test_cancel_is_what_enter_means(dialog: ImportModuleDialog, qtbot: QtBot) -> None:
    assert button(dialog, "Cancel").isDefault()
    assert not button(dialog, "Run code and import").isDefault()
    assert "runs the code of models.py on this computer" in " ".join(
        label.text() for label in dialog.findChildren(QLabel)
    )
    field(dialog, "Input x").setFocus()
    qtbot.keyClick(field(dialog, "Input x"), Qt.Key.Key_Return)
    assert dialog.isVisible()  # in a field Enter goes on to the next
    assert not (dialog._path.parent / "executed").exists()


def test_a_yes_brings_the_module(dialog: ImportModuleDialog, qtbot: QtBot) -> None:
    choose(dialog, "MLP")
    qtbot.keyClicks(field(dialog, "Input x"), "torch.randn(5, 8)")
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(button(dialog, "Run code and import"), Qt.MouseButton.LeftButton)
    assert isinstance(dialog.brought, Brought)
    assert dialog.brought.exact
    assert len(graph_of(dialog.brought.text, dialog.brought.tensors).nodes) == 6
    assert (dialog._path.parent / "executed").exists()


# Slow: engines one after the other, each of which imports torch.
def test_what_goes_wrong_is_told_there_and_can_be_mended(dialog: ImportModuleDialog, qtbot: QtBot) -> None:
    choose(dialog, "Raises")
    qtbot.keyClicks(field(dialog, "Input x"), "torch.ones(2)")
    qtbot.mouseClick(button(dialog, "Run code and import"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "ValueError: not today" in problem(dialog))
    assert "models.py, line" in problem(dialog)
    choose(dialog, "Dies")
    qtbot.mouseClick(button(dialog, "Run code and import"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "ended with code 7" in problem(dialog))
    choose(dialog, "trained")
    assert not field(dialog, "Constructor arguments").isVisible()


def test_stop_ends_code_that_does_not_end(dialog: ImportModuleDialog, qtbot: QtBot) -> None:
    choose(dialog, "Endless")
    qtbot.keyClicks(field(dialog, "Input x"), "torch.ones(2)")
    qtbot.mouseClick(button(dialog, "Run code and import"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: button(dialog, "Stop").isVisible())
    qtbot.mouseClick(button(dialog, "Stop"), Qt.MouseButton.LeftButton)
    assert "Stopped" in problem(dialog)
    assert button(dialog, "Run code and import").isEnabled()
