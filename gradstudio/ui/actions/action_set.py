"""The one table behind menus, toolbar and the shortcut sheet: rows become QActions here, and nowhere else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from gradstudio.ui.app.window.window_frame import MENUS
from gradstudio.ui.theme import Theme, icon

ICON_ROLES = {"run.stop": "danger"}
"""Colours of icons that are not the text's."""
OF_CANVAS = (
    *("edit.cut", "edit.copy", "edit.paste", "edit.duplicate", "edit.delete", "edit.select_all"),
    *("view.fit", "graph.earlier", "graph.later"),
)
"""Commands whose keys are the canvas's alone: in a panel they mean what they mean in a text or a list, or nothing."""
Shortcut = str | QKeySequence.StandardKey


class ActionRow(NamedTuple):
    """One command.

    Attributes:
        menu: "File", or "View/Theme" for a submenu.
        group: a line is drawn where it changes within a menu.
        shortcuts: the first one is shown.
        when: whether it is enabled now.
        checked: whether it is ticked now; None for plain commands.
        short: what stands on its button, when the text is too long for one.
        canvas_only: its keys are the canvas's alone, as those of `OF_CANVAS`: needed for bare letters and digits.
        why: why it is not enabled now, in words.
        label: its text now, where that changes.
    """

    id: str
    text: str
    menu: str
    group: int
    handler: Callable[[], object]
    shortcuts: tuple[Shortcut, ...] = ()
    icon: str = ""
    when: Callable[[], bool] | None = None
    checked: Callable[[], bool] | None = None
    tooltip: str = ""
    short: str = ""
    canvas_only: bool = False
    why: Callable[[], str] | None = None
    label: Callable[[], str] | None = None


class MenuRow(NamedTuple):
    """A submenu whose entries are made each time it opens."""

    text: str
    menu: str
    group: int
    fill: Callable[[QMenu], None]


Row = ActionRow | MenuRow


def say_empty(menu: QMenu, words: str) -> None:
    """Say in a menu why it has no entries; that is no command."""
    said = menu.addAction(words)
    said.setEnabled(False)
    said.setProperty("no_command", True)


class ActionSet(QObject):
    """The actions of a window, by id.

    Whether a command is enabled, ticked, and what it is called now is asked when somebody is about to look: one that
    stands on a button after the gesture, one of a menu when that opens, one with a key when that is pressed, any other
    when it is taken from here.
    """

    def __init__(self, rows: Sequence[Row], theme: Theme, parent: QWidget) -> None:
        """Make an action per row; they work in the whole window."""
        super().__init__(parent)
        self.rows = tuple(rows)
        self._by_id = {row.id: row for row in self.rows if isinstance(row, ActionRow)}
        self._actions = {row.id: self._make(row, parent) for row in self._by_id.values()}
        self._theme = theme
        self._shown: set[str] = set()
        self._with_own_keys: frozenset[str] = frozenset()
        self._of_canvas: set[str] = set()
        self._by_key: dict[Qt.Key, list[str]] = {}
        self._on_buttons: set[str] = set()
        self._outdated: set[str] = set()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self._on_soon_timeout)
        self._note_keys()
        self.refresh()

    def __getitem__(self, action_id: str) -> QAction:
        """The action of a row, as it is now."""
        self._bring_up_to_date((action_id,))
        return self._actions[action_id]

    def on_button(self, action_id: str) -> QAction:
        """The action of a row, for what shows it all the time: it is kept as things are."""
        self._on_buttons.add(action_id)
        return self[action_id]

    def take_rows(self, rows: Sequence[Row]) -> None:
        """The same commands are carried out by others now: those of the document in front."""
        self.rows = tuple(rows)
        self._by_id.update({row.id: row for row in self.rows if isinstance(row, ActionRow)})
        self.refresh()

    def row(self, action_id: str) -> ActionRow:
        """The row of that id as it is now."""
        return self._by_id[action_id]

    def use_keys(self, chosen: Mapping[str, tuple[str, ...]]) -> None:
        """Give commands the keys that a person chose, all others those of their rows."""
        asked = (chosen.keys() | self._with_own_keys) & self._by_id.keys()
        self._with_own_keys = frozenset(chosen)
        for key in asked:
            row = self._by_id[key]
            wanted = _key_sequences(chosen.get(key, row.shortcuts))
            if wanted != self._actions[key].shortcuts():
                self._actions[key].setShortcuts(wanted)
                self._actions[key].setToolTip(_tooltip(row, self._actions[key]))
        if asked:
            self._note_keys()

    def fill_menus(self, menus: dict[str, QMenu]) -> None:
        """Put the rows into the menus of a window."""
        for name, menu in menus.items():
            menu.setToolTipsVisible(True)
            self._fill(menu, name)
            menu.aboutToShow.connect(self._show_icons)
            menu.aboutToShow.connect(self._bring_up_to_date)

    def keep_off(self, panel: QWidget) -> None:
        """Leave the canvas alone while this panel has the focus: Del there must not delete nodes here."""
        panel.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A key of the canvas that nothing within a panel claimed is the panel's own: it is no shortcut there."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            bare = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if QKeySequence(QKeyCombination(bare, Qt.Key(event.key()))).toString() in self._of_canvas:
                event.accept()
                return True
            self.expect_key(event)
        return False

    def expect_key(self, event: QKeyEvent) -> None:
        """What a key may be the shortcut of is asked before Qt looks for one."""
        key = Qt.Key(event.key())
        if key in self._by_key:
            self._bring_up_to_date(self._by_key[key])
        elif key < Qt.Key.Key_Escape:
            self._bring_up_to_date()  # a letter or sign: on another keyboard's layout it may stand for one of ours

    def refresh(self, *, soon: bool = True) -> None:
        """Something that commands depend on is another thing now: each is asked again before it is looked at.

        Args:
            soon: buttons are looked at now; else they wait for the next time.
        """
        self._outdated.update(self._by_id)
        if soon:
            self._soon.start()

    def _on_soon_timeout(self) -> None:
        self._bring_up_to_date(self._on_buttons)

    def _bring_up_to_date(self, ids: Iterable[str] | None = None) -> None:
        """Ask rows whether they are enabled and ticked now; all when none are named."""
        for key in self._outdated.intersection(self._by_id if ids is None else ids):
            row, action = self._by_id[key], self._actions[key]
            self._outdated.discard(key)
            if row.when is not None:
                action.setEnabled(row.when())
            if row.checked is not None:
                action.setChecked(row.checked())
            if row.label is not None:
                action.setText(row.label())

    def set_theme(self, theme: Theme) -> None:
        """Tint the icons; those of menus that were never opened wait."""
        self._theme = theme
        for key in tuple(self._shown):
            self.show_icon(key)

    def show_icon(self, action_id: str) -> None:
        """Give an action its icon (toolbars ask for theirs, menus when they open)."""
        self._shown.add(action_id)
        row = self._by_id[action_id]
        if row.icon:
            self._actions[action_id].setIcon(icon(row.icon, self._theme, ICON_ROLES.get(action_id, "text")))

    def shortcut_sheet(self) -> tuple[tuple[str, str, str], ...]:
        """Menu, command and keys of every row that has keys, in the order of the menus."""
        rows = sorted(self._by_id.values(), key=lambda row: MENUS.index(row.menu.split("/")[0]))
        return tuple(
            (row.menu.split("/")[0], row.text.rstrip("…"), ", ".join(keys))
            for row in rows
            if (keys := self._keys(row.id))
        )

    def _note_keys(self) -> None:
        """Keys of the canvas's commands, and letters or digits alone: in a panel they are typed."""
        self._by_key = {}
        for action_id, action in self._actions.items():
            for keys in action.shortcuts():
                for place in range(keys.count()):
                    combination = keys[place]  # type: ignore[index]  # PySide6 leaves it out of its stubs
                    self._by_key.setdefault(combination.key(), []).append(action_id)
        self._of_canvas = {
            keys.toString()
            for key, row in self._by_id.items()
            for keys in self._actions[key].shortcuts()
            if row.canvas_only or key in OF_CANVAS or len(keys.toString()) == 1
        }

    def _show_icons(self) -> None:
        for key in self._by_id.keys() - self._shown:
            self.show_icon(key)

    def _keys(self, action_id: str) -> list[str]:
        native = QKeySequence.SequenceFormat.NativeText
        return [keys.toString(native) for keys in self._actions[action_id].shortcuts()]

    def _make(self, row: ActionRow, parent: QWidget) -> QAction:
        action = QAction(row.text, parent)
        action.setObjectName(row.id)
        action.setShortcuts(_key_sequences(row.shortcuts))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.setCheckable(row.checked is not None)
        action.setMenuRole(_menu_role(row.id))
        action.setToolTip(_tooltip(row, action))
        action.setIconText(row.short or row.text.rstrip("…"))
        action.setStatusTip("")
        action.triggered.connect(lambda _checked=False, key=row.id: self._on_action_triggered(key))
        parent.addAction(action)
        return action

    def _on_action_triggered(self, key: str) -> None:
        """Do it; not what was typed for a dialog that is just opening, and is not the active window yet."""
        row = self._by_id[key]
        if not (row.canvas_only and QApplication.activeModalWidget() is not None):
            row.handler()

    def _fill(self, menu: QMenu, name: str) -> None:
        previous = None
        inside = (row for row in self.rows if row.menu == name or row.menu.startswith(f"{name}/"))
        for row in sorted(inside, key=lambda row: row.group):
            if previous is not None and row.group != previous:
                menu.addSeparator()
            previous = row.group
            if isinstance(row, MenuRow):
                self._add_dynamic(menu, row)
            else:
                _target(menu, row.menu).addAction(self._actions[row.id])

    def _add_dynamic(self, menu: QMenu, row: MenuRow) -> None:
        submenu = menu.addMenu(row.text)
        submenu.setToolTipsVisible(True)
        submenu.aboutToShow.connect(lambda: self._refill(submenu, row))

    def _refill(self, menu: QMenu, made_from: MenuRow) -> None:
        menu.clear()
        same = (row for row in self.rows if isinstance(row, MenuRow) and row[:3] == made_from[:3])
        next(same, made_from).fill(menu)


def default_keys(row: ActionRow) -> tuple[str, ...]:
    """The keys of a row at first, in the form that files keep."""
    return tuple(keys.toString() for keys in _key_sequences(row.shortcuts))


def _tooltip(row: ActionRow, action: QAction) -> str:
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    tooltip = f"{row.short}: {row.tooltip}" if row.short else row.tooltip or row.text.rstrip("…")
    return f"{tooltip}  ({keys})" if keys else tooltip


def _target(menu: QMenu, path: str) -> QMenu:
    """The menu itself, or its submenu of that path, made when it is not there."""
    if "/" not in path:
        return menu
    title = path.split("/", 1)[1]
    for action in menu.actions():
        submenu = action.menu()
        if isinstance(submenu, QMenu) and submenu.title() == title:
            return submenu
    return menu.addMenu(title)


def _key_sequences(shortcuts: Iterable[Shortcut]) -> list[QKeySequence]:
    """The keys of this platform; the first binding of a standard key."""
    made: list[QKeySequence] = []
    for shortcut in shortcuts:
        bound = QKeySequence.keyBindings(shortcut) if isinstance(shortcut, QKeySequence.StandardKey) else []
        sequence = bound[0] if bound else QKeySequence(shortcut)
        if not sequence.isEmpty():
            made.append(sequence)
    return made


def _menu_role(action_id: str) -> QAction.MenuRole:
    roles = {"file.quit": QAction.MenuRole.QuitRole, "help.about": QAction.MenuRole.AboutRole}
    return roles.get(action_id, QAction.MenuRole.NoRole)
