"""The table of actions, through menus, keys and the shortcut sheet."""

import re

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.scene.overlay_registry import OVERLAYS
from gradstudio.ui.actions.action_set import ActionRow, ActionSet, MenuRow
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.app.window.window_frame import MENUS
from gradstudio.ui.canvas.menus.card_menu import BLOCKS, TYPED_BLOCKS
from gradstudio.ui.docks.code.code_editor import CodeEditor
from gradstudio.ui.theme import Theme, ThemeName, theme
from tests.ui.conftest import Add

STANDARD = (
    "Ctrl+N",
    "Ctrl+O",
    "Ctrl+S",
    "Ctrl+Z",
    "Ctrl+C",
    "Ctrl+V",
    "Ctrl+X",
    "Ctrl+D",
    "F5",
    "F6",
    "F10",
    "Shift+F5",
)


PROPER = frozenset("DOT GradStudio GraphML LaTeX Library NaN None PNG Python PyTorch SVG".split())
"""Words that are written so wherever they stand."""


def rows(window: MainWindow) -> list[ActionRow]:
    return [row for row in window.actions.rows if isinstance(row, ActionRow)]


def test_no_two_commands_share_a_key(window: MainWindow) -> None:
    keys = [key.toString() for row in rows(window) for key in window.actions[row.id].shortcuts()]
    assert sorted(keys) == sorted(set(keys))
    assert set(STANDARD) <= set(keys)


def test_every_row_is_in_a_menu_and_its_icon_exists(window: MainWindow) -> None:
    for row in rows(window):
        assert row.menu.split("/")[0] in MENUS, row.id
        assert not row.icon or (paths.resources() / "icons" / f"{row.icon}.svg").is_file(), row.id
    for name, menu in window.frame.menus.items():
        assert len(menu.actions()) >= 2, name


def test_the_sheet_lists_every_command_that_has_keys(window: MainWindow) -> None:
    sheet = {(menu, command): keys for menu, command, keys in window.actions.shortcut_sheet()}
    assert sheet["Run", "Run"].startswith("F5")
    assert ("File", "Save as") in sheet
    assert len(sheet) == sum(bool(window.actions[row.id].shortcuts()) for row in rows(window))


def test_commands_are_enabled_when_they_can_be_done(window: MainWindow, add: Add) -> None:
    actions = window.actions
    off = [
        key for key in ("edit.undo", "edit.copy", "run.run", "run.zero_grad", "graph.wrap") if actions[key].isEnabled()
    ]
    assert off == []
    item = add("torch.randn")
    assert actions["edit.undo"].isEnabled() and actions["run.run"].isEnabled()
    window.session.attention.select([item])
    assert actions["edit.copy"].isEnabled() and actions["graph.wrap"].isEnabled()
    assert not actions["graph.unwrap"].isEnabled()


def test_a_command_is_asked_when_somebody_is_about_to_look_and_once(qtbot: QtBot, dark: Theme) -> None:
    asked, done = list[str](), list[str]()
    can = True

    def row(name: str, key: str) -> ActionRow:
        return ActionRow(
            name, name, "Edit", 1, lambda: done.append(name), (key,), when=lambda: asked.append(name) is None and can
        )

    window = QMainWindow()
    qtbot.addWidget(window)
    actions = ActionSet([row("button", "Ctrl+1"), row("menu", "Ctrl+2"), row("other", "Ctrl+3")], dark, window)
    menu = QMenu("Edit", window)
    actions.fill_menus({"Edit": menu})
    button = actions.on_button("button")
    asked.clear()
    actions.refresh()
    actions.refresh()
    assert asked == []
    can = False
    qtbot.waitUntil(lambda: not button.isEnabled())
    assert asked == ["button"]
    assert not actions["menu"].isEnabled() and not actions["menu"].isEnabled()
    assert asked == ["button", "menu"]
    menu.aboutToShow.emit()
    assert asked == ["button", "menu", "other"]
    actions.refresh()
    actions.expect_key(QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier))
    assert asked == ["button", "menu", "other", "other"]
    assert done == []


def test_a_key_obeys_what_has_become_possible_and_impossible_since(qtbot: QtBot, window: MainWindow, add: Add) -> None:
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    window.canvas.setFocus()
    item, attention, graph = add("torch.randn"), window.session.attention, window.session.graph_store.graph
    QApplication.processEvents()
    attention.select([item])
    QTest.keyClick(window.canvas, Qt.Key.Key_Delete)
    assert item not in graph
    QTest.keyClick(window.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert item in graph
    window.session.graph_store.undo_stack.clear()
    QTest.keyClick(window.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert item in graph and not window.actions["edit.undo"].isEnabled()


def test_overlays_are_switched_singly_and_remembered(window: MainWindow) -> None:
    window.actions["view.shapes"].trigger()
    assert [window.overlays[name] for name in ("values", "shapes", "gradients")] == [True, False, True]
    assert not window.actions["view.shapes"].isChecked()
    assert window.settings.preferences.overlays_off == ("shapes",)


def test_wrapping_and_unwrapping_a_selection_are_one_step_each(window: MainWindow, add: Add) -> None:
    item, graph = add("torch.randn"), window.session.graph_store.graph
    window.session.attention.select([item])
    window.actions["graph.wrap"].trigger()
    assert [block.kind for block in graph.blocks.values()] == ["no_grad"]
    window.session.attention.select([item])
    window.actions["graph.unwrap"].trigger()
    assert not graph.blocks
    window.session.graph_store.undo_stack.undo()
    assert len(graph.blocks) == 1


def test_the_graph_menu_wraps_in_every_block_that_a_card_s_menu_offers(window: MainWindow, add: Add) -> None:
    item, graph = add("torch.randn"), window.session.graph_store.graph
    (row,) = (row for row in window.actions.rows if isinstance(row, MenuRow) and row.text == "Wrap in")
    for selection in ((), (item,)):
        window.session.attention.select(selection)
        menu = QMenu(window.frame)
        row.fill(menu)
        assert {action.isEnabled() for action in menu.actions()} == {bool(selection)}
    words = [action.text().partition("\t")[0] for action in menu.actions()]
    assert words == [text.partition("\t")[0] for _, text in (*BLOCKS, *TYPED_BLOCKS)]
    menu.actions()[words.index("autocast")].trigger()
    assert [block.kind for block in graph.blocks.values()] == ["autocast"]


def test_tidy_moves_what_overlaps_apart(window: MainWindow, add: Add) -> None:
    first, second = add("torch.randn"), add("torch.randn")
    window.actions["graph.tidy"].trigger()
    places = window.session.graph_store.graph.places
    assert (places[first].x, places[first].y) != (places[second].x, places[second].y)


@pytest.mark.parametrize("keys", ["Ctrl+Shift+F"])
def test_a_key_brings_the_cursor_into_the_librarys_search(qtbot: QtBot, window: MainWindow, keys: str) -> None:
    assert window.actions["graph.find"].shortcut() == QKeySequence(keys)
    window.code.setFocus()
    assert isinstance(window.frame.focusWidget(), CodeEditor)
    window.actions["graph.find"].trigger()
    assert window.frame.focusWidget() is window.library.field


@pytest.mark.parametrize(("width", "words"), [(1280, False), (1920, True)])
def test_the_overlays_have_words_where_there_is_room_and_tips_everywhere(
    window: MainWindow, width: int, words: bool
) -> None:
    window.frame.resize(width, 900)
    buttons = window.toolbar.overlay_buttons
    assert [button.text() for button in buttons] == ["Values", "Shapes", "Types", "grad_fn", "Gradients"]
    beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert all((button.toolButtonStyle() == beside) == words for button in buttons)
    assert all(button.toolTip().startswith(button.text() + ": ") for button in buttons)


def test_a_submenu_names_the_overlays_and_switches_them(window: MainWindow) -> None:
    menu = next(action.menu() for action in window.frame.menus["View"].actions() if action.text() == "Overlays")
    assert isinstance(menu, QMenu)
    titles = [action.text() for action in menu.actions()]
    assert titles == [row.title for row in OVERLAYS]
    before = window.overlays["shapes"]
    menu.actions()[1].trigger()
    assert window.overlays["shapes"] != before and menu.actions()[1].isChecked() != before


@pytest.mark.parametrize("name", ["dark", "light"])
def test_icons_in_the_run_menu_are_readable_on_the_menu(window: MainWindow, name: ThemeName) -> None:
    window.set_theme(theme(name))
    window.frame.menus["Run"].aboutToShow.emit()
    image = window.actions["run.run"].icon().pixmap(18, 18).toImage()
    solid = {
        image.pixelColor(x, y).name()
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y).alpha() > 250
    }
    assert solid == {theme(name).text}


def test_the_run_button_runs(window: MainWindow, qtbot: QtBot, add: Add) -> None:
    assert not window.toolbar.run_button.isEnabled()
    add("torch.randn")
    qtbot.waitUntil(window.toolbar.run_button.isEnabled)
    QTest.mouseClick(window.toolbar.run_button, Qt.MouseButton.LeftButton)
    assert window.session.run.state.busy
    window.session.engine.close()


def test_a_key_leads_into_the_code_and_esc_back_to_the_canvas(qtbot: QtBot, window: MainWindow) -> None:
    window.frame.activateWindow()
    window.canvas.setFocus()
    window.actions["view.code"].trigger()
    assert isinstance(window.frame.focusWidget(), CodeEditor)
    QTest.keyClick(window.code.editor, Qt.Key.Key_Escape)
    assert window.frame.focusWidget() is window.canvas


def test_hints_are_chosen_in_the_menu_and_remembered(window: MainWindow) -> None:
    window.actions["view.hints_values"].trigger()
    assert window.code.hints == "values" and window.actions["view.hints_values"].isChecked()
    assert window.settings.preferences.code_hints == "values"
    QTest.mouseClick(window.code.strip.hints_button, Qt.MouseButton.LeftButton)
    assert window.actions["view.hints_off"].isChecked() and not window.actions["view.hints_values"].isChecked()


def entries(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_the_edit_menu_is_short_in_the_usual_order_and_off_where_nothing_can_be_done(
    window: MainWindow, add: Add
) -> None:
    menu = window.frame.menus["Edit"]
    QApplication.clipboard().clear()
    menu.aboutToShow.emit()
    shown = entries(menu)
    assert shown[:8] == ["Undo", "Redo", "History", "Cut", "Copy", "Paste", "Duplicate", "Delete"]
    assert {"Copy as", "Selection", "Align"} <= set(shown) and shown[-1] == "Preferences…" and len(shown) <= 24
    for key in ("cut", "copy", "paste", "duplicate", "delete", "select_all"):
        assert not window.actions[f"edit.{key}"].isEnabled(), key
    window.canvas.selection.select(frozenset({add("torch.randn")}))
    QApplication.clipboard().setText("x = 1")
    for key in ("cut", "copy", "paste", "duplicate", "delete", "select_all"):
        assert window.actions[f"edit.{key}"].isEnabled(), key
    assert entries(window.frame.menus["Graph"])[0] == "Add operator…"
    texts = [row.text for row in rows(window)]
    assert "Keyboard Shortcuts…" not in texts and texts.count("Shortcuts") == 1


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_large_text_takes_words_off_the_toolbar_and_never_a_button(window: MainWindow, percent: int) -> None:
    window.frame.resize(1280, 800)
    window.frame.show()
    try:
        window.set_theme(window.theme, percent / 100)
        QApplication.sendPostedEvents()
        window.frame.toolbar.layout().activate()
        bar = window.frame.toolbar
        shown = [bar.widgetForAction(action) for action in bar.actions() if action.isVisible()]
        assert all(widget.isVisible() and widget.geometry().right() < bar.width() for widget in shown)
        assert all(button.toolTip() for button in window.toolbar.overlay_buttons)
    finally:
        window.set_theme(window.theme, 1.0)


def test_menus_are_written_as_sentences_are(window: MainWindow) -> None:
    """A word behind the first is a proper name, or begins with a small letter."""
    menus = [name for row in window.actions.rows for name in (row.text, *row.menu.split("/"))]
    words = [(name, word) for name in menus for word in re.findall(r"[\w']+", name)[1:]]
    assert [name for name, word in words if word[0].isupper() and word not in PROPER] == []
