"""The editor of tensor literals: text over several lines, or a table; both take what a spreadsheet copies."""

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QWidget

from gradstudio.graph.ports.item_ports import Port
from gradstudio.operators.literals.number_tables import rows_of
from gradstudio.ui.docks.inspector.editors.argument_editor import ArgumentEditor, hint_of, is_enter, is_escape
from gradstudio.ui.docks.inspector.editors.data_table import MOST, DataTable

DATA_LINES = 5
DATA_WORDS = (
    "Numbers in nested lists, or pasted from a spreadsheet, CSV, numpy or torch. Return takes them up, Shift+Return "
    "begins a line, Esc brings the old ones back."
)


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
        self.table = DataTable(self)
        self.table.changed.connect(self.committed)
        self.table.hide()
        self.as_table = QPushButton("as a table", self)
        self.as_table.setObjectName("link")
        self.as_table.clicked.connect(self._on_as_table_clicked)
        column = self.layout()
        assert column is not None
        column.addWidget(self.table)
        column.addWidget(self.as_table)
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
        rows = rows_of(self.port.literal) or ()
        fits = bool(rows and rows[0]) and len(rows) <= MOST and len(rows[0]) <= MOST
        self.as_table.setVisible(fits)
        self.table.setVisible(fits and not self.table.isHidden())
        if fits:
            self.table.show_rows(rows, is_vector=not self.port.literal.strip().startswith("[["))

    def begin(self, port: Port) -> None:
        self.table.hide()
        self.as_table.setText("as a table")
        super().begin(port)

    def _on_as_table_clicked(self) -> None:
        """Show the table below the text, or put it away."""
        self.table.setVisible(self.table.isHidden())
        self.as_table.setText("without the table" if not self.table.isHidden() else "as a table")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return and leaving commit; Esc reverts."""
        if watched is not self._edit:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.FocusOut:
            QTimer.singleShot(0, self, self.commit)  # when the focus has gone
        elif is_escape(event):
            self.revert()
            return True
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and is_enter(event):
            self.commit()
            return True
        return super().eventFilter(watched, event)


def laid_out(literal: str) -> str:
    """A nested list with its rows under one another."""
    return literal.replace("], [", "],\n [") if literal.startswith("[[") else literal
