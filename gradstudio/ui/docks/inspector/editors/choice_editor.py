"""Editors of arguments that are chosen: a list with what each choice does, and a switch; and which editor fits."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QWidget,
)

from gradstudio.graph.model import DOCUMENT_DEVICE
from gradstudio.graph.ports.item_ports import Port
from gradstudio.operators.literals.choices import LiteralChoice, is_closed
from gradstudio.operators.model import Kind
from gradstudio.scene.card.field_choices import is_switch, toggle_literal
from gradstudio.ui.docks.inspector.editors.argument_editor import DEFAULT, ArgumentEditor, LineEditor, short
from gradstudio.ui.docks.inspector.editors.data_editor import DataEditor

WIRE_ONLY = frozenset(
    {Kind.TENSOR, Kind.TENSORS, Kind.MODULE, Kind.MODULES, Kind.OPTIMIZER, Kind.ARRAY, Kind.GENERATOR, Kind.OBJECT}
)


def make_editor(port: Port, choices: Callable[[], tuple[LiteralChoice, ...]]) -> ArgumentEditor | None:
    """The editor that fits a port; None where only a wire can bring a value.

    Args:
        port: the argument.
        choices: what may be chosen (`operators.literals.choices`); asked where there may be a list.
    """
    parameter = port.parameter
    if is_switch(parameter):
        return SwitchEditor(port)
    if parameter.kind == Kind.DATA:
        return DataEditor(port)
    if rows := choices():
        return ChoiceEditor(port, rows)
    if parameter.kind in WIRE_ONLY and not parameter.nullable:
        return None
    return LineEditor(port)


class ChoiceEditor(ArgumentEditor):
    """A list: dtypes, devices, an operator's own choices; where others are taken too, they may be typed."""

    def __init__(self, port: Port, rows: tuple[LiteralChoice, ...], parent: QWidget | None = None) -> None:
        """Offer the rows; the first is torch's default where there is one."""
        self._box = _QuietComboBox()
        super().__init__(port, self._box, parent)
        self._box.setToolTip(port.parameter.hint)
        self._free = not is_closed(port.parameter)
        self._box.setEditable(self._free)
        self._box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        for offer in rows:
            default = offer.words.removeprefix("torch's ") or "default"  # as other fields say it: it has room
            if not offer.text:
                words = f"  ({default})"
            elif offer.words:
                words = f"   {offer.words}"
            else:
                words = ""
            self._box.addItem(offer.shown + (words if not self._free else ""), offer.text)
            self._box.setItemData(self._box.count() - 1, offer.words, Qt.ItemDataRole.ToolTipRole)
        self._offered = self._box.count()
        if (line := self._box.lineEdit()) is not None:
            line.setFont(self._box.font())
            line.setPlaceholderText(rows[0].shown if not rows[0].text else "")
            line.editingFinished.connect(self._on_line_editing_finished)
            self._box.setCompleter(None)  # type: ignore[arg-type]  # None takes the completer away
        self._box.activated.connect(self._on_box_activated)
        self.revert()

    def _on_line_editing_finished(self) -> None:
        if (line := self._box.lineEdit()) is not None:
            line.setModified(False)
        self.commit()

    @property
    def text(self) -> str:
        box = self._box
        if self._free and box.currentText() != box.itemText(box.currentIndex()):
            return box.currentText()
        return str(box.currentData() or "")

    def begin(self, port: Port) -> None:
        while self._box.count() > self._offered:  # what stood there of another item
            self._box.removeItem(self._offered)
        super().begin(port)

    def show_value(self) -> None:
        super().show_value()
        index = self._box.findData(self.port.literal)
        if index < 0 and self.port.literal:
            self._box.addItem(short(self.port.literal), self.port.literal)
            index = self._box.count() - 1
        self._box.setCurrentIndex(index)
        if self._free:
            self._box.setEditText(self._box.itemText(index) if self.port.literal else "")
            self._show_beginning()
        else:
            self._box.setProperty("role", "" if self.port.literal else "dim")
            self._box.style().polish(self._box)

    def commit(self) -> None:
        """The document's device is no literal of Python's; it is handed on as it is."""
        if self.text == DOCUMENT_DEVICE and self.text != self.shown:
            self.committed.emit(DOCUMENT_DEVICE)
            return
        super().commit()

    def _show_beginning(self) -> None:
        """Of a text that is wider than the box, the beginning tells more than the end."""
        if (line := self._box.lineEdit()) is not None:
            line.setCursorPosition(0)

    def _on_box_activated(self, index: int) -> None:
        """A row was chosen: its value counts, not its words."""
        self._box.setCurrentIndex(index)
        if self._free:
            self._box.setEditText(self._box.itemText(index))
            self._show_beginning()
        self.commit()
        if not self.text and self.shown:
            self.say("")
            self.committed.emit("")


class SwitchEditor(ArgumentEditor):
    """On or off; what torch does by itself is not written down."""

    def __init__(self, port: Port, parent: QWidget | None = None) -> None:
        """Show the literal, or the default dimly."""
        self._switch = _Switch()
        super().__init__(port, self._switch, parent)
        self._switch.setToolTip(port.parameter.hint)
        self._switch.clicked.connect(self._on_switch_clicked)
        self.revert()

    @property
    def text(self) -> str:
        return self.port.literal

    def show_value(self) -> None:
        super().show_value()
        value = self.port.literal or self.port.parameter.default or ""
        self._switch.setChecked(value == "True")
        missing = "needed" if self.port.required else ""
        self._switch.setText(self.port.literal or (f"{value}{DEFAULT}" if value else missing))
        self._switch.setProperty("role", "" if self.port.literal else "dim")
        self._switch.style().polish(self._switch)

    def _on_switch_clicked(self) -> None:
        self.committed.emit(toggle_literal(self.port.literal, self.port.parameter.default))


class _Switch(QCheckBox):
    """That a value is the default is said only where that fits."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        """Shows whole words, as a choice that is closed does."""
        super().initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, self).width()
        if self.fontMetrics().horizontalAdvance(option.text) > room:
            option.text = option.text.removesuffix(DEFAULT)


class _QuietComboBox(QComboBox):
    """A combo box that the wheel scrolls past, unless it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Closed it shows whole words: what stands in brackets behind a choice only where it fits."""
        super().initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
        if self.fontMetrics().horizontalAdvance(option.currentText) > room:
            option.currentText = option.currentText.split("  ", 1)[0]

    def wheelEvent(self, event: object) -> None:
        event.ignore()  # type: ignore[attr-defined]  # a QWheelEvent
