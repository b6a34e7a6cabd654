"""Editors of arguments: each hands back Python text that was parsed, or says in words why it is refused."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionFrame,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.graph.ports.item_ports import Port
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals import parser
from gradstudio.operators.model import Kind
from gradstudio.ui.canvas.gestures.number_steps import nudge_number
from gradstudio.ui.docks.inspector.editors.number_slider import NumberSlider
from gradstudio.ui.theme import icon_pixmap, mono_font

SLIDING = frozenset({Kind.INT, Kind.FLOAT, Kind.NUMBER, Kind.TENSOR_OR_NUMBER, Kind.DATA, Kind.ANY})
"""Kinds whose literals may be one number."""
QUOTED_LETTERS = 24
BACK_PX = 14
DEFAULT = "  (default)"
LINE_EDGE = 2
"""Pixels that Qt keeps free beside the letters of a line on either side."""
MOST_MIXED = 4
"""So many different values of several nodes are named."""


class ArgumentEditor(QWidget):
    """A field, and under it the words of a refusal.

    Attributes:
        wire_names: asked about a text that is no literal: it may hold names of values, which are wired.
            Says why it is refused, or "".
        mixed: says that the values of several nodes differ; None until some did.

    Signals:
        committed(object): Python text that was parsed; "" puts the argument back to its default.
        slid(object): Python text of the number that the slider is drawn to.
    """

    committed = Signal(object)
    slid = Signal(object)

    def __init__(self, port: Port, field: QWidget, parent: QWidget | None = None) -> None:
        """Wrap a field; `port` says what it shows and takes."""
        super().__init__(parent)
        self.port, self.field = port, field
        self.shown = port.literal
        self.wire_names: Callable[[str], str] | None = None
        self.mixed: QLabel | None = None
        self.problem = QLabel("", self)
        self.problem.setProperty("role", "danger")
        self.problem.setWordWrap(True)
        self.problem.hide()
        field.setFont(mono_font())
        field.setAccessibleName(port.label)
        self.setFocusProxy(field)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        line = QHBoxLayout()
        line.setSpacing(2)
        line.addWidget(field, 1)
        self.back = QToolButton(self)
        self.back.setObjectName("dock_button")
        self.back.setIcon(icon_pixmap("undo", self.palette().color(QPalette.ColorRole.PlaceholderText), BACK_PX))
        self.back.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.back.setFixedWidth(24)
        self.back.clicked.connect(self._on_back_clicked)
        line.addWidget(self.back)
        layout.addLayout(line)
        self.slider = NumberSlider(self)
        self.slider.moved.connect(self._on_slider_moved)
        layout.addWidget(self.slider)
        layout.addWidget(self.problem)

    @property
    def text(self) -> str:
        """What stands in the field."""
        raise NotImplementedError

    def set_port(self, port: Port) -> None:
        """Show what the graph says now, unless the person is in the middle of a change."""
        changed = port.literal != self.port.literal or port.state != self.port.state
        self.port = port
        if changed:
            self.revert()

    def begin(self, port: Port) -> None:
        """Show the same argument of another item, as if made for it."""
        self.port = port
        self.revert()

    def revert(self) -> None:
        """Show the value that stands and forget what was typed."""
        self.say("")
        self.show_value()

    def show_value(self) -> None:
        """Put the value that stands into the field."""
        self.shown = self.port.literal
        default = self.port.parameter.default
        self.back.setVisible(bool(self.port.literal) and default is not None)
        self.back.setToolTip(f"Reset to default: {short(default or 'None')}")
        self.back.setAccessibleName(f"Reset {self.port.label} to default")
        if self.port.parameter.kind in SLIDING:
            self.slider.show_literal(self.port.literal)

    def commit(self) -> None:
        """Parse what stands in the field; announce it, or say why it is refused.

        A refused entry may be mended while the cursor is in it; when the field is left, the old value stands there
        again and the reason stays.
        """
        text = self.text.strip()
        if text == self.shown.strip() or (not text and not self.shown):
            return
        try:
            parsed = parser.parse(text, self.port.parameter) if text else ""
        except LiteralError as error:
            words = self.wire_names(text) if self.wire_names is not None else str(error)
            self.say(words)
            if words and not self.field.hasFocus():
                self.show_value()
                self.say(f"{_quoted(text)} was not taken: {words}")
            return
        self.say("")
        if parsed == self.port.literal:
            self.show_value()
        else:
            self.committed.emit(parsed)

    def _on_back_clicked(self) -> None:
        self.say("")
        self.committed.emit("")

    def _on_slider_moved(self, text: str) -> None:
        self.say("")
        self.slid.emit(text)

    def show_mixed(self, values: tuple[str, ...]) -> None:
        """Say that the field stands for several nodes with these values; none: they have the same."""
        if values and self.mixed is None:
            self.mixed = QLabel(self)
            self.mixed.setProperty("role", "dim")
            self.mixed.setWordWrap(True)
            layout = self.layout()
            assert layout is not None
            layout.addWidget(self.mixed)
        if self.mixed is not None:
            more = "" if len(values) <= MOST_MIXED else ", …"
            self.mixed.setText(f"mixed: {', '.join(map(short, values[:MOST_MIXED]))}{more}")
            self.mixed.setVisible(bool(values))

    def say(self, problem: str) -> None:
        """Show the words of a refusal under the field; "" takes them away."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        if bool(self.field.property("invalid")) != bool(problem):
            self.field.setProperty("invalid", bool(problem))
            self.field.style().polish(self.field)


class LineEditor(ArgumentEditor):
    """Numbers, shapes, indices, texts: one line."""

    def __init__(self, port: Port, parent: QWidget | None = None) -> None:
        """Show the literal, or the default as a hint."""
        self._line = QLineEdit()
        super().__init__(port, self._line, parent)
        self._hint = hint_of(port)
        self._line.setPlaceholderText(self._hint)
        self._line.setToolTip(port.parameter.hint)
        self._line.editingFinished.connect(self._on_line_editing_finished)
        self._line.textEdited.connect(lambda _text: self.say(""))
        self._line.installEventFilter(self)
        self.revert()

    @property
    def text(self) -> str:
        return self._line.text()

    def show_value(self) -> None:
        super().show_value()
        self._line.setText(self.port.literal)

    def _on_line_editing_finished(self) -> None:
        self._line.setModified(False)
        self.commit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc brings the old value back; the arrows up and down step a number."""
        if watched is self._line and is_escape(event) and self._line.text() != self.shown:
            self.revert()
            return True
        if watched is self._line and event.type() == QEvent.Type.Resize:
            self._say_hint()
        if watched is self._line and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            by = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
            if by and (text := nudge_number(self._line.text(), by, event.modifiers())):
                self._line.setText(text)
                self.commit()
                return True
        return super().eventFilter(watched, event)

    def _say_hint(self) -> None:
        """Whole words: what stands in brackets behind a default only where it fits."""
        line = self._line
        option = QStyleOptionFrame()
        line.initStyleOption(option)
        room = line.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, line).width() - 2 * LINE_EDGE
        fits = line.fontMetrics().horizontalAdvance(self._hint) <= room
        line.setPlaceholderText(self._hint if fits else self._hint.removesuffix(DEFAULT))


def hint_of(port: Port) -> str:
    """What an empty field says: torch's default, or that something is needed."""
    if port.grows:
        return "one more"
    if port.required:
        return port.parameter.hint or "needed"
    return f"{short(port.parameter.default or 'None')}{DEFAULT}"


def short(literal: str) -> str:
    """``float32`` for ``torch.float32``."""
    return literal.removeprefix("torch.")


def _quoted(text: str) -> str:
    """What was typed, shortly."""
    return f"“{text if len(text) <= QUOTED_LETTERS else text[:QUOTED_LETTERS] + '…'}”"


def is_escape(event: QEvent) -> bool:
    """Whether Esc was pressed."""
    return (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.KeyPress
        and event.matches(QKeySequence.StandardKey.Cancel)
    )


def is_enter(event: QKeyEvent) -> bool:
    """Whether Return was pressed, without Shift."""
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    return not shift and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
