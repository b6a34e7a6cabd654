"""Which keys do what: every command and the canvas's own keys, with what a person chose; conflicts in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence

from gradstudio.ui.actions.action_set import ActionRow, ActionSet, default_keys
from gradstudio.ui.canvas.gestures.canvas_keys import OWN_KEYS, OwnKey
from gradstudio.ui.state.settings import Settings

CANVAS: Final = "Canvas"
FIXED: Final = {
    "Esc": "Esc always cancels what goes on",
    "Space": "Space pans while it is held",
    "Left": "the arrows move the selection",
    "Right": "the arrows move the selection",
    "Up": "the arrows move the selection",
    "Down": "the arrows move the selection",
}
"""Keys that no command gets, and why."""
STEP: Final = " › "


class KeyLine(NamedTuple):
    """One command and its keys.

    Attributes:
        keys, first: as files write them: those of now, and those at first.
        is_fixed: no other keys can be chosen.
    """

    id: str
    text: str
    place: str
    keys: tuple[str, ...]
    first: tuple[str, ...]
    is_fixed: bool = False

    @property
    def shown(self) -> str:
        """The keys as this system writes them."""
        return ", ".join(native(keys) for keys in self.keys)


class KeyMap(QObject):
    """The keys of one window; what a person chose is kept in the preferences.

    Signals:
        changed(): some command has other keys.
    """

    changed = Signal()

    def __init__(self, actions: ActionSet, settings: Settings, parent: QObject) -> None:
        """Take up what was chosen earlier; canvases take up their own keys themselves."""
        super().__init__(parent)
        self._actions, self._settings = actions, settings
        self._used: Mapping[str, tuple[str, ...]] | None = None
        self.take_up()
        settings.changed.connect(self.take_up)

    def take_up(self, *_said: object) -> None:
        """Give every command the keys that the preferences have for it."""
        chosen = self._settings.preferences.keys
        if chosen != self._used:
            self._used = dict(chosen)
            self._actions.use_keys(chosen)
            self.changed.emit()

    def lines(self) -> tuple[KeyLine, ...]:
        """Every command, in the order of the table, then the canvas's own keys."""
        return tuple(self._all())

    def line(self, command: str) -> KeyLine:
        """The line of a command."""
        return next(line for line in self._all() if line.id == command)

    def users(self, keys: str, but: str = "") -> tuple[KeyLine, ...]:
        """Who has these keys, `but` one."""
        return tuple(line for line in self._all() if keys in line.keys and line.id != but)

    def why_not(self, keys: str) -> str:
        """Why no command can have these keys; "" when one can."""
        return f"{native(keys)} stays as it is: {FIXED[keys]}." if keys in FIXED else ""

    def bind(self, command: str, keys: Sequence[str]) -> None:
        """Give a command keys, and take them from whoever has them."""
        chosen = dict(self._settings.preferences.keys)
        for one in keys:
            for other in self.users(one, command):
                self._note(chosen, other, tuple(kept for kept in chosen.get(other.id, other.keys) if kept != one))
        self._note(chosen, self.line(command), tuple(dict.fromkeys(keys)))
        self._settings.change(keys=chosen)

    def reset(self, command: str) -> None:
        """Give a command the keys that it has at first."""
        self.bind(command, self.line(command).first)

    def reset_all(self) -> None:
        """Every command has the keys that it has at first."""
        self._settings.change(keys={})

    def _note(self, chosen: dict[str, tuple[str, ...]], line: KeyLine, keys: tuple[str, ...]) -> None:
        """Keep only what is not as it is at first."""
        if keys == line.first:
            chosen.pop(line.id, None)
        else:
            chosen[line.id] = keys

    def _all(self) -> Iterator[KeyLine]:
        for row in self._actions.rows:
            if isinstance(row, ActionRow):
                keys = tuple(keys.toString() for keys in self._actions[row.id].shortcuts())
                yield KeyLine(row.id, row.text.rstrip("…"), row.menu.replace("/", STEP), keys, default_keys(row))
        chosen = self._settings.preferences.keys
        yield from (_own_line(own, chosen) for own in OWN_KEYS)


def keys_now(actions: ActionSet, settings: Settings, command: str) -> str:
    """The first of a command's keys as this system writes it, or of the canvas's own; "": it has none."""
    own = next((one for one in OWN_KEYS if one.id == command), None)
    if own is not None:
        keys = settings.preferences.keys.get(command, own.keys)
        return native(keys[0]) if keys else ""
    return actions[command].shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def native(keys: str) -> str:
    """Keys as this system writes them."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def _own_line(own: OwnKey, chosen: Mapping[str, tuple[str, ...]]) -> KeyLine:
    return KeyLine(own.id, own.text, CANVAS, chosen.get(own.id, own.keys), own.keys, own.command is None)
