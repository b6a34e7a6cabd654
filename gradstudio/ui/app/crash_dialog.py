"""When the unexpected has happened: a report that can be copied, and the window lives on."""

from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout

from gradstudio.ui.theme import mono_font
from gradstudio.ui.widgets.form_layout import label

Button = QDialogButtonBox.StandardButton


class CrashDialog(QDialog):
    """Says that something went wrong inside, with the report to copy."""

    def __init__(self, report: str) -> None:
        """Show a report."""
        super().__init__(QApplication.activeWindow())
        self.setWindowTitle("GradStudio met an error of its own")
        self._report = report
        text = QPlainTextEdit(report)
        text.setObjectName("field")
        text.setReadOnly(True)
        text.setFont(mono_font(11))
        buttons = QDialogButtonBox(Button.Close)
        copy = buttons.addButton("Copy report", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QApplication.clipboard().setText(self._report))
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(label("Something went wrong inside GradStudio.", "title"))
        words = (
            "Your document is still open; save it under another name to be safe. The report helps to mend the error."
        )
        column.addWidget(label(words, "dim", wrap=True))
        column.addWidget(text)
        column.addWidget(buttons)
        self.resize(680, 420)
