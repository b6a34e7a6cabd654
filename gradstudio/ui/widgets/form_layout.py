"""Small building blocks of the inspector: headings, pairs of words, a form of two columns."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QEnterEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gradstudio.late_pattern import late
from gradstudio.ui.theme import mono_font, scale_px
from gradstudio.ui.widgets.wrapped_label import WrappedLabel

LABEL_WIDTH_PX = 92
"""At the usual size of text: enough for `requires_grad`."""
LONGEST_WORD = 16
"""So many letters fit beside a name where the panel is narrowest."""
BREAK = "\u200b"
_CAPITAL = late(r"(?<=[a-z0-9])(?=[A-Z])")


class Section(QWidget):
    """A heading over a column of widgets."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        """An empty section; "" shows no heading."""
        super().__init__(parent)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(6)
        self.heading = label(title, "heading")
        self.column.addWidget(self.heading)
        self.heading.setVisible(bool(title))  # only now: shown without a parent it is a window, which takes the keys

    def add(self, *widgets: QWidget) -> None:
        """Put widgets under one another."""
        for widget in widgets:
            self.column.addWidget(widget)


class PairTable(QWidget):
    """Pairs of a dim word and a value in the fixed-width font; kept and refilled."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """No pairs yet."""
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnMinimumWidth(0, LABEL_WIDTH_PX)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, QLabel]] = []
        self._pairs: tuple[tuple[str, str], ...] | None = None

    def show_pairs(self, pairs: tuple[tuple[str, str], ...]) -> None:
        """Show exactly these."""
        if pairs == self._pairs:
            return
        known, self._pairs = self._pairs or (), pairs
        for _ in range(len(self._rows), len(pairs)):
            self._add_row()
        for k, (name, value) in enumerate(self._rows):
            visible = k < len(pairs)
            name.setVisible(visible)
            value.setVisible(visible)
            if visible and pairs[k : k + 1] != known[k : k + 1]:
                name.setText(pairs[k][0])
                value.setText(breakable(pairs[k][1]))
        self.setVisible(bool(pairs))

    def pairs(self) -> dict[str, str]:
        """What is shown now."""
        return {name.text(): value.text().replace(BREAK, "") for name, value in self._rows if not name.isHidden()}

    def _add_row(self) -> None:
        name, value = label("", "dim"), label("", "")
        value.setFont(mono_font())
        value.setContentsMargins(0, 1, 0, 0)
        value.setWordWrap(True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        top = Qt.AlignmentFlag.AlignTop
        self._grid.addWidget(name, len(self._rows), 0, top)
        self._grid.addWidget(value, len(self._rows), 1, top)
        self._rows.append((name, value))


def breakable(text: str) -> str:
    """The text with places where long words may go on in the next line: ``NativeBatchNormBackward0`` is one."""
    if len(text) <= LONGEST_WORD:
        return text
    return " ".join(_CAPITAL.sub(BREAK, word) if len(word) > LONGEST_WORD else word for word in text.split(" "))


def strip_copied_breaks() -> None:
    """What was just copied from a label has no places where its long words may be broken."""
    if not isinstance(QApplication.focusWidget(), QLabel):
        return
    clipboard = QApplication.clipboard()
    if BREAK in (text := clipboard.text()):
        clipboard.setText(text.replace(BREAK, ""))


def label(text: str, role: str, *, wrap: bool = False) -> QLabel:
    """A label in one of the style sheet's roles: "dim", "heading", "danger", "warning", "title"."""
    return _in_role(QLabel(text), role, wrap=wrap)


def paragraph(text: str, role: str) -> WrappedLabel:
    """A label of several lines in boxes within boxes, which ask for its height over and over."""
    made = WrappedLabel(text)
    _in_role(made, role, wrap=True)
    return made


def _in_role(made: QLabel, role: str, *, wrap: bool) -> QLabel:
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        made.setProperty("role", role)
    made.setWordWrap(wrap)
    return made


class NameLabel(QLabel):
    """The dim word left of a field; a long one is shortened in its middle, whatever font it gets."""

    def __init__(self, name: str) -> None:
        """As wide as all of its kind."""
        super().__init__(name)
        self._name = name
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "dim")
        self.setFixedWidth(scale_px(LABEL_WIDTH_PX))
        self.setToolTip(name)

    def changeEvent(self, event: QEvent) -> None:
        """Another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.ApplicationFontChange):
            self._shorten()

    def showEvent(self, event: QShowEvent) -> None:
        """The style sheet has given it its font by now."""
        super().showEvent(event)
        self._shorten()

    def _shorten(self) -> None:
        width = scale_px(LABEL_WIDTH_PX)
        self.setFixedWidth(width)
        text = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, width)
        if text != self.text():
            self.setText(text)


class HelpLabel(NameLabel):
    """A word that tells more when the pointer rests on it; what it tells is asked for then."""

    def __init__(self, name: str, told: Callable[[], str]) -> None:
        """`told`: rich text."""
        super().__init__(name)
        self._told = told

    def enterEvent(self, event: QEnterEvent) -> None:
        """The tooltip is made when the pointer comes: torch's words may have come since."""
        self.setToolTip(self._told())
        super().enterEvent(event)


def field_row(name: str, field: QWidget, told: Callable[[], str] | None = None) -> QWidget:
    """A dim word left of a field, aligned with all other fields; `told`: what the word tells when pointed at."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(8)
    word = NameLabel(name) if told is None else HelpLabel(name, told)
    word.setContentsMargins(0, 5, 0, 0)
    layout.addWidget(word, 0, Qt.AlignmentFlag.AlignTop)
    layout.addWidget(field, 1)
    return row


def rule() -> QFrame:
    """A thin line between sections."""
    line = QFrame()
    line.setProperty("role", "rule")
    line.setFixedHeight(1)
    return line
