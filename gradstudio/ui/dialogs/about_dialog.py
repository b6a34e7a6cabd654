"""About."""

from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.theme import icon_pixmap, mono_font
from gradstudio.ui.widgets.form_layout import label

Button = QDialogButtonBox.StandardButton


class AboutDialog(QDialog):
    """Name, purpose and versions."""

    def __init__(self, versions: str, parent: QWidget | None = None) -> None:
        """Show versions, with a button that copies them."""
        super().__init__(parent)
        self.setWindowTitle("About GradStudio")
        self._versions = versions
        picture = QLabel()
        picture.setPixmap(
            icon_pixmap("gradstudio", QApplication.palette().windowText().color(), 56, self.devicePixelRatioF())
        )
        title = label("GradStudio", "title")
        words = label("Draw a PyTorch computation, run it, watch values and gradients flow.", "dim", wrap=True)
        text = QPlainTextEdit(versions)
        text.setObjectName("field")
        text.setReadOnly(True)
        text.setFont(mono_font(11))
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(16, 16, 16, 8)
        for widget in (picture, title, words, text):
            column.addWidget(widget)
        buttons = QDialogButtonBox(Button.Close)
        copy = buttons.addButton("Copy versions", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QApplication.clipboard().setText(self._versions))
        _finish(self, body, buttons)
        self.resize(520, 440)


def _finish(dialog: QDialog, body: QWidget, buttons: QDialogButtonBox) -> None:
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(0, 0, 0, 12)
    column.addWidget(body)
    row = QWidget()
    place = QVBoxLayout(row)
    place.setContentsMargins(16, 0, 16, 0)
    place.addWidget(buttons)
    column.addWidget(row)
