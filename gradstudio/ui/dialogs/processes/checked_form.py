"""A form whose fields say themselves what is wrong with what stands in them."""

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QLineEdit, QSpinBox, QVBoxLayout, QWidget

from gradstudio.ui.widgets.form_layout import label, paragraph

BETWEEN_PX, ROW_SPACING_PX = 14, 8


class CheckedForm(QWidget):
    """Titles, fields, and below a field what is wrong with it.

    Signals:
        changed(): a field holds something else.
    """

    changed = Signal()

    def __init__(self, words: str) -> None:
        """An empty form below some words."""
        super().__init__()
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(BETWEEN_PX)
        self._form.setVerticalSpacing(ROW_SPACING_PX)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._fields: dict[str, QWidget] = {}
        self._said: dict[str, QLabel] = {}
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(2, 12, 2, 0)
        self.column.setSpacing(BETWEEN_PX)
        self.column.addWidget(paragraph(words, "dim"))
        self.column.addLayout(self._form)

    def add(self, name: str, title: str, field: QWidget, hint: str = "") -> None:
        """A row; `name` is that of its problems, `hint` stands in the field while it is empty."""
        field.setAccessibleName(title)
        said = label("", "danger", wrap=True)
        self._form.addRow(title, field)
        self._form.addRow("", said)
        self._form.setRowVisible(said, False)
        self._fields[name], self._said[name] = field, said
        if isinstance(field, QLineEdit):
            field.setPlaceholderText(hint)
            field.textChanged.connect(self.changed)
        elif isinstance(field, QSpinBox):
            field.valueChanged.connect(self.changed)
        elif isinstance(field, QComboBox):
            field.currentIndexChanged.connect(self.changed)
        elif isinstance(field, QCheckBox):
            field.toggled.connect(self.changed)

    def show_problems(self, problems: Mapping[str, str]) -> None:
        """Say at each field what is wrong with it, and nothing at the others."""
        for name, said in self._said.items():
            words = problems.get(name, "")
            said.setText(words)
            self._form.setRowVisible(said, bool(words))
            self._fields[name].setAccessibleDescription(words)

    def problem(self, name: str) -> str:
        """What is said at a field; "" where nothing is."""
        return self._said[name].text()
