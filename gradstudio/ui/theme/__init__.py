"""How the window looks: themes, palette and style sheet, icons. Values live in `resources/themes`."""

from gradstudio.ui.theme.icons import icon, tinted
from gradstudio.ui.theme.model import (
    TextScale,
    Theme,
    Themed,
    ThemeName,
    dtype_family,
    mono_font,
    scaled,
    scene_font,
    theme,
    ui_font,
)
from gradstudio.ui.theme.style import ToolTips, apply
from gradstudio.ui.theme.theme_choice import SYSTEM, TITLES, choices, find, resolve

__all__ = [
    "SYSTEM",
    "TITLES",
    "TextScale",
    "Theme",
    "ThemeName",
    "Themed",
    "ToolTips",
    "apply",
    "choices",
    "dtype_family",
    "find",
    "icon",
    "mono_font",
    "resolve",
    "scaled",
    "scene_font",
    "theme",
    "tinted",
    "ui_font",
]
