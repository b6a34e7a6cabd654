"""Editors of arguments: each hands back Python text that was parsed, or says in words why it is refused."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from gradstudio.graph.model import DOCUMENT_DEVICE
from gradstudio.graph.ports import Port
from gradstudio.operators import literals
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.model import Kind, Parameter
from gradstudio.ui.panels.inspector.slider import NumberSlider
from gradstudio.ui.theme import mono_font

DTYPES = (
    *("torch.float32", "torch.float64", "torch.float16", "torch.bfloat16"),
    *("torch.int64", "torch.int32", "torch.int16", "torch.int8", "torch.uint8"),
    *("torch.bool", "torch.complex64", "torch.complex128"),
)
CHOICES: dict[Kind, tuple[str, ...]] = {
    Kind.BOOL: ("True", "False"),
    Kind.DTYPE: DTYPES,
    Kind.LAYOUT: ("torch.strided", "torch.sparse_coo"),
    Kind.MEMORY_FORMAT: ("torch.contiguous_format", "torch.channels_last", "torch.preserve_format"),
}
SLIDING = frozenset({Kind.INT, Kind.FLOAT, Kind.NUMBER, Kind.TENSOR_OR_NUMBER, Kind.DATA, Kind.ANY})
"""Kinds whose literals may be one number."""
DATA_LINES = 5
DATA_WORDS = "Numbers in nested lists. Return takes them up, Shift+Return begins a line, Esc brings the old ones back."
QUOTED_LETTERS = 24


class ArgumentEditor(QWidget):
    """A field, and under it the words of a refusal.

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
        layout.addWidget(field)
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

    def revert(self) -> None:
        """Show the value that stands and forget what was typed."""
        self.say("")
        self.show_value()

    def show_value(self) -> None:
        """Put the value that stands into the field."""
        self.shown = self.port.literal
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
            parsed = literals.parse(text, self.port.parameter) if text else ""
        except LiteralError as error:
            self.say(str(error))
            if not self.field.hasFocus():
                self.show_value()
                self.say(f"{_quoted(text)} was not taken: {error}")
            return
        self.say("")
        if parsed == self.port.literal:
            self.show_value()
        else:
            self.committed.emit(parsed)

    def _on_slider_moved(self, text: str) -> None:
        self.say("")
        self.slid.emit(text)

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
        self._line.setPlaceholderText(hint_of(port))
        self._line.setToolTip(port.parameter.hint)
        self._line.editingFinished.connect(self.commit)
        self._line.textEdited.connect(lambda _text: self.say(""))
        self._line.installEventFilter(self)
        self.revert()

    @property
    def text(self) -> str:
        return self._line.text()

    def show_value(self) -> None:
        super().show_value()
        self._line.setText(self.port.literal)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc brings the old value back."""
        if watched is self._line and _is_escape(event) and self._line.text() != self.shown:
            self.revert()
            return True
        return super().eventFilter(watched, event)


class ChoiceEditor(ArgumentEditor):
    """A short list: booleans, dtypes, devices, an operator's own choices; others may be typed."""

    def __init__(self, port: Port, choices: tuple[tuple[str, str], ...], parent: QWidget | None = None) -> None:
        """Offer (shown, Python text) pairs after the default."""
        self._box = _QuietComboBox()
        super().__init__(port, self._box, parent)
        self._box.setToolTip(port.parameter.hint)
        if not port.required:
            self._box.addItem(hint_of(port), "")
        for shown, text in choices:
            self._box.addItem(shown, text)
        self._box.activated.connect(lambda _index: self.commit())
        self.revert()

    @property
    def text(self) -> str:
        return str(self._box.currentData() or "")

    def show_value(self) -> None:
        super().show_value()
        index = self._box.findData(self.port.literal)
        if index < 0 and self.port.literal:
            self._box.addItem(self.port.literal, self.port.literal)
            index = self._box.count() - 1
        self._box.setCurrentIndex(index)

    def commit(self) -> None:
        """The document's device is no literal of Python's; it is handed on as it is."""
        if self.text == DOCUMENT_DEVICE and self.text != self.shown:
            self.committed.emit(DOCUMENT_DEVICE)
            return
        super().commit()


class DataEditor(ArgumentEditor):
    """Tensor literals over several lines; Return or leaving the field takes them up, Shift+Return begins a line."""

    def __init__(self, port: Port, parent: QWidget | None = None) -> None:
        """Show the literal."""
        self._edit = QPlainTextEdit()
        self._edit.setObjectName("field")
        super().__init__(port, self._edit, parent)
        self._edit.setPlaceholderText(hint_of(port))
        self._edit.setToolTip(DATA_WORDS)
        self._edit.setTabChangesFocus(True)
        self._edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._edit.installEventFilter(self)
        self._edit.textChanged.connect(lambda: self.say(""))
        self.revert()

    @property
    def text(self) -> str:
        return self._edit.toPlainText()

    def show_value(self) -> None:
        super().show_value()
        self._edit.setPlainText(laid_out(self.port.literal))
        self.shown = self._edit.toPlainText()
        lines = min(max(self.shown.count("\n") + 1, 1), DATA_LINES)
        self._edit.setFixedHeight(self._edit.fontMetrics().lineSpacing() * lines + 20)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return and leaving commit; Esc reverts."""
        if watched is not self._edit:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.FocusOut:
            QTimer.singleShot(0, self, self.commit)  # when the focus has gone
        elif _is_escape(event):
            self.revert()
            return True
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and _is_enter(event):
            self.commit()
            return True
        return super().eventFilter(watched, event)


class _QuietComboBox(QComboBox):
    """A combo box that the wheel scrolls past, unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)

    def wheelEvent(self, event: object) -> None:
        event.ignore()  # type: ignore[attr-defined]  # a QWheelEvent


def make_editor(port: Port, devices: tuple[str, ...], document_device: str) -> ArgumentEditor | None:
    """The editor that fits a port; None where only a wire can bring a value."""
    parameter = port.parameter
    if parameter.kind == Kind.DEVICE:
        return ChoiceEditor(port, _device_choices(devices, document_device))
    if parameter.kind == Kind.DATA:
        return DataEditor(port)
    choices = parameter.choices or CHOICES.get(parameter.kind, ())
    if choices:
        return ChoiceEditor(port, _with_none(choices, parameter))
    if parameter.kind in WIRE_ONLY and not parameter.nullable:
        return None
    return LineEditor(port)


WIRE_ONLY = frozenset(
    {Kind.TENSOR, Kind.TENSORS, Kind.MODULE, Kind.MODULES, Kind.OPTIMIZER, Kind.ARRAY, Kind.GENERATOR, Kind.OBJECT}
)


def hint_of(port: Port) -> str:
    """What an empty field says: torch's default, or that something is needed."""
    if port.required:
        return port.parameter.hint or "needed"
    return f"{short(port.parameter.default or 'None')}  (default)"


def short(literal: str) -> str:
    """``float32`` for ``torch.float32``."""
    return literal.removeprefix("torch.")


def _quoted(text: str) -> str:
    """What was typed, shortly."""
    return f"“{text if len(text) <= QUOTED_LETTERS else text[:QUOTED_LETTERS] + '…'}”"


def laid_out(literal: str) -> str:
    """A nested list with its rows under one another."""
    return literal.replace("], [", "],\n [") if literal.startswith("[[") else literal


def _device_choices(devices: tuple[str, ...], document_device: str) -> tuple[tuple[str, str], ...]:
    named = tuple((name, f'"{name}"') for name in devices or ("cpu",))
    return ((f"document's: {document_device}", DOCUMENT_DEVICE), *named)


def _with_none(choices: tuple[str, ...], parameter: Parameter) -> tuple[tuple[str, str], ...]:
    extra = ("None",) if parameter.nullable and parameter.default != "None" and "None" not in choices else ()
    return tuple((short(text), text) for text in (*choices, *extra))


def _is_escape(event: QEvent) -> bool:
    return (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.KeyPress
        and event.matches(QKeySequence.StandardKey.Cancel)
    )


def _is_enter(event: QKeyEvent) -> bool:
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    return not shift and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
