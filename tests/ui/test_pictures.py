"""Pictures of the canvas: written, put on the clipboard, and dropped on the window to open what they hold."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.document.png_embedding import load_picture
from gradstudio.graph import recipes
from gradstudio.ui.actions.canvas_pictures import preview, save_canvas_picture
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.picture_dialog import PictureChoice, PictureDialog
from gradstudio.ui.pictures.errors import PictureRefused
from gradstudio.ui.theme import Theme
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


def test_the_dialog_before_a_picture_shows_what_each_choice_makes_of_it(qtbot: QtBot, dark: Theme) -> None:
    drawn: list[PictureChoice] = []

    def draw(choice: PictureChoice, room: QSize) -> tuple[QImage, QSize]:
        drawn.append(choice)
        image = QImage(room / 2, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        return image, QSize(300, 200) * choice.scale

    dialog = PictureDialog(PictureChoice(), draw, dark, selected=2)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.size_words.text() == "600 × 400 pixels" and not dialog.preview.pixmap().isNull()
    QTest.keyClick(dialog.scale, Qt.Key.Key_Down)
    QTest.keyClick(dialog.themes, Qt.Key.Key_Down)
    for check in (dialog.selection, dialog.transparent):
        QTest.keyClick(check, Qt.Key.Key_Space)
    assert drawn[-1] == dialog.choice == PictureChoice(4, True, "light", True)
    assert dialog.size_words.text() == "1,200 × 800 pixels"
    with qtbot.waitSignal(dialog.save_asked):
        QTest.keyClick(dialog.themes, Qt.Key.Key_Return)
    nothing = PictureDialog(dialog.choice, draw, dark)
    qtbot.addWidget(nothing)
    assert not nothing.selection.isEnabled() and not nothing.choice.selection and nothing.choice.transparent


@pytest.mark.feature(78)
def test_a_picture_of_the_selection_is_smaller_and_holds_the_whole_document(
    window: MainWindow, add: Add, tmp_path: Path
) -> None:
    one, two = add("torch.ones"), add("torch.randn")
    window.session.graph_store.submit(recipes.move(window.session.graph_store.graph, {two: (900, 500)}), "Move")
    window.session.attention.select((one,))
    context = window.file._context
    choice, path = PictureChoice(1, True, "light", True), tmp_path / "a.png"
    small, size = preview(context, choice, QSize(480, 300))
    assert small.pixelColor(1, 1).alpha() == 0 and small.width() <= 480 and small.height() <= 300
    save_canvas_picture(context, path, choice)
    written, whole = QImage(str(path)), preview(context, PictureChoice(1), QSize(480, 300))[1]
    assert written.size() == size and written.pixelColor(1, 1).alpha() == 0
    assert size.width() < whole.width() - 400 and size.height() < whole.height() - 300
    assert load_picture(path)[0].nodes.keys() == {one, two}


@pytest.mark.feature(78)
def test_a_paper_is_chosen_in_the_dialog_and_copied_in_that_style(
    qtbot: QtBot, window: MainWindow, add: Add, tmp_path: Path
) -> None:
    item = add("torch.ones", size="(2,)")
    window.session.graph_store.attempt(recipes.rename, "Rename", item, ("W1",))
    context = window.file._context
    dialog = PictureDialog(PictureChoice(), partial(preview, context), context.canvas.canvas_style.theme)
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.formulas.isEnabled()
    QTest.keyClick(dialog.styles, Qt.Key.Key_Down)
    QTest.keyClick(dialog.formulas, Qt.Key.Key_Space)
    assert dialog.choice.style == "paper" and dialog.choice.formulas
    cards, paper = preview(context, PictureChoice(), QSize(480, 300)), preview(context, dialog.choice, QSize(480, 300))
    assert paper[1].width() < cards[1].width() and paper[0].pixelColor(0, 0).name() == "#ffffff"
    save_canvas_picture(context, tmp_path / "a.svg", dialog.choice)
    assert ">W<" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    save_canvas_picture(context, tmp_path / "a.tex", PictureChoice())  # TikZ is drawn as a paper, whatever is chosen
    assert "{$W_{1}$}" in (tmp_path / "a.tex").read_text(encoding="utf-8")
    window.file._picture = dialog.choice
    window.actions["file.copy_picture"].trigger()
    assert QGuiApplication.clipboard().image().size() == paper[1]
    with pytest.raises(PictureRefused, match="run the program first"):
        save_canvas_picture(context, tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()
