"""The welcome page, by mouse and keys."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.document.file import save
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.ui import theme as themes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.paint.picture_export import render_thumbnail
from gradstudio.ui.canvas.paint.primitives.canvas_style import WholeWords
from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.welcome.example_gallery import Example, Group
from gradstudio.ui.welcome.tiles import LINES, PAD_PX, wrap_words
from gradstudio.ui.welcome.welcome_page import Shelf, WelcomePage
from tests.ui.conftest import Add

Key, Left = Qt.Key, Qt.MouseButton.LeftButton


def welcome(window: MainWindow) -> WelcomePage:
    """The page as Help ▸ Welcome shows it, with the keys."""
    window.actions["help.welcome"].trigger()
    page = window.learning.greeting.page
    assert page is not None and page.isVisible()
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    return page


def press(*keys: Key) -> None:
    """Press keys where the focus is."""
    for key in keys:
        focused = QApplication.focusWidget()
        assert focused is not None
        QTest.keyClick(focused, key)


def titles(window: MainWindow) -> list[str]:
    return [tab.session.title for tab in window.documents.tabs]


def test_a_start_without_a_file_shows_it_unless_a_person_wants_none(window: MainWindow) -> None:
    window.settings.change(welcome=False)
    window.learning.greet()
    assert not window.learning.greeting.is_shown
    window.settings.change(welcome=True)
    window.learning.greet()
    assert window.learning.greeting.is_shown
    assert not window.session.graph_store.graph.nodes


@pytest.mark.feature(74, 83)
def test_an_example_opens_with_one_click(window: MainWindow) -> None:
    page = welcome(window)
    QTest.mouseClick(page.examples[2], Left)
    assert not window.learning.greeting.is_shown
    assert window.session.title == "linear regression" and window.session.path is None
    assert len(window.documents.tabs) == 1


@pytest.mark.feature(83)
def test_arrows_and_enter_reach_an_example(window: MainWindow) -> None:
    page = welcome(window)
    assert page.verbs["tour"].hasFocus()
    press(Key.Key_Right, Key.Key_Right)
    assert page.examples[1].hasFocus()
    press(Key.Key_Down)
    below = next(example for example in page.examples if example.hasFocus())
    press(Key.Key_Return)
    assert window.session.title == below.accessibleName().lower()
    assert window.canvas.hasFocus()


def test_tab_goes_round_on_the_page_and_not_below_it(window: MainWindow) -> None:
    page = welcome(window)
    number = len(page.verbs) + len(page.examples) + 1
    press(*[Key.Key_Tab] * number)
    assert page.verbs["tour"].hasFocus()
    press(Key.Key_Backtab)
    assert page.examples[-1].hasFocus()


@pytest.mark.feature(74)
def test_a_recent_file_opens_with_enter_and_says_where_it_is(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "mine.gsg"
    save(Graph(), path)
    window.settings.add_recent(path)
    window.settings.change(tour_done=True)
    page = welcome(window)
    place = page.recent[0]
    assert place.accessibleName() == "mine.gsg"
    assert str(tmp_path) in place.accessibleDescription() and "Saved today" in place.accessibleDescription()
    assert page.verbs["new"].hasFocus()
    press(Key.Key_Down, Key.Key_Down, Key.Key_Down, Key.Key_Return)
    assert window.session.path == path and not window.learning.greeting.is_shown


def test_new_is_an_empty_canvas_and_no_second_one(window: MainWindow, add: Add) -> None:
    page = welcome(window)
    QTest.mouseClick(page.verbs["new"], Left)
    assert titles(window) == ["Untitled"] and window.canvas.hasFocus()
    add("torch.randn")
    QTest.mouseClick(welcome(window).verbs["new"], Left)
    assert len(window.documents.tabs) == 2


def test_esc_leaves_it_and_so_does_whatever_opens_a_document(window: MainWindow, tmp_path: Path) -> None:
    greeting = window.learning.greeting
    welcome(window)
    press(Key.Key_Escape)
    assert not greeting.is_shown and window.canvas.hasFocus()
    welcome(window)
    window.actions["file.new"].trigger()
    assert not greeting.is_shown
    welcome(window)
    save(Graph(), tmp_path / "mine.gsg")
    window.documents.open(tmp_path / "mine.gsg")
    assert not greeting.is_shown


def test_whether_it_is_shown_at_the_start_is_chosen_on_it(window: MainWindow) -> None:
    page = welcome(window)
    assert page.at_start.isChecked()
    page.at_start.setFocus()
    press(Key.Key_Space)
    assert not window.settings.preferences.welcome
    window.actions["help.welcome"].trigger()
    assert page.isVisible() and not page.at_start.isChecked()


def test_it_covers_all_but_the_menus_whatever_the_size(window: MainWindow) -> None:
    page = welcome(window)
    for size in ((1280, 800), (1920, 1080), (800, 600)):
        window.frame.resize(*size)
        assert page.geometry().bottomRight() == window.frame.rect().bottomRight()
        assert page.geometry().top() == window.frame.menuBar().geometry().bottom() + 1


@pytest.mark.parametrize("width_px", [1900, 1000, 620])
def test_columns_line_up_from_shelf_to_shelf_and_fill_the_width(qtbot: QtBot, dark: Theme, width_px: int) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    groups = [Group(f"of {n}", tuple(Example(Path(f"{k}.gsg"), "t", "s") for k in range(n))) for n in (3, 4, 5)]
    shelves = [Shelf(group, dark, page) for group in groups]
    for shelf in shelves:
        column.addWidget(shelf)
    page.resize(1400, 900)
    page.show()
    page.resize(width_px, 900)
    qtbot.waitUntil(lambda: page.width() == width_px)
    page.layout().activate()
    lefts = [[place.x() for place in shelf.places] for shelf in shelves]
    assert lefts[0] == lefts[1][:3] == lefts[2][:3]
    assert len({place.width() for shelf in shelves for place in shelf.places}) == 1
    row = [place for place in shelves[2].places if place.y() == shelves[2].places[0].y()]
    assert shelves[2].width() - row[-1].geometry().right() < 12


def pictures_seen(page: WelcomePage) -> int:
    return sum(not example._image.isNull() for example in page.examples)


@pytest.mark.parametrize("places", [[(0, 0), (4000, 0)], [(0, 0), (0, 3000)], [(0, 0)]])
def test_a_thumbnail_shows_all_cards_in_its_middle_at_its_own_size(dark: Theme, places: list[tuple[int, int]]) -> None:
    graph = Graph()
    for x, y in places:
        apply_all(graph, recipes.add_operator(graph, "torch.randn", x, y)[0])
    shown = render_thumbnail(graph, dark, QSize(240, 120))
    assert shown.size() == QSize(240, 120)
    seen = [(x, y) for x in range(240) for y in range(120) if shown.pixelColor(x, y).alpha() > 200]
    columns, rows = {x for x, _ in seen}, {y for _, y in seen}
    assert abs((min(columns) + max(columns)) - 239) <= 3 and abs((min(rows) + max(rows)) - 119) <= 3
    assert (
        len(places) == 1
        or max(len(columns) / 240, (max(columns) - min(columns)) / 240, (max(rows) - min(rows)) / 120) > 0.85
    )


@pytest.mark.parametrize("width", [1280, 1920])
def test_titles_and_sentences_of_examples_are_whole(window: MainWindow, width: int) -> None:
    window.frame.resize(width, 800 if width < 1500 else 1080)
    page = welcome(window)
    titles, words = QFontMetrics(ui_font(13, QFont.Weight.DemiBold)), QFontMetrics(ui_font(12))
    for example in page.examples:
        room = example.width() - 2 * PAD_PX - 4
        for most in range(room - 4, room + 5):
            lines = wrap_words(example.accessibleDescription(), words, most, LINES)
            assert not any("…" in line for line in lines), (example.text(), most)
        assert titles.horizontalAdvance(example.text()) <= room


def test_a_thumbnail_cuts_no_word(dark: Theme) -> None:
    meter = WholeWords()
    width = meter.width("backward", "plate_small")
    assert meter.elided("backward", "plate_small", width) == "backward"
    assert meter.elided("backward", "plate_small", width - 1) == ""
    pictures = []
    for name in ("a_name_that_has_no_room", "another_that_has_none_either"):
        graph = Graph()
        for x in range(0, 2000, 400):
            edits, item = recipes.add_operator(graph, "torch.tensor", x, 0)
            apply_all(graph, edits)
        apply_all(graph, recipes.rename(graph, item, (name,)))
        pictures.append(render_thumbnail(graph, dark, QSize(240, 120)))
    assert pictures[0] == pictures[1]


@pytest.mark.feature(83)
def test_pictures_follow_are_kept_and_are_those_of_the_theme(qtbot: QtBot, window: MainWindow) -> None:
    page = welcome(window)
    qtbot.waitUntil(lambda: pictures_seen(page) == len(page.examples))
    kept = window.settings.state_folder / "pictures"
    assert len(list(kept.glob("*.png"))) == len(page.examples)
    before = page.examples[0]._image
    page.set_theme(themes.theme("light"))
    assert pictures_seen(page) == 0
    qtbot.waitUntil(lambda: pictures_seen(page) == len(page.examples))
    assert page.examples[0]._image != before


def test_a_folder_that_cannot_be_written_costs_only_the_next_start(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    window.settings.state_folder.mkdir(parents=True, exist_ok=True)
    (window.settings.state_folder / "pictures").write_text("in the way")
    page = welcome(window)
    qtbot.waitUntil(lambda: pictures_seen(page) > 0)
    press(Key.Key_Escape)
