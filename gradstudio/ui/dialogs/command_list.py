"""Every command of the window as a line to choose: the rows of the one table, and what menus make as they open."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gradstudio.ui.actions.action_set import ActionRow, ActionSet, MenuRow
from gradstudio.ui.dialogs.fuzzy_match import fit_words

STEP: Final = " › "
NO_COMMAND: Final = "no_command"
"""The property of an entry that only says why a menu is empty."""
THEME_MENU: Final = f"View{STEP}Theme"
WHY: Final = {
    "has_selection": "Select something on the canvas first.",
    "has_statements": "Select something on the canvas first, beside a group's Inputs and Outputs.",
    "can_delete": "Select what shall go first; a group's Inputs and Outputs stay.",
    "some": "Select something on the canvas first.",
    "has_one": "Select one node on the canvas first.",
    "has_nodes": "Select a node on the canvas first.",
    "has_block": "Select something inside a block first.",
    "has_items": "The canvas is empty.",
    "can_rename": "Select a node or a block to rename first.",
    "can_undo": "There is nothing to undo.",
    "can_redo": "There is nothing to redo.",
    "can_run_to": "Select one node that can run first.",
    "can_check": "Select differentiable nodes first.",
    "can_play": "Nothing is recorded yet: run the program first.",
    "can_swap": "Select one node with two inputs first.",
}
"""Why a command cannot be done, by the name of the test that says so."""
USUAL: Final = (
    *("run.run", "run.step", "graph.add", "file.save", "edit.find", "file.open", "run.forward", "run.backward"),
    *("edit.undo", "view.fit", "graph.tidy", "edit.preferences", "help.shortcuts"),
)
"""What stands first while nothing is typed, after what was used last."""
MADE_ANEW: Final = ("Open recent", "Examples")
"""Menus whose entries are no commands to begin with: they are found by typing."""
OFF: Final = "Not possible right now."
RECENT_BONUS: Final = 120
"""What was used last goes before what fits a little better."""


class Entry(NamedTuple):
    """One line.

    Attributes:
        id: of the row, or the path in the menus for what menus make when they open.
        path: where it is in the menus.
        keys: as this system writes them.
        why: why it cannot be done now; "" when it can.
        ticked: whether it is on; None for plain commands.
    """

    id: str
    text: str
    path: str
    keys: str
    why: str
    ticked: bool | None
    run: Callable[[], object]


class CommandMatch(NamedTuple):
    """A line that fits what was typed, and the places of the letters meant."""

    entry: Entry
    places: tuple[int, ...]


class CommandList:
    """The lines of a set of actions as they are now; the menus it had to make for them belong to `owner`."""

    def __init__(self, actions: ActionSet, owner: QWidget) -> None:
        """Look at every row once."""
        self._owner = owner
        self.entries = tuple(self._all(actions))

    def fitting(self, typed: str, recent: Sequence[str] = ()) -> tuple[CommandMatch, ...]:
        """Lines that fit, the best first; with nothing typed, those used last, then the most usual, then all others."""
        if not typed.strip():
            return self._at_first(recent)
        ages = {key: age for age, key in enumerate(recent)}
        found: list[tuple[int, int, CommandMatch]] = []
        for number, entry in enumerate(self.entries):
            fits = fit_words(typed, entry.text, f"{entry.path} {entry.keys}")
            if fits is None:
                continue
            age = ages.get(entry.id)
            bonus = 0 if age is None else max(RECENT_BONUS - 8 * age, 1)
            found.append((-(fits.score + bonus), number, CommandMatch(entry, fits.places)))
        return tuple(shown for _, _, shown in sorted(found, key=lambda one: one[:2]))

    def _at_first(self, recent: Sequence[str]) -> tuple[CommandMatch, ...]:
        """What menus make as they open comes last: files and examples are not what a person looks for first."""
        places = {key: place for place, key in enumerate(dict.fromkeys((*recent, *USUAL)))}
        last = len(places)

        def place(entry: Entry) -> tuple[int, bool]:
            made = any(entry.path.endswith(f"{STEP}{menu}") for menu in MADE_ANEW)
            return places.get(entry.id, last), made

        return tuple(CommandMatch(entry, ()) for entry in sorted(self.entries, key=place))

    def _all(self, actions: ActionSet) -> Iterator[Entry]:
        for row in actions.rows:
            if isinstance(row, ActionRow):
                yield _entry(actions, row)
            else:
                yield from self._made(row)

    def _made(self, row: MenuRow) -> Iterator[Entry]:
        menu = QMenu(row.text, self._owner)
        row.fill(menu)
        yield from _entries_of(menu, f"{row.menu.replace('/', STEP)}{STEP}{row.text}")


def _entry(actions: ActionSet, row: ActionRow) -> Entry:
    action = actions[row.id]
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    ticked = action.isChecked() if action.isCheckable() else None
    why = "" if action.isEnabled() else why_not(row)
    path = row.menu.replace("/", STEP)
    text = f"Theme: {row.text}" if path == THEME_MENU else row.text.rstrip("…")
    return Entry(row.id, text, path, keys, why, ticked, action.trigger)


def why_not(row: ActionRow) -> str:
    """Why a row that is off is off, as far as that is known."""
    if row.why is not None and (words := row.why()):
        return words
    return WHY.get(getattr(row.when, "__name__", ""), OFF)


def _entries_of(menu: QMenu, path: str) -> Iterator[Entry]:
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            inner.aboutToShow.emit()
            yield from _entries_of(inner, f"{path}{STEP}{_plain(action)}")
        elif not action.isSeparator() and action.property(NO_COMMAND) is not True:
            ticked = action.isChecked() if action.isCheckable() else None
            why = "" if action.isEnabled() else OFF
            text, _, keys = _plain(action).partition("\t")
            yield Entry(f"{path}{STEP}{text}", text, path, keys, why, ticked, action.trigger)


def _plain(action: QAction) -> str:
    """The text of an entry without the mark of its letter and the number before it."""
    text = action.text()
    number, gap, rest = text.partition("  ")
    if gap and number.lstrip("&").isdigit():
        text = rest
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
