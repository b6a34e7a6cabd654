"""The shortcut sheet and About."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.panels.inspector.form import label
from gradstudio.ui.theme import mono_font, theme, tinted

Button = QDialogButtonBox.StandardButton
ON_THE_CANVAS = (
    ("Canvas", "Pan", "Middle button, or Space and drag"),
    ("Canvas", "Zoom at the pointer", "Wheel"),
    ("Canvas", "Select several", "Drag on the ground, Shift+click"),
    ("Canvas", "Draw a wire", "Drag from a port"),
    ("Canvas", "Cancel a gesture", "Esc"),
)


class ShortcutDialog(QDialog):
    """All keys, by menu, made from the table of actions."""

    def __init__(self, sheet: tuple[tuple[str, str, str], ...], parent: QWidget | None = None) -> None:
        """Show (menu, command, keys) rows in two columns."""
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        rows = (*sheet, *ON_THE_CANVAS)
        groups = list(dict.fromkeys(menu for menu, _, _ in rows))
        inner = QWidget()
        columns = QGridLayout(inner)
        columns.setContentsMargins(16, 12, 16, 12)
        columns.setHorizontalSpacing(36)
        columns.setVerticalSpacing(18)
        for k, group in enumerate(groups):
            place = QGridLayout()
            place.setHorizontalSpacing(18)
            place.setVerticalSpacing(5)
            place.addWidget(label(group, "heading"), 0, 0, 1, 2)
            for line, (_, command, keys) in enumerate((row for row in rows if row[0] == group), start=1):
                shown = label(keys, "dim")
                shown.setFont(mono_font())
                place.addWidget(QLabel(command), line, 0)
                place.addWidget(shown, line, 1, Qt.AlignmentFlag.AlignRight)
            place.setRowStretch(place.rowCount(), 1)
            columns.addLayout(place, k // 2, k % 2)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        _finish(self, area, QDialogButtonBox(Button.Close))
        self.resize(760, 640)


class AboutDialog(QDialog):
    """Name, purpose and versions."""

    def __init__(self, versions: str, parent: QWidget | None = None) -> None:
        """Show versions, with a button that copies them."""
        super().__init__(parent)
        self.setWindowTitle("About GradStudio")
        self._versions = versions
        picture = QLabel()
        picture.setPixmap(tinted("gradstudio", theme("dark").color("text"), 56, self.devicePixelRatioF()))
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
