"""Themes: every colour can be read, every category has one, icons take the colour asked for."""

import re

import pytest
from PySide6.QtGui import QColor

from gradstudio import paths
from gradstudio.operators.catalogue import load
from gradstudio.ui.theme import Theme, ThemeName, dtype_family, theme, tinted
from gradstudio.ui.theme.style import style_sheet

READABLE = 4.5
TEXTS = ("text", "text_dim", "danger", "warning", "ok", "info", "accent")
GROUNDS = ("window", "surface", "surface_raised", "field", "canvas", "card", "card_well")
MARKED_LINES = ("running", "failing", "selected")


def luminance(color: QColor) -> float:
    parts = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str | QColor, other: str | QColor) -> float:
    low, high = sorted((luminance(QColor(one)), luminance(QColor(other))))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["dark", "light"])
def look(request: pytest.FixtureRequest) -> Theme:
    name: ThemeName = request.param
    return theme(name)


def test_every_text_can_be_read_on_every_ground(look: Theme) -> None:
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS]
    poor = [pair for pair in pairs if contrast(look.color(pair[0]), look.color(pair[1])) < READABLE]
    assert poor == []


def test_ports_and_wires_can_be_seen_on_canvas_and_card(look: Theme) -> None:
    for family, color in look.families.items():
        assert contrast(color, look.canvas) >= READABLE, family
        assert contrast(color, look.card) >= READABLE, family


def test_titles_can_be_read_on_every_header_and_marks_seen_in_lists(look: Theme) -> None:
    for category in (*look.categories, "never heard of it", ""):
        assert contrast(look.header_text, look.category_color(category)) >= READABLE, category
        assert contrast(look.category_mark(category), look.surface) >= READABLE, category


def test_code_can_be_read_also_on_marked_lines(look: Theme) -> None:
    grounds = [look.field, look.surface, *(getattr(look.syntax, name) for name in MARKED_LINES)]
    inks = [name for name in look.syntax.__struct_fields__ if name not in MARKED_LINES]
    poor = [
        (ink, ground) for ink in inks for ground in grounds if contrast(getattr(look.syntax, ink), ground) < READABLE
    ]
    assert poor == []


def test_every_category_of_the_catalogue_has_a_colour_of_its_choice(look: Theme) -> None:
    assert set(load().categories) <= set(look.categories)
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
        image = tinted(path.stem, QColor("#ff0000"), 24).toImage()
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
