"""The preferences: every row takes effect at once, is kept, and can be reset."""

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyle
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import Header
from gradstudio.ui import theme as themes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.gestures.pointer import Drift
from gradstudio.ui.dialogs.preferences.preference_fields import ChoiceField, NumberField, SwitchField
from gradstudio.ui.dialogs.preferences.preference_rows import PAGES, ROWS, Choice, Number
from gradstudio.ui.dialogs.preferences.preferences_dialog import PreferencesDialog
from gradstudio.ui.state.settings import Preferences, Settings
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import TextScale
from tests.ui.conftest import Add

Key = Qt.Key


@pytest.fixture
def dialog(window: MainWindow, qapp: QApplication) -> Iterator[PreferencesDialog]:
    yield window.shell.show_preferences()
    if window.shell.dialog is not None:
        window.shell.dialog.close()
    window.settings.change(**msgspec.structs.asdict(Preferences()))
    themes.apply(qapp, window.theme, 1.0)


def choose(dialog: PreferencesDialog, field: str, words: str) -> None:
    """Choose by keys, as in any list."""
    box = dialog.fields[field]
    assert isinstance(box, ChoiceField)
    row = box.findText(words)
    while box.currentIndex() != row:
        QTest.keyClick(box, Key.Key_Down if row > box.currentIndex() else Key.Key_Up)


def enter(dialog: PreferencesDialog, field: str, number: int) -> None:
    box = dialog.fields[field]
    assert isinstance(box, NumberField)
    box.selectAll()
    QTest.keyClicks(box, str(number))
    QTest.keyClick(box, Key.Key_Return)


def test_every_row_is_a_field_with_a_sentence_and_fits_its_first_value() -> None:
    first = msgspec.structs.asdict(Preferences())
    for row in ROWS:
        assert row.page in PAGES and row.words.endswith(".") and row.field in first, row.field
        if isinstance(row.kind, Choice):
            assert first[row.field] in [value for value, _ in row.kind.values], row.field
        if isinstance(row.kind, Number):
            assert row.kind.low <= first[row.field] <= row.kind.high, row.field
    assert len({row.field for row in ROWS}) == len(ROWS)


@pytest.mark.feature(85)
def test_a_theme_is_chosen_and_holds_at_once(window: MainWindow, dialog: PreferencesDialog, qapp: QApplication) -> None:
    for words, name in (("Light", "light"), ("High contrast", "high_contrast"), ("Dark", "dark")):
        choose(dialog, "theme", words)
        assert window.theme.name == window.settings.preferences.theme == name
        assert qapp.palette().window().color() == window.theme.color("surface")
        assert window.actions[f"view.theme_{name}"].isChecked()


@pytest.mark.feature(87)
def test_less_motion_a_wider_click_and_slower_pictures_hold_at_once(
    window: MainWindow, dialog: PreferencesDialog
) -> None:
    box = dialog.fields["reduced_motion"]
    assert isinstance(box, SwitchField)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    assert window.canvas.gliding.reduced_motion and window.actions["view.reduced_motion"].isChecked()
    enter(dialog, "click_drift_px", 9)
    assert Drift.px == 9.0
    enter(dialog, "frames_per_second", 5)
    assert window.settings.preferences.frames_per_second == 5


@pytest.mark.feature(87)
def test_a_press_that_drifts_less_than_chosen_is_a_click(
    window: MainWindow, dialog: PreferencesDialog, add: Add, qtbot: QtBot
) -> None:
    item, graph, canvas = add("torch.randn"), window.session.graph_store.graph, window.canvas
    canvas.navigation.fit_all()
    canvas.navigation.travel.finish()
    before = graph.places[item]
    place = canvas.scene.placement.box(item)
    assert place is not None
    box = canvas.camera.box_to_view(place)
    start = QPoint(round(box.x + box.width / 2), round(box.y + 8))

    def drag(by: int) -> None:
        view = canvas.viewport()
        QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
        QTest.mouseMove(view, start + QPoint(by, 0))
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=start + QPoint(by, 0))

    enter(dialog, "click_drift_px", 15)
    drag(12)
    assert graph.places[item] == before
    drag(40)
    assert graph.places[item] != before


@pytest.mark.feature(87)
def test_tooltips_wait_as_long_as_chosen(window: MainWindow, dialog: PreferencesDialog, qapp: QApplication) -> None:
    hint = QStyle.StyleHint.SH_ToolTip_WakeUpDelay
    usual = window.canvas.style().styleHint(hint)
    enter(dialog, "tooltip_ms", 1500)
    assert window.canvas.style().styleHint(hint) == 1500
    enter(dialog, "tooltip_ms", usual)
    assert window.canvas.style().styleHint(hint) == usual


@pytest.mark.feature(87)
def test_a_throttle_keeps_the_pace_that_was_set(qtbot: QtBot) -> None:
    throttle = Throttle(10_000)
    throttle.set_interval(1)
    with qtbot.waitSignal(throttle.due):
        throttle.request()


def test_text_of_the_window_grows_everywhere_and_shrinks_again(window: MainWindow, dialog: PreferencesDialog) -> None:
    label = window.inspector
    before, search = label.font().pixelSize(), window.code.editor.font().pixelSize()
    enter(dialog, "ui_scale", 150)
    assert TextScale.factor == 1.5
    assert window.code.editor.font().pixelSize() == round(search * 1.5)
    assert QApplication.font().pixelSize() == round(before * 1.5)
    for factor in (110, 130, 100):
        enter(dialog, "ui_scale", factor)
    assert window.code.editor.font().pixelSize() == search


def test_text_of_the_canvas_grows_and_stays_100_percent(
    window: MainWindow, dialog: PreferencesDialog, add: Add
) -> None:
    add("torch.randn")
    window.canvas.navigation.zoom_reset()
    window.canvas.navigation.travel.finish()
    enter(dialog, "canvas_scale", 150)
    assert window.canvas.navigation.zoom == pytest.approx(1.5)
    assert window.status.zoom.text() == "100 %"


def test_a_page_is_reset(window: MainWindow, dialog: PreferencesDialog, settings: Settings) -> None:
    choose(dialog, "theme", "Light")
    enter(dialog, "click_drift_px", 9)
    dialog.reset_page()
    assert settings.preferences.theme == "system" and settings.preferences.click_drift_px == 4
    assert dialog.fields["click_drift_px"].property("value") == 4


def test_what_a_menu_changes_is_shown_in_the_dialog(window: MainWindow, dialog: PreferencesDialog) -> None:
    window.actions["view.theme_light"].trigger()
    box = dialog.fields["theme"]
    assert isinstance(box, ChoiceField) and box.currentText() == "Light"


def test_it_opens_once_and_escape_closes_it(window: MainWindow, dialog: PreferencesDialog, qtbot: QtBot) -> None:
    assert window.shell.show_preferences() is dialog
    QTest.keyClick(dialog, Key.Key_Escape)
    qtbot.waitUntil(lambda: window.shell.dialog is None)


@pytest.mark.feature(87)
def test_new_documents_have_the_seed_and_the_device_that_were_chosen(
    window: MainWindow, dialog: PreferencesDialog
) -> None:
    assert window.session.graph_store.graph.header == Header(seed=0, device="cpu")
    choose(dialog, "new_device", "CUDA where there is one")
    enter(dialog, "new_seed", 7)
    assert window.session.graph_store.graph.header == Header(seed=0, device="cpu")  # not that of others
    window.actions["file.new"].trigger()
    assert window.session.graph_store.graph.header == Header(seed=7, device="auto")
    assert window.toolbar.device.currentText() == "auto" and window.session.is_untouched
    assert not window.session.graph_store.undo_stack.canUndo()
    enter(dialog, "new_seed", -1)
    window.actions["file.new"].trigger()
    assert window.session.graph_store.graph.header.seed is None
