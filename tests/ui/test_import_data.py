"""File > Import data…: a table is looked at, its columns chosen, and X and y stand on the canvas and are learnt."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QListWidget,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QTableWidget,
)
from pytestqt.qtbot import QtBot

from gradstudio.document.data.sources import data_reading, open_data
from gradstudio.document.data.split import prepare
from gradstudio.document.data.work import until_first
from gradstudio.ui.dialogs.data import sliced_work
from gradstudio.ui.dialogs.data.import_data_dialog import ImportDataDialog
from gradstudio.ui.dialogs.data.picture_folder import pictures_reading
from gradstudio.ui.theme import Theme
from tests.ui.desk import Desk

TABLE = "a;b;id;kind\n" + "".join(
    f"{k % 7},5;{k * 1000};{k};{'far' if k > 20 else 'near'}\n" for k in range(1, 41)
)  # fmt: skip
MODEL = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\ntorch.manual_seed(0)\n"
    "net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))\n"
    "logits = net(X)\nloss = F.cross_entropy(logits, y)\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "near and far.csv").write_text(TABLE)
    return tmp_path / "near and far.csv"


@pytest.fixture
def dialog(qtbot: QtBot, dark: Theme, path: Path) -> ImportDataDialog:
    made = ImportDataDialog(path, open_data(path), dark)
    qtbot.addWidget(made)
    made.show()
    return made


def words(dialog: ImportDataDialog) -> str:
    return "\n".join(label.text() for label in dialog.findChildren(QLabel) if label.isVisible())


def combo(dialog: ImportDataDialog, name: str) -> QComboBox:
    return next(one for one in dialog.findChildren(QComboBox) if one.accessibleName() == name)


def button(dialog: ImportDataDialog, text: str) -> QPushButton:
    return next(one for one in dialog.findChildren(QPushButton) if one.text() == text)


def inputs(dialog: ImportDataDialog) -> QListWidget:
    return next(one for one in dialog.findChildren(QListWidget) if one.accessibleName() == "Inputs")


def checked(dialog: ImportDataDialog) -> list[str]:
    found = inputs(dialog)
    items = [found.item(row) for row in range(found.count())]
    return [item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() == Qt.CheckState.Checked]


def test_it_shows_what_is_guessed_and_what_hurts(dialog: ImportDataDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(button(dialog, "Import").isEnabled)
    assert (combo(dialog, "Separator").currentText(), combo(dialog, "Target").currentText()) == ("semicolon", "kind")
    assert checked(dialog) == ["a", "b"]
    assert "40 rows, 4 columns" in words(dialog) and "Ranges differ by" in words(dialog)
    assert "far" in words(dialog) and button(dialog, "Import").isEnabled()


def test_the_names_of_classes_are_told_from_how_many_rows_they_have(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n" + "0.5,0\n1.5,1\n2.5,1\n" * 10)
    dialog = ImportDataDialog(tmp_path / "table.csv", open_data(tmp_path / "table.csv"), dark)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: "Rows to learn from + to validate: “0” " in words(dialog) and ", “1” " in words(dialog))


def test_what_is_chosen_is_what_is_prepared(dialog: ImportDataDialog, qtbot: QtBot, path: Path) -> None:
    normalise = next(one for one in dialog.findChildren(QCheckBox) if one.text().startswith("Normalise"))
    qtbot.mouseClick(normalise, Qt.MouseButton.LeftButton)
    spin = {one.accessibleName(): one for one in dialog.findChildren(QSpinBox)}
    spin["Rows to validate, in percent"].setValue(50)
    spin["Seed of the split"].setValue(7)
    qtbot.waitUntil(lambda: "Ranges differ" not in words(dialog))
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(button(dialog, "Import"), Qt.MouseButton.LeftButton)
    found = dialog.prepared
    assert found is not None and found.validation is not None and found.normalises
    source = open_data(path)
    expected = prepare(source, dialog._choice())
    assert found.validation.inputs.tolist() == expected.validation.inputs.tolist()  # type: ignore[union-attr]
    assert len(found.validation.inputs) == 20


def test_a_choice_that_does_not_go_is_told_there_and_can_be_mended(dialog: ImportDataDialog, qtbot: QtBot) -> None:
    listed = inputs(dialog)
    for row in (0, 1):
        listed.item(row).setCheckState(Qt.CheckState.Unchecked)
    qtbot.waitUntil(lambda: "Choose at least one" in words(dialog))
    assert not button(dialog, "Import").isEnabled() and dialog.prepared is None
    listed.item(0).setCheckState(Qt.CheckState.Checked)
    qtbot.waitUntil(button(dialog, "Import").isEnabled)


def test_another_separator_reads_the_file_anew(dialog: ImportDataDialog, qtbot: QtBot) -> None:
    field = combo(dialog, "Separator")
    field.setCurrentIndex(field.findText("comma"))
    qtbot.waitUntil(lambda: "line 2 has 2 cells where the first line has 1" in words(dialog))
    assert not button(dialog, "Import").isEnabled()
    field.setCurrentIndex(field.findText("semicolon"))
    qtbot.waitUntil(button(dialog, "Import").isEnabled)
    assert checked(dialog) == ["a", "b"]


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each slice is one step of the work, so that the window has its turn between all of them."""
    monkeypatch.setattr(sliced_work, "SLICE_S", 0.0)


def long_table(folder: Path, *more: str) -> Path:
    lines = ["a,b,kind", *(f"{k},{k % 7},{'odd' if k % 2 else 'even'}" for k in range(3_000)), *more]
    (folder / "long.csv").write_text("\n".join(lines) + "\n")
    return folder / "long.csv"


def reading_dialog(qtbot: QtBot, theme: Theme, path: Path) -> ImportDataDialog:
    source, rest = until_first(pictures_reading(path) if path.is_dir() else data_reading(path))
    made = ImportDataDialog(path, source, theme, None, rest)
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.usefixtures("small_slices")
def test_the_first_rows_of_a_long_table_are_seen_while_the_rest_is_read(
    qtbot: QtBot, dark: Theme, tmp_path: Path
) -> None:
    dialog = reading_dialog(qtbot, dark, long_table(tmp_path))
    preview = next(one for one in dialog.findChildren(QTableWidget) if one.accessibleName() == "First rows")
    assert [preview.item(3, column).text() for column in range(3)] == ["3", "3", "odd"]
    assert not button(dialog, "Import").isEnabled() and button(dialog, "Cancel").isEnabled()
    bar = dialog.findChild(QProgressBar)
    counted: set[tuple[bool, int]] = set()
    bar.valueChanged.connect(lambda: counted.add((bar.isVisible(), bar.maximum())))
    qtbot.waitUntil(lambda: dialog.prepared is not None)
    assert counted >= {(True, 3_002), (True, 9_000)}, "lines, then cells"
    assert "3,000 rows, 3 columns" in words(dialog) and bar.isHidden()
    assert button(dialog, "Import").isEnabled() and len(dialog.prepared.train.inputs) == 2_400


@pytest.mark.usefixtures("small_slices")
def test_cancel_ends_the_reading(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    dialog = reading_dialog(qtbot, dark, long_table(tmp_path))
    bar = dialog.findChild(QProgressBar)
    qtbot.waitUntil(lambda: bar.value() > 0)
    with qtbot.waitSignal(dialog.rejected):
        qtbot.mouseClick(button(dialog, "Cancel"), Qt.MouseButton.LeftButton)
    assert not dialog._work.is_busy and dialog.prepared is None


@pytest.mark.usefixtures("small_slices")
def test_what_is_wrong_far_below_is_told_in_the_dialog(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    dialog = reading_dialog(qtbot, dark, long_table(tmp_path, "1;2;odd"))
    qtbot.waitUntil(lambda: "line 3002 has 1 cell where the first line has 3" in words(dialog))
    assert not button(dialog, "Import").isEnabled() and combo(dialog, "Separator").isEnabled()


@pytest.mark.usefixtures("small_slices")
def test_first_pictures_are_seen_while_the_rest_is_read_and_decoded(qtbot: QtBot, dark: Theme, tmp_path: Path) -> None:
    for name, colour in (("night", 30), ("day", 220)):
        (tmp_path / "sky" / name).mkdir(parents=True)
        for k in range(30):
            image = QImage(8, 8, QImage.Format.Format_RGB32)
            image.fill(QColor(colour, colour, k))
            assert image.save(str(tmp_path / "sky" / name / f"{k:02}.png"))
    dialog = reading_dialog(qtbot, dark, tmp_path / "sky")
    shown = next(one for one in dialog.findChildren(QListWidget) if one.accessibleName() == "First pictures")
    qtbot.waitUntil(lambda: shown.count() > 0)
    assert not any(one.isEnabled() for one in dialog.findChildren(QSpinBox)), "there is nothing to choose of them yet"
    assert {shown.item(0).text(), shown.item(1).text()} == {"day", "night"} and not button(dialog, "Import").isEnabled()
    qtbot.waitUntil(lambda: dialog.prepared is not None)
    assert "60 pictures, 2 classes" in words(dialog) and shown.count() == 40
    spin = {one.accessibleName(): one for one in dialog.findChildren(QSpinBox)}
    spin["Width of the pictures, in pixels"].setValue(4)
    with qtbot.waitSignal(dialog.accepted):  # as soon as they have that size
        qtbot.mouseClick(button(dialog, "Import"), Qt.MouseButton.LeftButton)
    assert dialog.prepared is not None and dialog.prepared.train.inputs.shape == (48, 3, 8, 4)


def when_asked(kind: type, does: Callable[[object], None]) -> None:
    """Do something with the modal dialog that comes next, as soon as it has read its file."""

    def look() -> None:
        asked = QApplication.activeModalWidget()
        is_ready = isinstance(asked, kind) and getattr(asked, "prepared", asked) is not None
        does(asked) if is_ready else QTimer.singleShot(20, look)

    QTimer.singleShot(0, look)


def drop(desk: Desk, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    viewport, copy, left = desk.window.canvas.viewport(), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    point, keys = viewport.rect().center(), Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(point, copy, data, left, keys)
    QApplication.sendEvent(viewport, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(viewport, QDropEvent(QPointF(point), copy, data, left, keys))


def test_a_table_that_is_dropped_is_learnt_from_an_empty_canvas(desk: Desk, qtbot: QtBot, path: Path) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")

    def accept(dialog: object) -> None:
        assert isinstance(dialog, ImportDataDialog)
        normalise = next(one for one in dialog.findChildren(QCheckBox) if one.text().startswith("Normalise"))
        normalise.setChecked(True)
        button(dialog, "Import").click()

    when_asked(ImportDataDialog, accept)
    drop(desk, path)
    desk.until(lambda: desk.graph.nodes)
    undo = desk.session.graph_store.undo_stack
    assert undo.count() == 1 and undo.undoText() == "Import near and far.csv"
    names = {name for node in desk.graph.nodes.values() for name in node.names}
    assert names == {"X_raw", "X_val_raw", "mean", "std", "X", "X_val", "y", "y_val"}
    QApplication.clipboard().setText(MODEL)
    desk.window.canvas.clipboard_commands.paste()
    desk.rest()
    desk.window.actions["graph.training"].trigger()
    text = desk.session.run.program.code
    assert "test_data = torch.utils.data.TensorDataset(X_val, y_val)" in text and "random_split" not in text
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    desk.until(lambda: isinstance(reached := desk.value("accuracy"), float) and reached >= 0.75)


def test_a_bad_file_is_told_of_and_nothing_changes(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")
    (tmp_path / "bad.csv").write_text("a,b\n1,x\n2\n")
    said: list[str] = []

    def close(box: object) -> None:
        assert isinstance(box, QMessageBox)
        said.append(box.informativeText())
        box.accept()

    when_asked(QMessageBox, close)
    drop(desk, tmp_path / "bad.csv")
    desk.until(lambda: said)
    assert "'bad.csv', line 3 has 1 cell" in said[0] and not desk.graph.nodes


CHARACTERS = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\ntorch.manual_seed(0)\n"
    "net = nn.Sequential(nn.Embedding(9, 8), nn.Flatten(), nn.Linear(32, 9))\n"
    "logits = net(X)\nloss = F.cross_entropy(logits, y)\n"
)


def test_a_text_that_is_dropped_is_learnt(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")
    (tmp_path / "song.txt").write_text("la lo li, " * 40 + "du\n")

    def accept(dialog: object) -> None:
        assert isinstance(dialog, ImportDataDialog)
        spin = {one.accessibleName(): one for one in dialog.findChildren(QSpinBox) if one.isVisible()}
        assert set(spin) == {"Window, in characters", "Rows to validate, in percent"}
        spin["Window, in characters"].setValue(4)
        button(dialog, "Import").click()

    when_asked(ImportDataDialog, accept)
    drop(desk, tmp_path / "song.txt")
    desk.until(lambda: desk.graph.nodes)
    QApplication.clipboard().setText(CHARACTERS)
    desk.window.canvas.clipboard_commands.paste()
    desk.rest()
    desk.window.actions["graph.training"].trigger()
    assert "test_data = torch.utils.data.TensorDataset(X_val, y_val)" in desk.session.run.program.code
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    desk.until(lambda: isinstance(reached := desk.value("accuracy"), float) and reached >= 0.75)


PICTURES = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\ntorch.manual_seed(0)\n"
    "net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 3 * 3, 2))\n"
    "logits = net(X)\nloss = F.cross_entropy(logits, y)\n"
)


def test_a_folder_of_pictures_that_is_dropped_is_learnt(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.sit_down(qtbot)
    desk.open("import torch\n")
    for name, colour in (("night", 30), ("day", 220)):
        (tmp_path / "sky" / name).mkdir(parents=True)
        for k in range(20):
            image = QImage(8, 8, QImage.Format.Format_RGB32)
            image.fill(QColor(colour, colour, colour + k))
            assert image.save(str(tmp_path / "sky" / name / f"{k}.png"))

    def accept(dialog: object) -> None:
        assert isinstance(dialog, ImportDataDialog)
        shown = next(one for one in dialog.findChildren(QListWidget) if one.isVisible())
        assert {shown.item(0).text(), shown.item(1).text()} == {"day", "night"} and not shown.item(0).icon().isNull()
        assert "40 pictures, 2 classes: 40 of 8 × 8" in words(dialog)
        spin = {one.accessibleName(): one for one in dialog.findChildren(QSpinBox) if one.isVisible()}
        spin["Width of the pictures, in pixels"].setValue(5)
        spin["Height of the pictures, in pixels"].setValue(5)
        button(dialog, "Import").click()

    when_asked(ImportDataDialog, accept)
    drop(desk, tmp_path / "sky")
    desk.until(lambda: desk.graph.nodes)
    assert ("uint8", (32, 3, 5, 5)) in {(one.dtype, one.shape) for one in desk.graph.tensors.values()}
    QApplication.clipboard().setText(PICTURES)
    desk.window.canvas.clipboard_commands.paste()
    desk.rest()
    desk.window.actions["graph.training"].trigger()
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    desk.until(lambda: isinstance(reached := desk.value("accuracy"), float) and reached >= 0.75)
