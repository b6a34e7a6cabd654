"""Themes of one's own: files that are read, checked, chosen; the system's light and dark are followed."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstudio import paths
from gradstudio.ui import theme as themes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.command_palette import Palette
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme.user_themes import UserThemes, read


def problems(**roles: object) -> tuple[str, ...]:
    return read(json.dumps(roles).encode(), "mine").problems


@pytest.fixture
def folder(settings: Settings) -> Path:
    made = settings.folder / "themes"
    made.mkdir(parents=True)
    return made


@pytest.mark.feature(85)
def test_a_file_with_a_base_and_a_few_roles_is_a_theme() -> None:
    found = read(b'{"base": "light", "accent": "#003b8e", "families": {"bool": "#7a3d00"}}', "mine")
    assert found.problems == ()
    assert (found.theme.name, found.theme.dark, found.theme.accent) == ("own:mine", False, "#003b8e")
    assert found.theme.families["bool"] == "#7a3d00"
    assert found.theme.families["text"] == themes.theme("light").families["text"]


def test_what_is_wrong_with_a_file_is_said() -> None:
    assert problems(acent="#003b8e") == ("mine.json: there is no role 'acent'; did you mean 'accent'?",)
    assert "colours are written" in problems(accent="blue")[0]
    assert "colours are written" in problems(syntax={"keyword": "#12"})[0]
    assert "has no boole; it has floating" in problems(families={"boole": "#ffffff"})[0]
    assert "base must be one of dark, light, high_contrast" in problems(base="dusk")[0]
    assert "Dark is shown instead" in read(b"{", "mine").problems[0]
    assert "must be an object" in read(b"[]", "mine").problems[0]
    assert "Expected" in problems(dark=3)[0]


def test_a_theme_that_is_hard_to_read_can_be_used_but_is_told() -> None:
    found = read(b'{"base": "dark", "text": "#333333"}', "mine")
    assert found.theme.text == "#333333"
    assert "can be used, but not all of it can be seen well: text on window has a contrast of" in found.problems[0]


def test_a_file_that_went_away_is_no_crash(tmp_path: Path) -> None:
    found = UserThemes(tmp_path).load("own:gone")
    assert found.theme == themes.theme("dark") and "gone.json cannot be read" in found.problems[0]


def test_the_example_of_the_documentation_is_a_theme_without_problems() -> None:
    text = (paths.resources().parent / "docs" / "themes.md").read_text(encoding="utf-8")
    example = text.split("```json\n")[1].split("```")[0]
    assert read(example.encode(), "example").problems == ()


@pytest.mark.feature(85)
def test_a_theme_of_ones_own_is_chosen_from_the_menu_and_read_again_when_chosen_again(
    window: MainWindow, folder: Path, qapp: QApplication
) -> None:
    (folder / "midnight.json").write_text('{"base": "dark", "surface": "#000010"}')
    palette = _open_palette(window)
    QTest.keyClicks(palette.field, "midnight")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert window.settings.preferences.theme == window.theme.name == "own:midnight"
    assert qapp.palette().window().color().name() == "#000010"
    (folder / "midnight.json").write_text('{"base": "dark", "surface": "#000020", "nonsense": 1}')
    palette = _open_palette(window)
    QTest.keyClicks(palette.field, "midnight")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert qapp.palette().window().color().name() == "#000020"
    assert "no role 'nonsense'" in window.status.message.full
    window.actions["view.theme_dark"].trigger()


@pytest.mark.feature(85)
def test_the_system_becoming_light_or_dark_is_followed_only_where_that_was_chosen(window: MainWindow) -> None:
    hints = QApplication.styleHints()
    window.actions["view.theme_light"].trigger()
    assert window.theme.name == "light"
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert window.theme.name == "light"
    window.actions["view.theme_system"].trigger()
    assert window.theme.name == themes.resolve("system")
    window.set_theme(themes.theme("high_contrast"))
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert window.theme.name == themes.resolve("system")


def _open_palette(window: MainWindow) -> Palette:
    window.shell.palette()
    assert window.shell.opened is not None
    return window.shell.opened
