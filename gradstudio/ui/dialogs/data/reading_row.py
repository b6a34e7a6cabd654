"""How a file is read, above its rows: guessed, and a person's to change."""

from collections.abc import Iterable

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QWidget

from gradstudio.document.data.character_text import LONGEST_WINDOW, Characters
from gradstudio.document.data.model import USUAL_WINDOW, Choice, Source
from gradstudio.document.data.table_text import SEPARATORS, TextLayout
from gradstudio.document.data.tables import Table
from gradstudio.ui.dialogs.data.picture_folder import LARGEST_SIDE, PictureFolder
from gradstudio.ui.widgets.number_box import NumberBox


class ReadingRow(QWidget):
    """A line of fields.

    Signals:
        changed: a field that changes what comes of the file.
        layout_changed: a field by which the file is to be read anew.
    """

    changed = Signal()
    layout_changed = Signal()

    def __init__(self) -> None:
        """Without a field."""
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)

    def add(self, words: str, field: QWidget) -> None:
        """A field behind its name."""
        label = QLabel(words)
        label.setBuddy(field)
        self._row.addWidget(label)
        self._row.addWidget(field)

    def finish(self, *more: QWidget) -> None:
        """What follows the fields, and room."""
        for widget in more:
            self._row.addWidget(widget)
        self._row.addStretch(1)

    def completed(self, choice: Choice) -> Choice:
        """A choice with what the fields say."""
        return choice


class TableRow(ReadingRow):
    """How the text of a table is cut into cells."""

    def __init__(self, layout: TextLayout) -> None:
        """Show a layout."""
        super().__init__()
        self._separator = combo("Separator", ((word, sign) for sign, word in SEPARATORS.items()), layout.separator)
        self._decimal = combo("Decimal sign", (("point  1.5", "."), ("comma  1,5", ",")), layout.decimal)
        self._has_header = QCheckBox("The first row has names")
        self._has_header.setChecked(layout.has_header)
        self.add("Separator", self._separator)
        self.add("Decimal", self._decimal)
        self.finish(self._has_header)
        for field in (self._separator, self._decimal):
            field.currentIndexChanged.connect(self.layout_changed)
        self._has_header.toggled.connect(self.layout_changed)

    @property
    def text_layout(self) -> TextLayout:
        """What is chosen."""
        return TextLayout(self._separator.currentData(), self._decimal.currentData(), self._has_header.isChecked())


class WindowRow(ReadingRow):
    """From how many characters of a text the next one is told."""

    def __init__(self) -> None:
        """Show the usual length."""
        super().__init__()
        self._window = NumberBox()
        self._window.setAccessibleName("Window, in characters")
        self._window.setRange(1, LONGEST_WINDOW)
        self._window.setValue(USUAL_WINDOW)
        self._window.setSuffix(" characters")
        self._window.valueChanged.connect(self.changed)
        self.add("The next character is told from", self._window)
        self.finish()

    def completed(self, choice: Choice) -> Choice:
        """With the length of the window."""
        return msgspec.structs.replace(choice, window=self._window.value())


class PictureRow(ReadingRow):
    """To which size pictures are brought, and in which colours."""

    def __init__(self, source: PictureFolder) -> None:
        """Show what most of them have."""
        super().__init__()
        self._sides = NumberBox(), NumberBox()
        for words, side, pixels in zip(("Width", "Height"), self._sides, source.size, strict=True):
            side.setAccessibleName(f"{words} of the pictures, in pixels")
            side.setRange(1, LARGEST_SIDE)
            side.setValue(pixels)
            side.setSuffix(" px")
            side.setKeyboardTracking(False)
            side.valueChanged.connect(self.changed)
            self.add(words, side)
        self._colour = combo("Colour", (("gray", True), ("red, green, blue", False)), source.is_gray)
        self._colour.currentIndexChanged.connect(self.changed)
        self.add("Colour", self._colour)
        self.finish()

    def completed(self, choice: Choice) -> Choice:
        """With size and colour."""
        width, height = (side.value() for side in self._sides)
        return msgspec.structs.replace(choice, size=(width, height), is_gray=self._colour.currentData())


def reading_row(source: Source) -> ReadingRow:
    """The fields for a source; arrays have none."""
    if isinstance(source, Table) and source.layout is not None:
        return TableRow(source.layout)
    if isinstance(source, Characters):
        return WindowRow()
    if isinstance(source, PictureFolder):
        return PictureRow(source)
    return ReadingRow()


def combo(name: str, rows: Iterable[tuple[str, object]], chosen: object = None) -> QComboBox:
    """A field of choices with their values."""
    field = QComboBox()
    field.setAccessibleName(name)
    for words, value in rows:
        field.addItem(words, value)
    if chosen is not None:
        field.setCurrentIndex(max(0, field.findData(chosen)))
    return field
