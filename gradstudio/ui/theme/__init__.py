"""How the window looks: themes, palette and style sheet, icons. Values live in `resources/themes`."""

from gradstudio.ui.theme.icons import icon, icon_pixmap
from gradstudio.ui.theme.model import (
    TextScale,
    Theme,
    ThemedWidget,
    ThemeName,
    dtype_family,
    mono_font,
    scale_px,
    scene_font,
    theme,
    ui_font,
)
from gradstudio.ui.theme.style import ToolTips, apply, style_late
from gradstudio.ui.theme.theme_choice import SYSTEM, TITLES, choices, find, resolve

__all__ = [
    "SYSTEM",
    "TITLES",
    "TextScale",
    "Theme",
    "ThemeName",
    "ThemedWidget",
    "ToolTips",
    "apply",
    "choices",
    "dtype_family",
    "find",
    "icon",
    "icon_pixmap",
    "mono_font",
    "resolve",
    "scale_px",
    "scene_font",
    "style_late",
    "theme",
    "ui_font",
]
