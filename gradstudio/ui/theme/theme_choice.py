"""Which theme a person's choice means here and now."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gradstudio.ui.theme.model import ThemeName, theme

if TYPE_CHECKING:
    from gradstudio.ui.theme.user_themes import ThemeReading

SYSTEM: Final = "system"
TITLES: Final[dict[str, str]] = {
    SYSTEM: "System",
    "light": "Light",
    "dark": "Dark",
    "high_contrast": "High contrast",
}
"""What can always be chosen."""


def resolve(choice: str) -> ThemeName:
    """The theme of the program that a choice means here and now; dark where the system does not say."""
    match choice:
        case "light" | "dark" | "high_contrast":
            return choice
    if _wants_contrast():
        return "high_contrast"
    scheme = QApplication.styleHints().colorScheme()
    return "light" if scheme == Qt.ColorScheme.Light else "dark"


def find(choice: str, folder: Path) -> "ThemeReading":
    """The theme of a choice, a file of that folder's `themes` when it begins with "own:"."""
    from gradstudio.ui.theme.user_themes import PREFIX, ThemeReading, UserThemes

    if choice.startswith(PREFIX):
        return UserThemes(folder / "themes").load(choice)
    return ThemeReading(theme(resolve(choice)))


def choices(folder: Path) -> tuple[tuple[str, str], ...]:
    """All that can be chosen, with titles."""
    from gradstudio.ui.theme.user_themes import PREFIX, UserThemes

    own = UserThemes(folder / "themes").names()
    return (*TITLES.items(), *((name, name.removeprefix(PREFIX)) for name in own))


def _wants_contrast() -> bool:
    """Whether the desktop asks for high contrast."""
    hints = QApplication.styleHints()
    if not hasattr(hints, "accessibility"):  # Qt before 6.10
        return False
    return bool(hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast)
