"""Asks how the columns of a table, or the arrays of a file, become X and y; shows rows, classes and what hurts."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gradstudio.document.data.array_files import Arrays
from gradstudio.document.data.character_text import Characters
from gradstudio.document.data.hazards import class_counts, hazards
from gradstudio.document.data.model import USUAL_SHARE, Choice, Prepared, Source, Work
from gradstudio.document.data.split import LARGEST_SHARE, preparation
from gradstudio.document.data.tables import Table, table_reading
from gradstudio.document.data.work import until_first
from gradstudio.document.errors import BadData
from gradstudio.ui.dialogs.data.picture_folder import PictureFolder
from gradstudio.ui.dialogs.data.reading_row import TableRow, combo, reading_row
from gradstudio.ui.dialogs.data.sliced_work import ProgressRow, SlicedWork
from gradstudio.ui.dialogs.dialog_size import fit_dialog
from gradstudio.ui.theme import Theme, icon, mono_font, scale_px
from gradstudio.ui.widgets.number_box import NumberBox
from gradstudio.ui.widgets.picture_preview import PicturePreview

SIZE_PX = (1040, 700)
LIST_PX = 300
ICON_PX = 16
SHOWN_ROWS, SHOWN_COLUMNS = 20, 60
MOST_CLASSES_SHOWN = 12
DELAY_MS = 120
"""So long after the last change the rows are counted anew."""
NO_TARGET = "none"


class ImportDataDialog(QDialog):
    """Fields on the left, the first rows on the right, below them what becomes of the choice.

    Attributes:
        prepared: what becomes tensors; None while the choice does not go.
    """

    def __init__(
        self, path: Path, source: Source, theme: Theme, parent: QWidget | None = None, rest: Work[Source] | None = None
    ) -> None:
        """Show what most would choose of it.

        Args:
            rest: what is still to be read; `source` are the first rows then.
        """
        super().__init__(parent)
        self.setWindowTitle("Import data")
        self.prepared: Prepared | None = None
        self._path, self._source, self._theme = path, source, theme
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._count)
        self._accepts = False
        self._progress = ProgressRow()
        self._work = SlicedWork(self._progress.show_progress, self)
        self.finished.connect(self._work.stop)
        self._build()
        self._show_source() if rest is None else self._read(rest)
        fit_dialog(self, *SIZE_PX)

    # ------------------------------------------------------------------ inner workings

    def _read(self, rest: Work[Source]) -> None:
        """Show the first rows, and read the rest; until then there is nothing to choose."""
        self._show_fields()
        self._set_ready(False)
        self._work.start(self._with_first_pictures(rest), self._on_read, self._on_not_read)

    def _with_first_pictures(self, rest: Work[Source]) -> Work[Source]:
        if isinstance(self._source, PictureFolder):
            first = yield from preparation(self._source, self._choice())
            self._pictures.show_rows(first.train, first.classes)
        return (yield from rest)

    def _set_ready(self, ready: bool) -> None:
        for widget in (self._fields, self._import):
            widget.setEnabled(ready)
        # another separator may be what a file needs that cannot be read to its end
        self._reading.setEnabled(ready or isinstance(self._reading, TableRow))

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(10)
        title = QLabel(self._path.name)
        title.setTextFormat(Qt.TextFormat.PlainText)
        title.setProperty("role", "title")
        self._description = QLabel()
        self._description.setProperty("role", "dim")
        self._description.setTextFormat(Qt.TextFormat.PlainText)
        self._description.setWordWrap(True)
        column.addWidget(title)
        column.addWidget(self._description)
        self._reading = reading_row(self._source)
        self._reading.changed.connect(self._on_choice_changed)
        self._reading.layout_changed.connect(self._on_layout_changed)
        column.addWidget(self._reading)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(self._left())
        row.addLayout(self._right(), 1)
        column.addLayout(row, 1)
        column.addLayout(self._buttons())

    def _left(self) -> QWidget:
        self._fields = QWidget()
        column = QVBoxLayout(self._fields)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        heading = QLabel("Inputs  (X)")
        heading.setProperty("role", "heading")
        self._inputs = QListWidget()
        self._inputs.setAccessibleName("Inputs")
        self._inputs.setFixedWidth(scale_px(LIST_PX))
        self._inputs.itemChanged.connect(self._on_choice_changed)
        column.addWidget(heading)
        column.addWidget(self._inputs, 1)
        form = QFormLayout()
        form.setHorizontalSpacing(10)
        self._target = combo("Target", ())
        self._target.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._kind = combo("Kind of target", (("a class  (int64)", True), ("a number  (float32)", False)))
        self._validation, self._seed = NumberBox(), NumberBox()
        self._validation.setRange(0, round(LARGEST_SHARE * 100))
        self._validation.setValue(round(USUAL_SHARE * 100))
        self._validation.setSuffix(" % of rows")
        self._validation.setAccessibleName("Rows to validate, in percent")
        self._seed.setRange(0, 2**31 - 1)
        self._seed.setAccessibleName("Seed of the split")
        self._missing = combo("Missing values", (("leave their rows out", False), ("fill with the mean", True)))
        self._normalises = QCheckBox("Normalise: mean 0, deviation 1")
        self._normalises.setToolTip("As statements of the program, so that an exported script does it, too")
        rows = (
            ("Target  (y)", self._target), ("is", self._kind), ("Validate", self._validation),
            ("Seed", self._seed), ("Missing", self._missing), ("", self._normalises),
        )  # fmt: skip
        for words, field in rows:
            form.addRow(words, field)
        if not isinstance(self._source, Table | Arrays):
            self._inputs.setVisible(False)
            heading.setText("Rows")
            for field in (self._target, self._kind, self._missing):
                form.setRowVisible(field, False)
        if isinstance(self._source, Characters):
            form.setRowVisible(self._seed, False)
            form.setRowVisible(self._normalises, False)
        column.addLayout(form)
        if self._inputs.isHidden():
            column.addStretch(1)
        self._target.currentIndexChanged.connect(self._on_target_changed)
        self._kind.currentIndexChanged.connect(self._on_choice_changed)
        self._missing.currentIndexChanged.connect(self._on_choice_changed)
        self._validation.valueChanged.connect(self._on_choice_changed)
        self._seed.valueChanged.connect(self._on_choice_changed)
        self._normalises.toggled.connect(self._on_choice_changed)
        return self._fields

    def _right(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(6)
        heading = QLabel()
        heading.setProperty("role", "heading")
        self._preview = QTableWidget()
        self._preview.setAccessibleName("First rows")
        self._preview.setFont(mono_font(12))
        self._preview.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self._preview.setHorizontalScrollMode(QTableWidget.ScrollMode.ScrollPerPixel)
        self._preview.setTabKeyNavigation(False)
        found = QLabel("What becomes of it")
        found.setProperty("role", "heading")
        self._found = QWidget()
        self._lines = QVBoxLayout(self._found)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(5)
        scrolled = QScrollArea()
        scrolled.setWidgetResizable(True)
        scrolled.setFrameShape(QFrame.Shape.NoFrame)
        scrolled.setWidget(self._found)
        self._pictures = PicturePreview()
        is_folder = isinstance(self._source, PictureFolder)
        self._pictures.setVisible(is_folder)
        self._preview.setVisible(not is_folder)
        heading.setText("First pictures" if is_folder else "First rows")
        for widget, stretch in ((heading, 0), (self._preview, 3), (self._pictures, 3), (found, 0), (scrolled, 2)):
            column.addWidget(widget, stretch)
        return column

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._import, cancel = QPushButton("Import"), QPushButton("Cancel")
        self._import.setDefault(True)
        cancel.setAutoDefault(False)
        self._import.clicked.connect(self._on_import_clicked)
        cancel.clicked.connect(self.reject)
        row.addWidget(self._progress)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self._import)
        return row

    def _show_source(self) -> None:
        """The file as it is read now, and what becomes of it."""
        self._show_fields()
        self._description.setText(self._source.description)
        self._set_ready(True)
        self._count()

    def _show_fields(self) -> None:
        """The fields of the file, what most would choose of them, and its first rows."""
        source, proposal = self._source, self._source.proposal()
        self._inputs.blockSignals(True)
        self._target.blockSignals(True)
        self._inputs.clear()
        self._target.clear()
        self._target.addItem(NO_TARGET, "")
        for field in source.fields:
            item = QListWidgetItem(f"{field.name}   {field.kind}")
            item.setData(Qt.ItemDataRole.UserRole, field.name)
            item.setCheckState(_state(field.name in proposal.inputs))
            if not field.can_be_input:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self._inputs.addItem(item)
            if field.can_be_target:
                self._target.addItem(field.name, field.name)
        self._target.setCurrentIndex(max(0, self._target.findData(proposal.target)))
        self._inputs.blockSignals(False)
        self._target.blockSignals(False)
        self._show_rows()
        self._propose_kind()

    def _show_rows(self) -> None:
        rows, fields = self._source.preview(SHOWN_ROWS), self._source.fields[:SHOWN_COLUMNS]
        table = self._preview
        table.setRowCount(len(rows))
        table.setColumnCount(len(fields))
        table.setHorizontalHeaderLabels([field.name for field in fields])
        for i, row in enumerate(rows):
            for k, text in enumerate(row[:SHOWN_COLUMNS]):
                table.setItem(i, k, QTableWidgetItem(text))
        table.verticalHeader().setDefaultSectionSize(QFontMetrics(table.font()).height() + 6)
        table.resizeColumnsToContents()

    def _propose_kind(self) -> None:
        name = self._target.currentData()
        field = next((one for one in self._source.fields if one.name == name), None)
        self._kind.blockSignals(True)
        self._kind.setCurrentIndex(0 if field is None or field.is_class else 1)
        self._kind.blockSignals(False)
        self._kind.setEnabled(field is not None and field.is_number)

    def _choice(self) -> Choice:
        target = self._target.currentData()
        items = (self._inputs.item(row) for row in range(self._inputs.count()))
        names = [item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() == Qt.CheckState.Checked]
        choice = Choice(
            inputs=tuple(name for name in names if name != target),
            target=target,
            is_class=self._kind.currentData(),
            fills_missing=self._missing.currentData(),
            normalises=self._normalises.isChecked(),
            validation=self._validation.value() / 100,
            seed=self._seed.value(),
        )
        return self._reading.completed(choice)

    def _count(self) -> None:
        """Say what becomes of the choice, or why it does not go."""
        self._timer.stop()
        self.prepared = None
        self._work.start(preparation(self._source, self._choice()), self._on_prepared, self._refuse)

    def _refuse(self, error: BadData) -> None:
        """Say why the choice, or the way of reading, does not go."""
        self._accepts = False
        self._clear_lines()
        self._say(str(error), "danger", "error")
        self._lines.addStretch(1)
        self._import.setEnabled(False)

    def _say(self, words: str, role: str, sign: str = "") -> None:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(7)
        if sign:
            picture = QLabel()
            picture.setPixmap(icon(sign, self._theme, role).pixmap(ICON_PX, ICON_PX))
            line.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        label = QLabel(words)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setWordWrap(True)
        label.setProperty("role", role)
        line.addWidget(label, 1)
        self._lines.addWidget(row)

    def _clear_lines(self) -> None:
        while (item := self._lines.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    # ------------------------------------------------------------------ slots

    def _on_choice_changed(self) -> None:
        self._timer.start()

    def _on_target_changed(self) -> None:
        self._propose_kind()
        self._timer.start()

    def _on_layout_changed(self) -> None:
        assert isinstance(self._reading, TableRow)
        self._timer.stop()
        self.prepared = None
        try:
            self._source, rest = until_first(table_reading(self._path, self._reading.text_layout))
        except BadData as error:
            self._work.stop()
            self._refuse(error)
            return
        self._show_source() if rest is None else self._read(rest)

    def _on_read(self, source: Source) -> None:
        self._source = source
        self._show_source()

    def _on_not_read(self, error: BadData) -> None:
        self._description.setText("")
        self._refuse(error)

    def _on_prepared(self, prepared: Prepared) -> None:
        self.prepared = prepared
        if self._accepts:
            self.accept()
            return
        self._clear_lines()
        if isinstance(self._source, PictureFolder):
            self._pictures.show_rows(prepared.train, prepared.classes)
        self._say(", ".join(_shapes(prepared)), "")
        for note in prepared.notes:
            self._say(note[:1].upper() + note[1:] + ".", "")
        if counts := class_counts(prepared):
            self._say(_balance(counts), "")
        for words in hazards(prepared):
            self._say(words, "warning", "warning")
        self._lines.addStretch(1)
        self._import.setEnabled(True)

    def _on_import_clicked(self) -> None:
        self._accepts = True  # or as soon as the rows are there
        if self._timer.isActive():
            self._count()
        if self.prepared is not None:
            self.accept()


def _state(checked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked


def _shapes(data: Prepared) -> list[str]:
    inputs = data.train.inputs
    found = [f"X {list(inputs.shape)} {'float32' if inputs.dtype == np.uint8 else inputs.dtype}"]
    if data.train.target is not None:
        found.append(f"y {list(data.train.target.shape)} {data.train.target.dtype}")
    if data.validation is not None:
        found.append(f"X_val {list(data.validation.inputs.shape)}")
    return found


def _balance(counts: tuple[tuple[str, int, int], ...]) -> str:
    """``Rows to learn from + to validate: “setosa” 40 + 10, …``: names are numbers and points, too."""
    shown = [f"“{name}” {train:,} + {apart:,}" for name, train, apart in counts[:MOST_CLASSES_SHOWN]]
    more = len(counts) - len(shown)
    rest = f", and {more} more" if more > 0 else ""
    return f"Rows to learn from + to validate: {', '.join(shown)}{rest}"
