"""What the Library says of the operator that is current: a strip of a fixed height, so that no row moves for it."""

from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from gradstudio.operators.catalogue.descriptions import plain_summary
from gradstudio.operators.model import Operator
from gradstudio.ui.theme import mono_font, ui_font
from gradstudio.ui.widgets.operator_signature import signature

LINES: Final = 5
"""So many lines are shown; more are scrolled to."""
NOTHING: Final = "Drag an operator onto the canvas, or press Enter on it."


class OperatorHelp(QScrollArea):
    """Signature and summary of the current operator, under the tree."""

    def __init__(self, parent: QWidget) -> None:
        """Say how operators are added, until one is current."""
        super().__init__(parent)
        self.setObjectName("operator_help")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._signature, self._summary = QLabel("", inner), QLabel("", inner)
        self._signature.setFont(mono_font(11))
        self._summary.setProperty("role", "dim")
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(0, 6, 6, 2)
        layout.setSpacing(3)
        for label in (self._signature, self._summary):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(label)
        layout.addStretch(1)
        self.setWidget(inner)
        self._fit()
        self.show_operator(None)

    def show_operator(self, operator: Operator | None) -> None:
        """Show how an operator is written and what it does; for None how one is added."""
        self._signature.setVisible(operator is not None)
        self._signature.setText(_breakable(signature(operator)) if operator is not None else "")
        self._summary.setText(plain_summary(operator.summary) if operator is not None else NOTHING)
        self.verticalScrollBar().setValue(0)

    def words(self) -> str:
        """What is said now."""
        return f"{self._signature.text()} {self._summary.text()}".replace("\u200b", "").strip()

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs a higher strip."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(LINES * QFontMetrics(ui_font()).height() + 12)


def _breakable(text: str) -> str:
    """The text with places where a narrow label may break it."""
    return text.replace("(", "(\u200b").replace(".", ".\u200b")
