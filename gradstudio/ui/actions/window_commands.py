"""Commands about the program itself: the palette of all commands, preferences, keys, themes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from gradstudio.ui import theme as themes
from gradstudio.ui.actions.action_set import ActionRow, MenuRow, Row, say_empty
from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.app.window.zen_mode import ZenMode

if TYPE_CHECKING:
    from gradstudio.ui.dialogs.command_palette import Palette
    from gradstudio.ui.dialogs.preferences.preferences_dialog import PreferencesDialog

MAX_RECENT = 12


class WindowCommands:
    """Opens what stands around the document."""

    def __init__(self, window: WindowHost, dress: Callable[[], None]) -> None:
        """Keep the window for later; `dress` takes up the theme that is chosen, read again."""
        self._window, self._dress = window, dress
        self.canvas_only = ZenMode(window)
        self.opened: Palette | None = None
        self.dialog: PreferencesDialog | None = None

    def palette(self) -> None:
        """Offer every command to choose from."""
        from gradstudio.ui.dialogs.command_palette import Palette

        if self.opened is not None:
            self.opened.close_now()
        window = self._window
        window.actions.refresh()
        recent = window.settings.preferences.recent_commands
        made = Palette(window.frame, window.actions, window.theme, recent)
        made.chosen.connect(self._on_palette_chosen)
        made.closed.connect(self._on_palette_closed)
        self.opened = made
        made.open()

    def preferences(self) -> None:
        """Everything that can be chosen."""
        self.show_preferences()

    def keys(self) -> None:
        """Every command and its keys, to change them."""
        from gradstudio.ui.dialogs.preferences.preference_rows import KEYS

        self.show_preferences(KEYS)

    def shortcuts(self) -> None:
        """Show what keys and mouse do now."""
        from gradstudio.ui.dialogs.shortcut_sheet import ShortcutDialog, sheet_lines

        window = self._window
        dialog = ShortcutDialog(sheet_lines(window.key_map.lines()), window.frame)
        dialog.change.clicked.connect(dialog.reject)
        dialog.change.clicked.connect(self.keys)
        dialog.exec()
        dialog.deleteLater()

    def show_preferences(self, page: str = "") -> "PreferencesDialog":
        """Open the preferences, or bring them forward; on a page, where one is named."""
        from gradstudio.ui.dialogs.preferences.preferences_dialog import PreferencesDialog

        window, dialog = self._window, self.dialog
        if dialog is None:
            dialog = PreferencesDialog(window.settings, window.key_map, self.themes, window.theme, window.frame)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.destroyed.connect(self._on_dialog_destroyed)
            self.dialog = dialog
        if page:
            dialog.show_page(page)
        dialog.show()
        dialog.activateWindow()
        return dialog

    def themes(self) -> tuple[tuple[str, str], ...]:
        """Themes that can be chosen, with titles."""
        return themes.choices(self._window.settings.folder)

    def fill_own_themes(self, menu: QMenu) -> None:
        """Put the person's own themes into a menu."""
        chosen = self._window.settings.preferences.theme
        for name, title in self.themes():
            if name not in themes.TITLES:
                action = menu.addAction(title)
                action.setCheckable(True)
                action.setChecked(name == chosen)
                action.triggered.connect(partial(self.choose_theme, name))
        if menu.isEmpty():
            say_empty(menu, "None yet: see the folder in Preferences")

    def choose_theme(self, name: str, _checked: bool = False) -> None:
        """Take up a theme and remember it; one that is chosen already is read again."""
        if name == self._window.settings.preferences.theme:
            self._dress()
        else:
            self._window.settings.change(theme=name)

    def theme_is(self, name: str) -> bool:
        """Whether that is the theme chosen."""
        return self._window.settings.preferences.theme == name

    def _on_dialog_destroyed(self) -> None:
        self.dialog = None

    def _on_palette_chosen(self, key: object) -> None:
        used = str(key)
        settings = self._window.settings
        rest = tuple(other for other in settings.preferences.recent_commands if other != used)
        settings.change(recent_commands=(used, *rest)[:MAX_RECENT])

    def _on_palette_closed(self) -> None:
        self.opened = None


def shell_rows(c: WindowCommands) -> tuple[Row, ...]:
    """What finds and changes the commands themselves."""
    palette = "Every command by a few letters of its name"
    return (
        *_theme_rows(c),
        ActionRow(
            "view.canvas_only",
            "Canvas only",
            "View",
            3,
            c.canvas_only.toggle,
            ("Ctrl+Alt+F",),
            "fit",
            checked=c.canvas_only.is_on,
            tooltip="All panels and the timeline away; once more brings exactly them back",
        ),
        ActionRow(
            "help.palette", "Command palette…", "Help", 2, c.palette, ("Ctrl+Shift+P",), "search", tooltip=palette
        ),
        ActionRow("help.shortcuts", "Shortcuts", "Help", 2, c.shortcuts, ("Ctrl+/",), "keyboard"),
        ActionRow(
            "edit.preferences",
            "Preferences…",
            "Edit",
            9,
            c.preferences,
            ("Ctrl+,",),
            "preferences",
            tooltip="Theme, text, canvas, runs, files and keys",
        ),
    )


def _theme_rows(c: WindowCommands) -> Iterator[Row]:
    for name, title in themes.TITLES.items():
        choose, is_on = partial(c.choose_theme, name), partial(c.theme_is, name)
        yield ActionRow(f"view.theme_{name}", title, "View/Theme", 3, choose, checked=is_on)
    yield MenuRow("Own themes", "View", 3, c.fill_own_themes)
