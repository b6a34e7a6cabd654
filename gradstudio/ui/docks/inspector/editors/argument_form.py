"""The rows of the arguments of one item: kept, and filled anew for another item with the same arguments."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.graph.model import Wire
from gradstudio.ui.docks.inspector.editors.argument_editor import ArgumentEditor
from gradstudio.ui.theme import Theme, icon_pixmap, mono_font

ROW_GAP_PX = 6
CUT_PX = (22, 24)
TIP = "Fed by a wire: select where it comes from"


class ArgumentForm(QWidget):
    """Rows under one another.

    Attributes:
        editors: by path of an argument that is written; `links` of one that is wired.
    """

    def __init__(self, parent: QWidget) -> None:
        """No rows yet."""
        super().__init__(parent)
        self.editors: dict[str, ArgumentEditor] = {}
        self.links: dict[str, WireLink] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(ROW_GAP_PX)

    def add(self, row: QWidget) -> None:
        """Put a row below the others."""
        self._column.addWidget(row)


class WireLink(QWidget):
    """Where a wire comes from, and a button that takes it away."""

    def __init__(self, theme: Theme, reveal: Callable[[Wire], None], cut: Callable[[Wire], None]) -> None:
        """Of no wire yet."""
        super().__init__()
        self._shown: tuple[Wire, str] | None = None
        self._link = _LinkButton(self)
        self._link.setCursor(Qt.CursorShape.PointingHandCursor)
        self._link.clicked.connect(lambda: self._shown is not None and reveal(self._shown[0]))
        button = QToolButton(self)
        button.setObjectName("dock_button")
        button.setFixedSize(*CUT_PX)
        button.setToolTip("Take the wire away")
        button.setAccessibleName("Take the wire away")
        button.setIcon(icon_pixmap("error", theme.color("text_dim"), 16))
        button.clicked.connect(lambda: self._shown is not None and cut(self._shown[0]))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._link, 1)
        layout.addWidget(button)

    def show_wire(self, wire: Wire, name: str) -> None:
        """Show a wire that comes from a value of that name."""
        if self._shown != (wire, name):
            self._shown = wire, name
            self._link.setText(f"← {name}")
            self._link.setToolTip(f"{name}\n{TIP}")


class _LinkButton(QPushButton):
    """As wide as there is room; a longer name is shortened in its middle, and stands in the tooltip."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", parent)
        self.setObjectName("link")
        self.setFont(mono_font())
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # a narrow dock has the buttons

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        """Shows what fits."""
        super().initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self).width()
        option.text = self.fontMetrics().elidedText(option.text, Qt.TextElideMode.ElideMiddle, room)
