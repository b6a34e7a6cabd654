"""Pictures of the canvas: written, put on the clipboard, and dropped on the window to open what they hold."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.ui.commands.file import save_canvas_picture
from gradstudio.ui.main_window import MainWindow
from tests.ui.conftest import Add

COPY, LEFT, NO_KEY = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def drop(window: MainWindow, path: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    enter = QDragEnterEvent(QPoint(5, 5), COPY, mime, LEFT, NO_KEY)
    QApplication.sendEvent(window.frame, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(window.frame, QDropEvent(QPointF(5, 5), COPY, mime, LEFT, NO_KEY))


@pytest.mark.feature(77, 79)
def test_a_picture_dropped_on_the_window_opens_the_graph_in_it(
    qtbot: QtBot, window: MainWindow, add: Add, tmp_path: Path
) -> None:
    item = add("torch.full", size="(2,)", fill_value="7")
    path = tmp_path / "seven.png"
    save_canvas_picture(window.file._context, path)
    window.session.graph_store.set_clean()
    window.session.new()
    drop(window, path)
    qtbot.waitUntil(lambda: item in window.session.graph_store.graph.nodes)
    assert window.session.graph_store.graph.nodes[item].literals["fill_value"] == "7"
    assert window.session.path is None


@pytest.mark.feature(78)
def test_the_canvas_is_copied_as_a_picture(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    window.actions["file.copy_picture"].trigger()
    picture = QGuiApplication.clipboard().image()
    assert picture.width() > 200 and picture.height() > 100


@pytest.mark.feature(78)
@pytest.mark.parametrize(("name", "magic"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_each_kind_of_picture_is_one(window: MainWindow, add: Add, tmp_path: Path, name: str, magic: bytes) -> None:
    add("torch.randn")
    save_canvas_picture(window.file._context, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert data.startswith(magic) and len(data) > 1000
    if name.endswith(".png"):
        assert not QImage(str(tmp_path / name)).isNull()


def test_a_picture_that_is_opened_is_called_by_its_name(window: MainWindow, add: Add, tmp_path: Path) -> None:
    add("torch.ones")
    path = tmp_path / "mine.png"
    save_canvas_picture(window.file._context, path)
    assert window.file.open_path(path)
    assert window.session.title == "mine" and window.session.path is None
    assert "mine.png" in window.status.message.full
    assert window.file._proposed(".png").name == "mine.png" and window.file._proposed(".gsg").name == "mine.gsg"
    assert window.file.open_example(sorted(paths.examples().glob("*.gsg"))[0])
    assert window.file._proposed(".png").stem == window.session.subject != ""
