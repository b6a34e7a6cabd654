"""The page of the preferences with every command and its keys: find, change, settle conflicts, take back."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.actions.key_map import KeyLine, KeyMap, native
from gradstudio.ui.dialogs.fuzzy_match import fit_words
from gradstudio.ui.dialogs.preferences.key_field import KeyField
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.clear_button import add_clear_button

ID: Final = int(Qt.ItemDataRole.UserRole)
COMMAND, PLACE, KEYS = range(3)
HINT: Final = "Select a command, then Change (or Enter), and press its new keys."


class KeyPage(QWidget):
    """A list of commands, two fields that search it, and what changes the keys of the one selected.

    Signals:
        said(object): a sentence about what was done.
    """

    said = Signal(object)

    def __init__(self, keys: KeyMap, theme: Theme, parent: QWidget | None = None) -> None:
        """List everything."""
        super().__init__(parent)
        self._keys, self._theme = keys, theme
        self._adding, self._wanted = False, ""
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search commands")
        self.search.setAccessibleName("Search commands")
        add_clear_button(self.search)
        self.by_keys = KeyField(self)
        self.by_keys.setPlaceholderText("Click here and press keys to find")
        self.by_keys.setAccessibleName("Press keys to find the command that has them")
        self.list = self._empty_list()
        self.capture = KeyField(self)
        self.words = QLabel(HINT, self)
        self.words.setWordWrap(True)
        self.words.setProperty("role", "dim")
        self._make_buttons()
        self._lay_out()
        self._wire()
        self.fill()

    # ------------------------------------------------------------------ building

    def _empty_list(self) -> QTreeWidget:
        made = QTreeWidget(self)
        made.setHeaderLabels(["Command", "Where", "Keys"])
        made.setRootIsDecorated(False)
        made.setUniformRowHeights(True)
        made.setAllColumnsShowFocus(True)
        made.setAccessibleName("Commands and their keys")
        made.header().setSectionResizeMode(COMMAND, QHeaderView.ResizeMode.Stretch)
        made.header().setSectionResizeMode(PLACE, QHeaderView.ResizeMode.ResizeToContents)
        made.header().setSectionResizeMode(KEYS, QHeaderView.ResizeMode.ResizeToContents)
        made.header().setStretchLastSection(False)
        made.installEventFilter(self)
        return made

    def _make_buttons(self) -> None:
        def button(text: str, tip: str) -> QPushButton:
            made = QPushButton(text, self)
            made.setToolTip(tip)
            made.setAutoDefault(False)
            return made

        self.change = button("Change…", "Press new keys for the command, in place of those it has")
        self.add = button("Add…", "Press keys that do the command, too")
        self.remove = button("Remove", "The command has no keys any more")
        self.reset = button("Reset", "The command has the keys that it has at first")
        self.reset_all = button("Reset all", "Every command has the keys that it has at first")
        self.take = button("Take them", "The other command loses the keys")
        self.keep = button("Keep as they are", "Nothing is changed")

    def _lay_out(self) -> None:
        gap = self._theme.GAP
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        for widgets in (
            (self.search, self.by_keys),
            (self.list,),
            (self.words, self.capture, self.take, self.keep),
            (self.change, self.add, self.remove, self.reset, None, self.reset_all),
        ):
            row = QHBoxLayout()
            row.setSpacing(gap)
            for widget in widgets:
                if widget is None:
                    row.addStretch(1)
                else:
                    row.addWidget(widget, 1 if widget is self.words else 0)
            column.addLayout(row, 1 if widgets == (self.list,) else 0)
        self._listen("", False)

    def _wire(self) -> None:
        self.search.textChanged.connect(self.fill)
        self.by_keys.pressed.connect(self._on_by_keys_pressed)
        self.by_keys.cancelled.connect(self._on_by_keys_cancelled)
        self.list.currentItemChanged.connect(self._on_list_current_item_changed)
        self.list.itemDoubleClicked.connect(self.begin)
        self.capture.pressed.connect(self._on_capture_pressed)
        self.capture.cancelled.connect(self._on_keep_clicked)
        self.change.clicked.connect(self.begin)
        self.add.clicked.connect(self._on_add_clicked)
        self.remove.clicked.connect(lambda: self._bind(()))
        self.reset.clicked.connect(self._on_reset_clicked)
        self.reset_all.clicked.connect(self._keys.reset_all)
        self.take.clicked.connect(self._on_take_clicked)
        self.keep.clicked.connect(self._on_keep_clicked)
        self._keys.changed.connect(self.fill)

    # ------------------------------------------------------------------ the list

    def commands(self) -> tuple[str, ...]:
        """The ids of the lines, top to bottom."""
        items = (self.list.topLevelItem(k) for k in range(self.list.topLevelItemCount()))
        return tuple(str(item.data(0, ID)) for item in items if item is not None)

    def current(self) -> KeyLine | None:
        """The line that is selected."""
        item = self.list.currentItem()
        return self._keys.line(str(item.data(0, ID))) if item is not None else None

    def fill(self, *_said: object) -> None:
        """List what fits the two fields; the same command stays selected."""
        chosen = self.list.currentItem()
        wanted = chosen.data(0, ID) if chosen is not None else None
        self.list.clear()
        for line in self._fitting():
            item = QTreeWidgetItem([line.text, line.place, line.shown])
            item.setData(0, ID, line.id)
            if line.is_fixed:
                item.setToolTip(KEYS, "These keys stay as they are.")
                item.setForeground(KEYS, self._theme.color("text_dim"))
            elif line.keys != line.first:
                item.setForeground(KEYS, self._theme.color("accent"))
                item.setToolTip(KEYS, f"At first: {', '.join(map(native, line.first)) or 'no keys'}")
            self.list.addTopLevelItem(item)
            if line.id == wanted:
                self.list.setCurrentItem(item)
        first = self.list.topLevelItem(0)
        if self.list.currentItem() is None and first is not None:
            self.list.setCurrentItem(first)
        self._on_list_current_item_changed()

    def _fitting(self) -> Sequence[KeyLine]:
        lines = [line for line in self._keys.lines() if not self._wanted or self._wanted in line.keys]
        typed = self.search.text()
        if not typed.strip():
            return lines
        found = [(fit_words(typed, line.text, f"{line.place} {line.shown}"), line) for line in lines]
        scored = [(-fits.score, number, line) for number, (fits, line) in enumerate(found) if fits is not None]
        return [line for _, _, line in sorted(scored)]

    # ------------------------------------------------------------------ changing

    def begin(self, *_said: object) -> None:
        """Wait for the new keys of the command that is selected."""
        line = self.current()
        if line is not None and not line.is_fixed:
            self._adding = False
            self._listen(f"Press the new keys of {line.text}. Esc keeps those it has.", True)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter in the list changes, Del removes."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.begin()
                return True
            if event.key() == Qt.Key.Key_Delete and self.remove.isEnabled():
                self._bind(())
                return True
        return super().eventFilter(watched, event)

    def _listen(self, words: str, listening: bool) -> None:
        """Show a sentence, and the field for keys or not."""
        self.capture.clear()
        self.capture.setVisible(listening)
        self.take.hide()
        self.keep.hide()
        self.words.setText(words or HINT)
        if listening:
            self.capture.setFocus()

    def _bind(self, keys: Sequence[str]) -> None:
        line = self.current()
        if line is None:
            return
        self._keys.bind(line.id, keys)
        words = f"{line.text} has {' and '.join(map(native, keys))} now." if keys else f"{line.text} has no keys now."
        self._listen(words, False)
        self.list.setFocus()
        self.said.emit(words)

    def _all_wanted(self) -> tuple[str, ...]:
        line, pressed = self.current(), str(self.capture.property("keys"))
        return (*line.keys, pressed) if line is not None and self._adding else (pressed,)

    # ------------------------------------------------------------------ slots

    def _on_list_current_item_changed(self, *_items: object) -> None:
        line = self.current()
        is_free = line is not None and not line.is_fixed
        for button in (self.change, self.add):
            button.setEnabled(is_free)
        self.remove.setEnabled(line is not None and is_free and bool(line.keys))
        self.reset.setEnabled(line is not None and line.keys != line.first)
        self._listen("", False)

    def _on_add_clicked(self) -> None:
        line = self.current()
        if line is not None:
            self._listen(f"Press keys that do {line.text}, too. Esc changes nothing.", True)
            self._adding = True

    def _on_capture_pressed(self, keys: object) -> None:
        line, pressed = self.current(), str(keys)
        if line is None:
            return
        self.capture.setProperty("keys", pressed)
        refused, others = self._keys.why_not(pressed), self._keys.users(pressed, line.id)
        if refused:
            self.words.setText(refused)
        elif others and others[0].is_fixed:
            self.words.setText(f"{native(pressed)} stays as it is: {others[0].text}.")
        elif others:
            names = " and ".join(f"{other.place}{' › '}{other.text}" for other in others)
            self.words.setText(f"{native(pressed)} does {names} now. Take it for {line.text}?")
            self.take.show()
            self.keep.show()
            self.take.setFocus()
        else:
            self._bind(self._all_wanted())

    def _on_take_clicked(self) -> None:
        self._bind(self._all_wanted())

    def _on_keep_clicked(self) -> None:
        self._listen("", False)
        self.list.setFocus()

    def _on_reset_clicked(self) -> None:
        line = self.current()
        if line is not None:
            self._keys.reset(line.id)

    def _on_by_keys_pressed(self, keys: object) -> None:
        self._wanted = str(keys)
        self.fill()
        if not self.list.topLevelItemCount():
            self.words.setText(f"{native(self._wanted)} does nothing yet. Esc shows all commands again.")

    def _on_by_keys_cancelled(self) -> None:
        self._wanted = ""
        self.fill()
