"""How the window looks: themes, palette and style sheet, icons. Values live in `resources/themes`."""

from gradstudio.ui.theme.icons import icon, tinted
from gradstudio.ui.theme.model import Theme, ThemeName, dtype_family, mono_font, theme, ui_font
from gradstudio.ui.theme.style import apply, resolve

__all__ = ["Theme", "ThemeName", "apply", "dtype_family", "icon", "mono_font", "resolve", "theme", "tinted", "ui_font"]
