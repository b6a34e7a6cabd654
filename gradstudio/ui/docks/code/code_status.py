"""The strip at the foot of the Code dock: whether what stands there is applied, what to do, what hints are shown."""

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QToolTip, QWidget

from gradstudio.ui.docks.code.code_hints import HINT_MODES, MODE_WORDS, HintMode
from gradstudio.ui.docks.code.code_sync import LiveText
from gradstudio.ui.theme import Theme, icon, ui_font

HEIGHT_PX, TWO_LINES_PX = 26, 42
TIP_PX = 26
"""So far above the words their tooltip stands."""
WORDS_PX = 12


class CodeStrip(QWidget):
    """Says what the state of the text is.

    Signals:
        hints_chosen(object): another `HintMode`.
        place_asked(): show the place that cannot be read.
        discard_asked(), keep_asked(), copy_asked(), dropped(), copied_left(): the buttons.
    """

    hints_chosen = Signal(object)
    place_asked = Signal()
    discard_asked = Signal()
    keep_asked = Signal()
    copy_asked = Signal()
    left_copied = Signal()
    left_dropped = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Say nothing yet."""
        super().__init__(parent)
        self.setObjectName("code_strip")
        self.setFixedHeight(HEIGHT_PX)
        self.chip, self.words = Chip(self), ElidedLabel(self)
        self.words.pressed.connect(self.place_asked)
        self.words.lines_changed.connect(self._on_words_lines_changed)
        self.keep_button = self._button("Use my text", "What stands here is what is meant", self.keep_asked)
        self.discard_button = self._button(
            "Discard", "Show the program again, without what is not applied", self.discard_asked
        )
        self.copy_left_button = self._button("Copy it", "Put that text on the clipboard", self.left_copied)
        self.drop_left_button = self._button("Drop it", "It is not needed any more", self.left_dropped)
        self.hints_button = self._button("", "Hints behind the lines: off, shapes or values", None)
        self.hints_button.clicked.connect(self._on_hints_button_clicked)
        self.copy_button = self._button("", "Copy the whole program", self.copy_asked)
        self.copy_button.setAccessibleName("Copy the whole program")
        self._mode: HintMode = "shapes"
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 6, 0)
        row.setSpacing(6)
        row.addWidget(self.chip)
        row.addWidget(self.words, 1)
        for button in self._buttons():
            row.addWidget(button)
        self.show_hints("shapes")
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.theme = theme
        self.chip.theme = theme
        self.copy_button.setIcon(icon("copy", theme, "text_dim"))
        self.hints_button.setIcon(icon("shapes", theme, "text_dim"))
        self.update()

    def show_hints(self, mode: HintMode) -> None:
        """Which hints are shown."""
        self._mode = mode
        self.hints_button.setText(f"Hints: {MODE_WORDS[mode]}")
        self.hints_button.setAccessibleName(f"Hints behind the lines: {MODE_WORDS[mode]}")

    def show_state(self, live: LiveText, *, focused: bool, line: int) -> None:
        """Say what the state is; `line` is the cursor's."""
        chip, role, words, danger = describe_status(live, focused=focused, line=line)
        self.chip.show_words(chip, role)
        self.words.say(words, is_link=live.shows_error)
        tone = "danger" if danger else "dim"
        if self.words.property("role") != tone:
            self.words.setProperty("role", tone)
            self.words.style().unpolish(self.words)
            self.words.style().polish(self.words)
        has_left = bool(live.left_behind) and live.state == "same"
        self.discard_button.setVisible(live.state in ("refused", "conflict"))
        self.keep_button.setVisible(live.state == "conflict")
        self.copy_left_button.setVisible(has_left)
        self.drop_left_button.setVisible(has_left)

    def _buttons(self) -> tuple[QToolButton, ...]:
        mine = (self.keep_button, self.discard_button, self.copy_left_button, self.drop_left_button)
        return (*mine, self.hints_button, self.copy_button)

    def _button(self, text: str, tip: str, asked: object) -> QToolButton:
        made = QToolButton(self)
        made.setObjectName("dock_button")
        made.setText(text)
        made.setToolTip(tip)
        made.setFont(ui_font(WORDS_PX))
        made.setIconSize(QSize(14, 14))
        made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        if asked is not None:
            made.clicked.connect(lambda: asked.emit())  # type: ignore[attr-defined]  # a bound signal
        return made

    def _on_words_lines_changed(self, count: int) -> None:
        self.setFixedHeight(HEIGHT_PX if count < 2 else TWO_LINES_PX)

    def _on_hints_button_clicked(self) -> None:
        self.hints_chosen.emit(HINT_MODES[(HINT_MODES.index(self._mode) + 1) % len(HINT_MODES)])

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self.theme.color("surface"))
        painter.fillRect(0, 0, self.width(), 1, self.theme.color("line"))
        painter.end()


def describe_status(live: LiveText, *, focused: bool, line: int) -> tuple[str, str, str, bool]:
    """The chip's words and colour, the sentence beside it, and whether that is bad news."""
    error = live.error
    if live.state == "conflict":
        return "Not applied", "warning", "The canvas changed this line, too.", True
    if live.state == "refused" and live.shows_error and error is not None:
        return "Not applied", "danger", f"Line {error.line}: {error.reason}", True
    if live.state in ("typed", "refused"):
        return "Typing", "info", "applied as soon as it can be read", False
    if live.left_behind:
        return "Kept", "warning", f"What you typed for {live.left_title} was not applied.", True
    if focused:
        return "Editing", "ok", f"line {line}, in step with the canvas", False
    return "", "ok", "Click into the text to edit it", False


class Chip(QLabel):
    """A word in a round frame; nothing without a word."""

    def __init__(self, parent: QWidget) -> None:
        """Without a word."""
        super().__init__(parent)
        self.theme: Theme | None = None
        self._role = "ok"
        self.setFont(ui_font(11))
        self.setContentsMargins(8, 0, 8, 0)
        self.hide()

    def show_words(self, words: str, role: str) -> None:
        """Say a word in the colour of a role."""
        self._role = role
        self.setText(words)
        self.setVisible(bool(words))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = self.theme.color(self._role)
        painter.setPen(color)
        ground = self.theme.color(self._role)
        ground.setAlpha(36)
        painter.setBrush(ground)
        place = self.rect().adjusted(0, 0, -1, -1)
        place.setHeight(17)
        place.moveCenter(self.rect().center())
        painter.drawRoundedRect(place, 8, 8)
        painter.setPen(self.theme.color("text"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self.text())
        painter.end()


class ElidedLabel(QLabel):
    """Words that are cut where there is no room, those that lead somewhere in their second line; whole as a tooltip.

    Signals:
        pressed(): clicked, when they lead somewhere.
        lines_changed(int): they take so many lines now.
    """

    pressed = Signal()
    lines_changed = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        """Without words."""
        super().__init__(parent)
        self.whole = ""
        self._is_link = False
        self.setFont(ui_font(WORDS_PX))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def say(self, words: str, *, is_link: bool) -> None:
        """Show other words."""
        if (words, is_link) == (self.whole, self._is_link):
            return
        self.whole, self._is_link = words, is_link
        self.setAccessibleName(words)
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)
        self._fit()

    def _fit(self) -> None:
        metrics, room = self.fontMetrics(), max(0, self.width() - 4)
        first, rest = self.whole, ""
        while self._is_link and " " in first and metrics.horizontalAdvance(first) > room:
            first, _, word = first.rpartition(" ")
            rest = f"{word} {rest}"
        lines = [metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in (first, rest.rstrip()) if line]
        self.setText("\n".join(lines))
        self.lines_changed.emit(len(lines))

    def event(self, event: QEvent) -> bool:
        """The tooltip stands above the strip, over no text that it explains and over no button."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            is_cut = self.text().replace("\n", " ") != self.whole
            above = QPoint(0, -TIP_PX - self.fontMetrics().height())
            QToolTip.showText(self.mapToGlobal(above), self.whole if is_cut else "", self)
            return True
        return super().event(event)

    def resizeEvent(self, event: object) -> None:
        self._fit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._is_link and event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit()
