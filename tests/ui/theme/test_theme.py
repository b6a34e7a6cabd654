"""Themes: every colour can be read, every category has one, icons take the colour asked for."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.operators.catalogue.loader import load
from gradstudio.ui.theme import Theme, ThemeName, apply, dtype_family, icon_pixmap, style_late, theme
from gradstudio.ui.theme.contrast import TEXT, contrast, poor_pairs
from gradstudio.ui.theme.style import edge, style_sheet


@pytest.fixture(params=get_args(ThemeName))
def look(request: pytest.FixtureRequest) -> Theme:
    name: ThemeName = request.param
    return theme(name)


@pytest.mark.feature(85)
def test_every_text_can_be_read_and_every_mark_seen(look: Theme) -> None:
    assert [pair.words for pair in poor_pairs(look)] == []


def test_a_theme_that_cannot_be_read_is_found_out(look: Theme) -> None:
    words = [pair.words for pair in poor_pairs(msgspec.structs.replace(look, text=look.surface, focus=look.canvas))]
    assert "text on surface has a contrast of 1.0; it takes 4.5" in words
    assert "focus on canvas has a contrast of 1.0; it takes 3" in words


def test_contrast_is_that_of_wcag() -> None:
    black, white = QColor("black"), QColor("white")
    assert contrast(black, white) == pytest.approx(21.0)
    assert contrast(QColor("#777777"), white) == pytest.approx(4.478, abs=0.001)
    assert contrast(QColor(0, 0, 0, 0), white) == pytest.approx(1.0)


def test_titles_can_be_read_on_the_header_of_any_category(look: Theme) -> None:
    for category in (*look.categories, "never heard of it", ""):
        assert contrast(look.color("header_text"), look.category_color(category)) >= TEXT, category
        assert contrast(look.category_mark(category), look.color("surface")) >= TEXT, category


def test_every_category_of_the_catalogue_has_a_colour_of_its_choice(look: Theme) -> None:
    assert list(load().categories) == list(look.categories)
    assert set(look.categories.values()) <= set(look.hues)


def test_the_colour_of_a_tensor_says_its_dtype_family(look: Theme) -> None:
    families = [dtype_family(name) for name in ("torch.float32", "bfloat16", "int64", "uint8", "bool", "complex64", "")]
    assert families == ["floating", "floating", "integer", "integer", "bool", "complex", "floating"]
    assert look.family_color("tensor", "int64") == QColor(look.families["integer"])
    assert look.family_color("who knows") == QColor(look.families["unknown"])


def test_the_style_sheet_leaves_no_placeholder(look: Theme) -> None:
    assert not re.findall(r"@\w+@", style_sheet(look))


def test_icons_are_painted_in_the_colour_asked_for(qapp: object) -> None:
    for path in sorted((paths.resources() / "icons").glob("*.svg")):
        if "currentColor" not in path.read_text():
            continue
        image = icon_pixmap(path.stem, QColor("#ff0000"), 24).toImage()
        colors = {
            image.pixelColor(x, y).name() for x in range(24) for y in range(24) if image.pixelColor(x, y).alpha() > 250
        }
        assert colors == {"#ff0000"}, path.stem


def test_no_other_module_of_the_window_names_a_colour() -> None:
    folder = paths.resources().parent / "gradstudio" / "ui"
    named = [
        f"{path.name}: {found}"
        for path in sorted(folder.rglob("*.py"))
        for found in re.findall(r"[\"'](#[0-9a-fA-F]{6,8})[\"']", path.read_text())
    ]
    assert named == []


def test_the_same_theme_again_restyles_nothing(qtbot: QtBot, qapp: QApplication) -> None:
    class Counting(QLabel):
        count = 0

        def changeEvent(self, event: QEvent) -> None:
            self.count += event.type() == QEvent.Type.StyleChange
            super().changeEvent(event)

    apply(qapp, theme("dark"))
    label = Counting("words")
    qtbot.addWidget(label)
    apply(qapp, theme("dark"))
    assert label.count == 0
    apply(qapp, theme("light"))
    assert label.count > 0
    before = label.count
    apply(qapp, theme("light"), 1.5)
    assert label.count > before
    apply(qapp, theme("dark"), 1.0)


def test_an_icon_that_was_drawn_is_not_drawn_again(qapp: QApplication) -> None:
    red, blue = QColor("red"), QColor("blue")
    assert icon_pixmap("close", red).cacheKey() == icon_pixmap("close", red).cacheKey()
    assert icon_pixmap("close", red).toImage() != icon_pixmap("close", blue).toImage()
    assert icon_pixmap("close", red, 24).width() == 24


def test_panels_are_told_apart_in_every_theme(look: Theme) -> None:
    assert contrast(QColor(edge(look)), look.color("surface")) >= (3.0 if look.name == "high_contrast" else 1.03)
    assert edge(look) != look.surface and "@" not in style_sheet(look).replace("@icons@", "")


def test_the_tick_in_a_box_has_the_colour_of_text_on_the_accent(look: Theme) -> None:
    found = re.search(r'checked \{[^}]*url\("([^"]+)"\)', style_sheet(look))
    assert found is not None
    drawn = Path(found[1]).read_text()
    color = re.search('stroke="(#[0-9a-f]{6})"', drawn)
    assert color is not None and drawn.count("<path") == 1
    assert contrast(QColor(color[1]), look.color("accent")) >= 4.5


def test_a_theme_change_styles_what_is_seen_once_and_the_rest_when_it_is_shown(
    qtbot: QtBot, qapp: QApplication
) -> None:
    class Watched(QLabel):
        changed = 0

        def event(self, event: QEvent) -> bool:
            self.changed += event.type() == QEvent.Type.StyleChange
            return super().event(event)

    def colour(label: QLabel) -> str:
        return label.palette().color(label.foregroundRole()).name()

    apply(qapp, theme("dark"))
    top = QWidget()
    qtbot.addWidget(top)
    room, hidden_room = QWidget(top), QWidget(top)
    seen, unseen = Watched(QWidget(QWidget(room))), Watched(QWidget(QWidget(hidden_room)))
    for label in (seen, unseen):
        label.setProperty("role", "danger")
    hidden_room.hide()
    top.show()
    seen.changed = 0
    apply(qapp, theme("light"), unseen=[hidden_room])
    assert seen.changed <= 2, "taken off, and put on: never once for each of its ancestors"
    assert colour(seen) == theme("light").danger
    style_late([hidden_room])
    hidden_room.show()
    assert colour(unseen) == theme("light").danger
    unseen.changed = 0
    style_late([hidden_room])
    assert unseen.changed == 0
