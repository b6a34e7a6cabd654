"""Commands about the program itself: the palette of all commands, preferences, keys, themes."""

from typing import Protocol

from gradstudio.ui.actions import ActionSet
from gradstudio.ui.main_window_frame import Frame
from gradstudio.ui.settings import Settings
from gradstudio.ui.shell.palette import Palette
from gradstudio.ui.theme import Theme

MAX_RECENT = 12


class Room(Protocol):
    """What of the window is needed; its actions exist when a command is done, not before."""

    frame: Frame
    settings: Settings
    theme: Theme
    actions: ActionSet


class ShellCommands:
    """Opens what stands around the document."""

    def __init__(self, room: Room) -> None:
        """Keep the window for later."""
        self._room = room
        self.opened: Palette | None = None

    def palette(self) -> None:
        """Offer every command to choose from."""
        if self.opened is not None:
            self.opened.close_now()
        room = self._room
        room.actions.refresh()
        recent = room.settings.preferences.recent_commands
        made = Palette(room.frame, room.actions, room.theme, recent)
        made.chosen.connect(self._on_palette_chosen)
        made.closed.connect(self._on_palette_closed)
        self.opened = made
        made.open()

    def _on_palette_chosen(self, key: object) -> None:
        used = str(key)
        settings = self._room.settings
        rest = tuple(other for other in settings.preferences.recent_commands if other != used)
        settings.change(recent_commands=(used, *rest)[:MAX_RECENT])

    def _on_palette_closed(self) -> None:
        self.opened = None
