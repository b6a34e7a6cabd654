"""The find bar over the canvas: a field, how many were found, and which of them is looked at."""

from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from gradstudio.ui.theme import Theme, icon

WIDTH: Final = 430
HEIGHT: Final = 44
GAP: Final = 8
BUTTONS: Final = {
    "up": ("earlier", "Previous match (Shift+Enter, Shift+F3)"),
    "down": ("later", "Next match (Enter, F3)"),
    "all": ("select_all", "Select all matches (Alt+Enter)"),
    "close": ("close", "Close, with the match selected (Esc)"),
}
HELP: Final = 22
"""Pixels of the line that says what can be searched, where nothing was found."""
CAN_BE_FOUND: Final = "Can be found: names, operators, notes, values (0.998), shapes (4, 5), dtypes, nan, error, muted."
EXAMPLES: Final = "Name, operator, value, 2x3, float32, nan, error …"


class FindBar(QFrame):
    """Stands at the upper edge of the canvas.

    Signals:
        changed(str): other words.
        stepped(int): to the next match, or -1 the one before.
        all_wanted(): select all matches.
        closed(): the person is done.

    Attributes:
        GAP_PX: around it; `COVERED_PX`: how much of the canvas it covers at least, from the upper edge.
    """

    GAP_PX: Final = GAP
    COVERED_PX: Final = float(HEIGHT + 2 * GAP)

    changed = Signal(str)
    stepped = Signal(int)
    all_wanted = Signal()
    closed = Signal()

    def __init__(self, room: QWidget, theme: Theme) -> None:
        """Hidden at first."""
        super().__init__(room)
        self.setObjectName("find_bar")
        self._room = room
        self._top_px = GAP
        self.field = QLineEdit(self)
        self.field.setPlaceholderText(EXAMPLES)
        self.field.setAccessibleName("Find in the graph")
        self.field.setClearButtonEnabled(False)
        self.field.installEventFilter(self)
        self.count = QLabel("", self)
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance("No matches") + 8)
        self.count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.buttons = {name: self._button(tip) for name, (_, tip) in BUTTONS.items()}
        self.help = QLabel(CAN_BE_FOUND, self)
        self.help.setProperty("role", "dim")
        self.help.setWordWrap(True)
        self.help.hide()
        layout = QHBoxLayout()
        layout.setSpacing(3)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, 6, GAP, 6)
        column.addLayout(layout)
        column.addWidget(self.help)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.count)
        for button in self.buttons.values():
            layout.addWidget(button)
        self.field.textChanged.connect(self.changed)
        self.buttons["up"].clicked.connect(lambda: self.stepped.emit(-1))
        self.buttons["down"].clicked.connect(lambda: self.stepped.emit(1))
        self.buttons["all"].clicked.connect(self.all_wanted)
        self.buttons["close"].clicked.connect(self.closed)
        room.installEventFilter(self)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours."""
        self.setStyleSheet(
            f"QFrame#find_bar {{ background: {theme.surface_raised}; border: 1px solid {theme.line};"
            f" border-radius: 8px; }} QToolButton {{ padding: 4px; }}"
        )
        for name, (picture, _) in BUTTONS.items():
            self.buttons[name].setIcon(icon(picture, theme))

    def open(self) -> None:
        """Be there, with the words marked."""
        self._place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def keep_below(self, covered_px: int) -> None:
        """So much of the canvas's upper edge is covered by something else."""
        self._top_px = covered_px + GAP
        self._place()

    def tell(self, current: int, count: int) -> None:
        """Which match is looked at, from 1, and how many there are."""
        if count:
            words = f"{current} of {count}"
        elif self.field.text().strip():
            words = "No matches"
        else:
            words = ""
        self.count.setText(words)
        self.field.setProperty("invalid", bool(self.field.text().strip()) and not count)
        self.field.style().polish(self.field)
        nothing = bool(self.field.text().strip()) and not count
        self.field.setAccessibleDescription(f"{words}. {CAN_BE_FOUND}" if nothing else words)
        if self.help.isHidden() is nothing:
            self.help.setVisible(nothing)
            self._place()
        for name in ("up", "down", "all"):
            self.buttons[name].setEnabled(count > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys in the field; another size of the canvas."""
        if watched is self._room:
            if event.type() == QEvent.Type.Resize:
                self._place()
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        key, keys = Qt.Key(event.key()), event.modifiers()
        if key == Qt.Key.Key_Escape:
            self.closed.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if keys & Qt.KeyboardModifier.AltModifier:
                self.all_wanted.emit()
            else:
                self.stepped.emit(-1 if keys & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key == Qt.Key.Key_F3:
            self.stepped.emit(-1 if keys & Qt.KeyboardModifier.ShiftModifier else 1)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1)
        else:
            return False
        return True

    def _place(self) -> None:
        width = min(WIDTH, self._room.width() - 2 * GAP)
        more = 0 if self.help.isHidden() else max(HELP, self.help.heightForWidth(width - 2 * GAP)) + GAP
        self.setGeometry(self._room.width() - width - GAP, self._top_px, width, HEIGHT + more)

    def _button(self, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        button.setIconSize(QSize(16, 16))
        button.setAutoRaise(True)
        return button
