"""A program that is typed or pasted as text: where its cards stand, and where the canvas looks."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import Header, ItemId
from gradstudio.layout.tidy import layout
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.settings import Settings

Key, Control = Qt.Key, Qt.KeyboardModifier.ControlModifier
LINES = ("x = torch.ones(3, requires_grad=True)", "b = torch.zeros(3)", "y = x * 2 + b", "z = y.sum()", "z.backward()")
LONG = "\n".join(["x = torch.ones(3)", *(f"y{k} = torch.exp({f'y{k - 1}' if k else 'x'})" for k in range(30))])
SCRIPT = f"import torch\n\ntorch.manual_seed(7)\ntorch.set_default_dtype(torch.float64)\n\n{LONG}\n"


@pytest.fixture(autouse=True)
def _views_jump(settings: Settings) -> None:
    """What is looked at is looked at at once."""
    settings.change(reduced_motion=True)


@pytest.fixture
def typing(qtbot: QtBot, window: MainWindow) -> MainWindow:
    """The window, its cursor in the text of an empty document."""
    window.frame.activateWindow()
    window.frame.docks.bring_forward("code")
    window.code.editor.setFocus()
    qtbot.waitUntil(window.code.editor.hasFocus)
    qtbot.waitUntil(lambda: "manual_seed" in window.code.editor.text)
    window.code.editor.moveCursor(QTextCursor.MoveOperation.End)
    return window


def write(window: MainWindow, line: str) -> None:
    QTest.keyClicks(window.code.editor, line)
    QTest.keyClick(window.code.editor, Key.Key_Return)
    assert window.code.live.apply()


def stands(window: MainWindow) -> dict[str, tuple[float, float]]:
    return {key: (place.x, place.y) for key, place in window.session.graph_store.graph.places.items()}


def laid_out(window: MainWindow) -> dict[str, tuple[float, float]]:
    return {key: (round(x), round(y)) for key, (x, y) in layout(window.session.graph_store.graph).items()}


def last(window: MainWindow) -> ItemId:
    return list(window.session.graph_store.graph.nodes)[-1]


def test_a_typed_program_stands_as_one_that_is_opened_until_a_card_is_moved(typing: MainWindow) -> None:
    for line in LINES:
        before = stands(typing)
        write(typing, line)
        assert stands(typing) == laid_out(typing)
    typing.session.graph_store.undo_stack.undo()
    assert stands(typing) == before
    write(typing, "w = y.exp()")
    assert stands(typing) == laid_out(typing)
    store = typing.session.graph_store
    store.submit(recipes.move(store.graph, {last(typing): (900.0, 700.0)}), "Move")
    before = stands(typing)
    write(typing, "v = w.sum()")
    assert before.items() <= stands(typing).items() and last(typing) in stands(typing)


def test_the_canvas_is_pushed_no_more_than_a_new_card_needs(typing: MainWindow) -> None:
    canvas = typing.canvas
    for line in LINES[:2]:
        write(typing, line)
    pushed = 0
    for line in LONG.splitlines()[1:12]:
        camera = canvas.camera
        write(typing, line)
        assert canvas.navigation.is_seen(last(typing)) and canvas.camera.zoom == camera.zoom
        seen, box = camera.seen(canvas.viewport().width(), canvas.viewport().height()), canvas.scene.placement.extent()
        assert box is not None
        is_in_view = box.x >= seen.x and box.y >= seen.y and box.right <= seen.right and box.bottom <= seen.bottom
        assert not is_in_view or canvas.camera == camera
        pushed += canvas.camera != camera
    assert pushed


def test_undo_looks_back_where_it_was_unless_somebody_looked_elsewhere(typing: MainWindow) -> None:
    canvas, stack = typing.canvas, typing.session.graph_store.undo_stack
    for line in LONG.splitlines()[:6]:
        write(typing, line)
    canvas.navigation.restore_view(1.0, 0.0, 0.0)
    camera = canvas.camera
    write(typing, "far = y4.sum()")
    assert canvas.camera != camera
    stack.undo()
    assert canvas.camera == camera
    write(typing, "far = y4.sum()")
    canvas.navigation.restore_view(1.0, 300.0, 0.0)
    camera = canvas.camera
    stack.undo()
    assert canvas.camera == camera


def test_a_program_pasted_into_the_empty_dock_is_seen_as_if_it_was_opened(typing: MainWindow) -> None:
    QApplication.clipboard().setText(SCRIPT)
    QTest.keyClick(typing.code.editor, Key.Key_A, Control)
    QTest.keyClick(typing.code.editor, Key.Key_V, Control)
    assert typing.code.live.apply()
    canvas = typing.canvas
    shown = canvas.camera
    canvas.navigation.open_view()
    assert canvas.camera == shown and canvas.navigation.is_seen(next(iter(canvas.scene.graph.nodes)))


def test_a_script_pasted_on_an_empty_canvas_sets_it_up_and_is_seen(window: MainWindow) -> None:
    QApplication.clipboard().setText(SCRIPT)
    window.canvas.clipboard_commands.paste(5000.0, 5000.0)
    graph = window.session.graph_store.graph
    assert graph.header == Header(seed=7, default_dtype="torch.float64")
    assert not any("manual_seed" in node.operator for node in graph.nodes.values())
    assert window.canvas.navigation.is_seen(next(iter(graph.order())))
    window.session.graph_store.undo_stack.undo()
    assert graph.header == Header() and not graph.nodes


def test_a_script_pasted_beside_a_program_leaves_its_settings(window: MainWindow) -> None:
    QApplication.clipboard().setText("a = torch.ones(2)")
    window.canvas.clipboard_commands.paste(0.0, 0.0)
    assert window.session.graph_store.graph.header == Header()
    QApplication.clipboard().setText("torch.manual_seed(7)\nc = torch.ones(2)")
    window.canvas.clipboard_commands.paste(0.0, 0.0)
    assert window.session.graph_store.graph.header == Header()


@pytest.mark.parametrize("text", ["c = torch.ones(2)\nd = c * 2", LONG.replace("y", "u")])
def test_what_is_pasted_on_the_canvas_is_seen_and_selected(window: MainWindow, text: str) -> None:
    QApplication.clipboard().setText("a = torch.ones(2)")
    window.canvas.clipboard_commands.paste(0.0, 0.0)
    QApplication.clipboard().setText(text)
    canvas = window.canvas
    canvas.clipboard_commands.paste(8000.0, 8000.0)
    assert len(window.session.attention.selection) == len(text.splitlines())
    seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
    box = canvas.scene.placement.extent(window.session.attention.selection)
    assert box is not None and seen.x <= box.x and seen.y <= box.y and box.right <= seen.right
    assert box.bottom <= seen.bottom and canvas.navigation.zoom <= 1.0


def test_an_empty_clipboard_is_said_to_be_empty(qtbot: QtBot, window: MainWindow) -> None:
    QApplication.clipboard().clear()
    with qtbot.waitSignal(window.canvas.status_message) as said:
        window.canvas.clipboard_commands.paste()
    assert said.args == ["The clipboard is empty."]


def test_the_dock_has_more_room_while_somebody_writes_in_it(qtbot: QtBot, typing: MainWindow) -> None:
    dock = typing.frame.docks["code"]
    before = dock.height()
    write(typing, LINES[0])
    assert dock.height() > before + 80
    typing.code.editor.setFocus()
    typing.canvas.setFocus()
    qtbot.waitUntil(lambda: dock.height() == before)


def test_a_dock_that_was_sized_by_hand_stays_so(typing: MainWindow) -> None:
    typing.frame.layout_keeper.follows = "hand"
    before = typing.frame.docks["code"].height()
    write(typing, LINES[0])
    assert typing.frame.docks["code"].height() == before


@pytest.mark.feature(82)
def test_a_pasted_function_becomes_a_card_that_can_be_used_again(qtbot: QtBot, window: MainWindow) -> None:
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    text = "def double(x):\n    y = x * 2\n    return y\n\na = torch.ones(2)\nb = double(a)\n"
    QApplication.clipboard().setText(text)
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    graph = window.session.graph_store.graph
    assert [node.operator for node in graph.nodes.values()] == ["torch.ones", "group:double"]
    assert graph.definitions["double"].inputs == ("x",)
    window.library.field.setFocus()
    QTest.keyClicks(window.library.field, "double")
    QTest.keyClick(window.library.field, Key.Key_Return)
    assert [node.operator for node in graph.nodes.values()].count("group:double") == 2
