"""Makes what a person chose in the preferences true, at the start and whenever it is changed."""

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from gradstudio.ui import theme as themes
from gradstudio.ui.actions.view_commands import wire_view
from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.canvas.gestures.pointer import Drift
from gradstudio.ui.state.settings import Preferences

OF_ITSELF = (
    *("recent", "recent_operators", "recent_commands", "favourites", "habits", "folder", "export_form"),
    *("open_documents", "open_place", "minimap_px", "timeline", "timeline_px", "welcome", "tour_done"),
)
"""Fields that the window notes by itself: nothing follows them."""


class TakesPreferences(Protocol):
    """A document as it is seen and worked on."""

    def take_preferences(self, chosen: Preferences) -> None:
        """Be as this person wants it."""


class PreferenceApplier(QObject):
    """Follows the preferences; knows which of them hold already."""

    def __init__(
        self, window: WindowHost, documents_now: Callable[[], Iterable[TakesPreferences]], parent: QObject
    ) -> None:
        """The window stands in the theme and text size that were chosen; its documents took up theirs."""
        super().__init__(parent)
        self._window, self._held = window, window.settings.preferences
        self._documents_now = documents_now
        Drift.px = float(self._held.click_drift_px)
        window.settings.changed.connect(self._on_settings_changed)
        QApplication.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    def dress(self) -> None:
        """Take up the theme and the size of text that were chosen; a theme's file is read again."""
        window, held = self._window, self._held
        found = themes.find(held.theme, window.settings.folder)
        themes.ToolTips.delay_ms = held.tooltip_ms
        window.set_theme(found.theme, held.ui_scale / 100)
        for problem in found.problems:
            window.status.say(problem)
        window.actions.refresh()

    def _on_settings_changed(self, now: Preferences) -> None:
        held, self._held, window = self._held, now, self._window
        if held == msgspec.structs.replace(now, **{name: getattr(held, name) for name in OF_ITSELF}):
            return
        if (held.theme, held.ui_scale, held.tooltip_ms) != (now.theme, now.ui_scale, now.tooltip_ms):
            self.dress()
        Drift.px, window.shelf.carries = float(now.click_drift_px), now.ghost_placing
        if wire_view(now) != window.overlays.wires:
            window.overlays.show_wires(wire_view(now))
        for document in self._documents_now():
            document.take_preferences(now)
        window.actions.refresh()

    def _on_scheme_changed(self, *_said: object) -> None:
        """The desktop became light or dark."""
        if self._held.theme == themes.SYSTEM:
            self.dress()
