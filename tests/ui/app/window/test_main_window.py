"""The main window as a person meets it: files, questions, docks, themes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QFileDialog, QMessageBox, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.document.file import load, save
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.nodes import set_header
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.events import Memory
from gradstudio.ui.actions.canvas_pictures import save_canvas_picture
from gradstudio.ui.actions.file_commands import example_files, title_of_example
from gradstudio.ui.app.window import toolbar
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.dialogs.export_dialog import ExportDialog
from gradstudio.ui.dialogs.picture_dialog import PictureDialog
from gradstudio.ui.docks.dock_title import DockTitle
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme, theme
from tests.ui.conftest import Add

Answer = Callable[[QMessageBox], None]


def when_asked(qtbot: QtBot, answer: Answer) -> list[str]:
    """Answer the next message box; its words come back in the list."""
    words: list[str] = []
    timer = QTimer(QApplication.instance())

    def look() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            timer.stop()
            timer.deleteLater()
            words.append(f"{box.text()} {box.informativeText()}")
            answer(box)

    timer.timeout.connect(look)
    timer.start(10)
    return words


def press(button: QMessageBox.StandardButton) -> Answer:
    return lambda box: QTest.mouseClick(box.button(button), Qt.MouseButton.LeftButton)


def ask_to_save(dialog: QWidget | None) -> None:
    """Press Enter in the dialog that is before that for the file, once; Escape when it is there again."""
    if isinstance(dialog, ExportDialog | PictureDialog):
        key = Qt.Key.Key_Escape if dialog.property("asked") else Qt.Key.Key_Return
        dialog.setProperty("asked", True)
        QTimer.singleShot(0, lambda: QTest.keyClick(dialog, key))


def when_asked_for_a_file(path: Path) -> None:
    """Type a path into the next file dialog and press Enter."""

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        ask_to_save(dialog)
        if not isinstance(dialog, QFileDialog):
            QTimer.singleShot(10, answer)
            return
        dialog.selectFile(str(path))
        dialog.accept()

    QTimer.singleShot(10, answer)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "mine.gsg"
    save(Graph(), path)
    return path


def test_the_title_names_the_document_and_marks_changes(window: MainWindow, add: Add, document: Path) -> None:
    assert window.frame.windowTitle().startswith("Untitled")
    add("torch.randn")
    assert window.frame.isWindowModified()
    assert window.file.save_to(document)
    assert window.frame.windowTitle().startswith("mine.gsg") and not window.frame.isWindowModified()


def test_what_is_saved_is_what_is_opened_again(window: MainWindow, add: Add, tmp_path: Path) -> None:
    item = add("torch.full", size="(2,)", fill_value="7")
    when_asked_for_a_file(tmp_path / "seven")
    window.actions["file.save"].trigger()
    path = tmp_path / "seven.gsg"
    assert load(path).nodes[item].literals["fill_value"] == "7"
    window.actions["file.new"].trigger()
    assert not window.session.graph_store.graph.nodes
    assert window.file.open_path(path)
    assert window.session.graph_store.graph.nodes[item].literals["fill_value"] == "7"
    assert window.settings.recent == (path,)


@pytest.mark.parametrize("button", [QMessageBox.StandardButton.Discard, QMessageBox.StandardButton.Cancel])
def test_unsaved_changes_are_asked_about(
    qtbot: QtBot, window: MainWindow, add: Add, button: QMessageBox.StandardButton
) -> None:
    add("torch.randn")
    words = when_asked(qtbot, press(button))
    window.actions["file.close"].trigger()
    kept = button == QMessageBox.StandardButton.Cancel
    assert "Untitled" in words[0]
    assert bool(window.session.graph_store.graph.nodes) == kept


def test_save_in_the_question_saves_before_the_window_closes(
    qtbot: QtBot, window: MainWindow, add: Add, document: Path
) -> None:
    window.file.open_path(document)
    add("torch.randn")
    when_asked(qtbot, press(QMessageBox.StandardButton.Save))
    assert window.frame.close()
    assert len(load(document).nodes) == 1


@pytest.mark.feature(75)
def test_a_newer_and_a_broken_file_are_refused_and_nothing_is_lost(
    qtbot: QtBot, window: MainWindow, add: Add, tmp_path: Path, document: Path
) -> None:
    add("torch.randn")
    assert window.file.save_to(document)
    newer, broken = tmp_path / "newer.gsg", tmp_path / "broken.gsg"
    newer.write_text('{"format": "gradstudio-graph", "version": 999}')
    broken.write_text('{"format": "gradstudio-graph",\n "version": 1, oops')
    for path, expected in ((newer, "newer GradStudio"), (broken, "Line 2")):
        words = when_asked(qtbot, press(QMessageBox.StandardButton.Ok))
        assert not window.file.open_path(path)
        assert expected in words[0]
        assert len(window.session.graph_store.graph.nodes) == 1
        assert window.session.path == document


def test_a_document_dropped_onto_the_window_is_opened(qtbot: QtBot, window: MainWindow, document: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(document))])
    action, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(QPoint(5, 5), action, mime, button, Qt.KeyboardModifier.NoModifier)
    event = QDropEvent(QPointF(5, 5), action, mime, button, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window.frame, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(window.frame, event)
    qtbot.waitUntil(lambda: window.session.path == document)


def test_a_notebook_opens_as_a_document_that_is_not_saved_yet(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "lesson.ipynb"
    path.write_text(
        '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "x = torch.ones(2)"]}], "nbformat": 4}'
    )
    assert window.file.open_path(path)
    assert (window.session.path, window.session.title) == (None, "lesson")
    assert [frame.title for frame in window.session.graph_store.graph.blocks.values()] == ["Cell 1"]


def test_a_notebook_whose_cells_ran_in_another_order_is_opened_with_words_of_it(
    window: MainWindow, tmp_path: Path
) -> None:
    cells = [{"cell_type": "code", "source": f"x{count} = 1", "execution_count": count} for count in (2, 1)]
    path = tmp_path / "lesson.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    said: list[str] = []
    window.documents.status_message.connect(said.append)
    assert window.file.open_path(path)
    assert "run from top to bottom" in said[-1]


def test_a_new_document_begins_with_an_empty_memory_plot(window: MainWindow) -> None:
    window.session.memory.add(Memory(time_s=1.0, device="cpu", series={"tensors": 5}, mark="Run"))
    window.actions["file.new"].trigger()
    assert not window.session.memory.marks and not window.session.memory.names


def test_examples_open_as_new_documents(window: MainWindow) -> None:
    files = example_files()
    assert len(files) >= 8
    for path in files:
        assert window.file.open_example(path)
        assert window.session.path is None
        assert window.session.graph_store.graph.nodes
    assert title_of_example(files[0]).startswith("1  ")


@pytest.mark.feature(80)
def test_the_exported_script_runs_and_prints_the_same_numbers(window: MainWindow, tmp_path: Path) -> None:
    window.file.open_example(example_files()[0])
    when_asked_for_a_file(tmp_path / "out.py")
    window.actions["file.export_python"].trigger()
    graph = window.session.graph_store.graph
    assert (tmp_path / "out.py").read_text() == write_script(graph, stem="out")


@pytest.mark.parametrize(
    ("action", "typed", "written"),
    [
        ("file.export_python", "mine.png", "mine.py"),
        ("file.export_python", "mine.v2", "mine.v2.py"),
        ("file.export_picture", "mine.py", "mine.png"),
        ("file.export_picture", "mine.SVG", "mine.SVG"),
        ("file.save_as", "mine.py", "mine.gsg"),
    ],
)
def test_what_is_written_ends_as_its_kind_does(
    window: MainWindow, tmp_path: Path, action: str, typed: str, written: str
) -> None:
    window.file.open_example(example_files()[0])
    when_asked_for_a_file(tmp_path / "here" / typed)
    (tmp_path / "here").mkdir()
    window.actions[action].trigger()
    assert [path.name for path in (tmp_path / "here").iterdir()] == [written]


@pytest.mark.feature(78)
@pytest.mark.parametrize(("name", "magic"), [("out.png", b"\x89PNG"), ("out.svg", b"<?xml"), ("out.pdf", b"%PDF")])
def test_the_picture_is_written(window: MainWindow, tmp_path: Path, name: str, magic: bytes) -> None:
    window.file.open_example(example_files()[0])
    when_asked_for_a_file(tmp_path / name)
    window.actions["file.export_picture"].trigger()
    assert (tmp_path / name).read_bytes().startswith(magic)
    with pytest.raises(OSError, match="such f"):
        save_canvas_picture(window.file._context, tmp_path / "no such folder" / name)


@pytest.mark.feature(85)
def test_another_theme_is_taken_up_everywhere_and_remembered(window: MainWindow) -> None:
    window.actions["view.theme_light"].trigger()
    palette = QApplication.palette()
    assert palette.color(palette.ColorRole.Window) == QColor(theme("light").surface)
    assert window.settings.preferences.theme == "light"
    assert window.actions["view.theme_light"].isChecked() and not window.actions["view.theme_dark"].isChecked()


def test_docks_that_were_closed_come_back_with_reset_layout(qtbot: QtBot, window: MainWindow) -> None:
    docks = [dock for dock in window.frame.findChildren(QDockWidget) if not dock.isHidden()]
    assert len(docks) >= 10
    for dock in docks:
        dock.close()
    window.actions["view.reset_layout"].trigger()
    assert all(not dock.isHidden() for dock in docks)


def test_the_layout_is_kept_from_one_start_to_the_next(
    qtbot: QtBot, window: MainWindow, settings: Settings, dark: Theme
) -> None:
    window.frame.docks["memory"].close()
    window.frame.close()
    again = Frame(Settings(settings.folder), dark)
    qtbot.addWidget(again)
    again.show()
    qtbot.waitUntil(again.docks["memory"].isHidden)
    assert not again.docks["library"].isHidden()


def test_the_device_is_chosen_in_the_toolbar_as_one_undo_step(window: MainWindow, session: Session) -> None:
    box = window.toolbar.device
    box.setCurrentText("auto")
    box.activated.emit(box.currentIndex())
    assert session.graph_store.graph.header.device == "auto"
    session.graph_store.undo_stack.undo()
    assert session.graph_store.graph.header.device == "cpu" and box.currentText() == "cpu"


def test_every_verb_has_its_word_in_a_small_window(window: MainWindow, session: Session) -> None:
    header = msgspec.structs.replace(session.graph_store.graph.header, device="cuda:0")
    session.graph_store.attempt(set_header, "Change device", header)
    window.frame.resize(1280, 800)
    window.frame.show()
    verbs = [window.toolbar.button(key) for key in toolbar.VERBS if key not in toolbar.WORDLESS]
    beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert all(isinstance(verb, QToolButton) and verb.toolButtonStyle() == beside for verb in verbs)
    assert window.toolbar.device.currentText() == "cuda:0"


def test_an_operator_chosen_in_the_library_is_added_and_selected(window: MainWindow, session: Session) -> None:
    QTest.keyClicks(window.library.field, "torch.eye")
    QTest.keyClick(window.library.field, Qt.Key.Key_Return)
    (node,) = session.graph_store.graph.nodes.values()
    assert session.attention.selection == {node.id}


def test_torch_is_never_imported_by_the_window() -> None:
    words = (
        "import sys, gradstudio.ui.app.window.main_window, gradstudio.ui.app.application; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def folder_of_the_next_dialog(window: MainWindow, action: str) -> Path:
    """The folder in which a file dialog opens; it is left at once."""
    seen: list[Path] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is None and seen:
            return
        ask_to_save(dialog)
        if isinstance(dialog, QFileDialog):
            seen.append(Path(dialog.directory().path()))
            dialog.reject()
        QTimer.singleShot(10, look)

    QTimer.singleShot(10, look)
    window.actions[action].trigger()
    return seen[0]


@pytest.mark.parametrize("action", ["file.open", "file.save_as", "file.export_python", "file.export_picture"])
def test_file_dialogs_never_begin_among_the_examples(window: MainWindow, action: str) -> None:
    examples = example_files()[0].parent
    assert window.file.open_path(example_files()[0])
    assert folder_of_the_next_dialog(window, action).resolve() != examples.resolve()


def test_file_dialogs_begin_where_the_last_one_ended(window: MainWindow, add: Add, tmp_path: Path) -> None:
    add("torch.randn")
    (tmp_path / "exports").mkdir()
    when_asked_for_a_file(tmp_path / "exports" / "out.py")
    window.actions["file.export_python"].trigger()
    assert folder_of_the_next_dialog(window, "file.open") == tmp_path / "exports"


def test_the_buttons_of_the_file_dialog_are_readable_in_the_dark(window: MainWindow) -> None:
    found: list[QToolButton] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QFileDialog):
            QTimer.singleShot(10, look)
            return
        for name in ("toParentButton", "backButton", "newFolderButton"):
            button = dialog.findChild(QToolButton, name)
            assert isinstance(button, QToolButton)
            image = button.icon().pixmap(18, 18).toImage()
            lightest = max(
                image.pixelColor(x, y).lightness()
                for x in range(image.width())
                for y in range(image.height())
                if image.pixelColor(x, y).alpha() > 200
            )
            assert lightest > 150
            found.append(button)
        dialog.reject()

    QTimer.singleShot(10, look)
    window.actions["file.open"].trigger()
    assert len(found) == 3


def test_what_was_copied_is_said_calmly(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    window.actions["edit.select_all"].trigger()
    window.actions["edit.copy"].trigger()
    assert "Copied" in window.status.message.full
    assert window.theme.text_dim in window.status.message.styleSheet()


def test_what_is_copied_as_python_is_text_that_comes_back_as_cards(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    assert window.actions["edit.copy_python"].shortcut().toString() == "Ctrl+Shift+C"
    window.actions["edit.select_all"].trigger()
    window.actions["edit.copy_python"].trigger()
    text = QApplication.clipboard().text()
    assert text.startswith("import torch\n\n") and "torch.randn(" in text
    assert "as Python" in window.status.message.full
    window.actions["edit.paste"].trigger()
    operators = [node.operator for node in window.session.graph_store.graph.nodes.values()]
    assert operators == ["torch.randn", "torch.randn"]


def test_the_first_focus_is_on_the_canvas_and_tab_reaches_the_docks_buttons(
    qtbot: QtBot, frame: Frame, session: Session, settings: Settings, dark: Theme
) -> None:
    buttons = frame.findChildren(QToolButton, "dock_button")
    assert buttons and frame.focusWidget() not in buttons
    window = MainWindow(frame, session, settings, dark)
    frame.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is window.canvas)
    assert all(button.focusPolicy() == Qt.FocusPolicy.TabFocus for button in buttons)


def test_no_button_of_a_dock_can_have_the_first_focus(frame: Frame, qapp: QApplication) -> None:
    dock = frame.docks["library"]
    title = dock.titleBarWidget()
    assert isinstance(title, DockTitle)
    title.take_tab_focus()
    button, elsewhere = title.float_button, QWidget()
    for focused in (None, elsewhere):
        qapp.focusChanged.emit(None, focused)
        assert button.focusPolicy() == Qt.FocusPolicy.NoFocus
    qapp.focusChanged.emit(None, frame.centralWidget())
    assert button.focusPolicy() == title.close_button.focusPolicy() == Qt.FocusPolicy.TabFocus


def test_a_window_with_words_that_are_not_applied_asks_before_it_closes(qtbot: QtBot, window: MainWindow) -> None:
    window.code.editor.insertPlainText("x = (")
    words = when_asked(qtbot, press(QMessageBox.StandardButton.Cancel))
    assert not window.frame.may_close()
    assert "not applied" in words[0] and "x = (" in window.code.editor.text
    when_asked(qtbot, press(QMessageBox.StandardButton.Discard))
    assert window.frame.may_close()
    assert window.session.graph_store.is_clean
