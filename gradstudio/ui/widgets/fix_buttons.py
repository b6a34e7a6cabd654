"""Buttons that carry out fixes, flowing from left to right; fixes in words stand below them."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QLayout, QLayoutItem, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gradstudio.advice.model import Fix

GAP_PX = 6
PADDING_PX = 26


class FixButtons(QWidget):
    """The ways out of one problem.

    Signals:
        chosen(object): the `Fix` whose button was pressed.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """No fixes."""
        super().__init__(parent)
        self._row = QWidget(self)
        self._flow = Flow(self._row)
        self.buttons: list[FixButton] = []
        self.words = QLabel(self)
        self.words.setProperty("role", "dim")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_PX)
        column.addWidget(self._row)
        column.addWidget(self.words)
        self._fixes: tuple[Fix, ...] = ()

    def show_fixes(self, fixes: tuple[Fix, ...]) -> None:
        """Show a button for each that is edits, and the others in words."""
        if fixes == self._fixes:
            return
        self._fixes = fixes
        for button in self.buttons:
            button.hide()
            button.deleteLater()
        self._flow.clear()
        self.buttons = [self._button(fix) for fix in fixes if fix.edits is not None]
        lead = "or: " if self.buttons else ""
        texts = [fix.title for fix in fixes if fix.edits is None]
        self.words.setText("\n".join(f"{lead}{text}" for text in texts))
        self.words.setVisible(bool(texts))
        self._row.setVisible(bool(self.buttons))
        self.setVisible(bool(fixes))

    def _button(self, fix: Fix) -> "FixButton":
        button = FixButton(fix.title, self._row)
        button.clicked.connect(lambda: self.chosen.emit(fix))
        self._flow.addWidget(button)
        button.show()
        return button


class FixButton(QPushButton):
    """A button whose title takes as many lines as it needs; a word that is too wide ends in …."""

    def __init__(self, title: str, parent: QWidget) -> None:
        """Show the title."""
        super().__init__(title, parent)
        self.title = title
        self.setAccessibleName(f"Fix: {title}")
        self.setToolTip(f"{title}\nOne undo step")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAutoDefault(True)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)  # a fixed one gives it the height of one line
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.title) + PADDING_PX, self._height_of(1))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._height_of(1))

    def heightForWidth(self, width: int) -> int:
        return self._height_of(len(self._lines(width)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setText("\n".join(self._lines(self.width())))

    def _height_of(self, lines: int) -> int:
        around = super().sizeHint().height() - len(self.text().split("\n")) * self.fontMetrics().lineSpacing()
        return around + lines * self.fontMetrics().lineSpacing()

    def _lines(self, width: int) -> list[str]:
        """The title in lines that fit into a button of that width."""
        metrics, room, lines = self.fontMetrics(), width - PADDING_PX + 2, list[str]()
        for word in self.title.split(" "):
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and metrics.horizontalAdvance(longer) <= room:
                lines[-1] = longer
            else:
                lines.append(metrics.elidedText(word, Qt.TextElideMode.ElideRight, room))
        return lines


class Flow(QLayout):
    """Widgets from left to right, in as many lines as they need."""

    def __init__(self, parent: QWidget) -> None:
        """Empty."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        policy = parent.sizePolicy()
        policy.setHeightForWidth(True)
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
        parent.setSizePolicy(policy)

    def clear(self) -> None:
        """Forget the widgets; they are not deleted."""
        self._items.clear()
        self.invalidate()

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        """How many widgets there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), place=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        height = max((item.sizeHint().height() for item in self._items), default=0)
        return QSize(60, height)

    def _arrange(self, rect: QRect, place: bool) -> int:
        """Place the widgets, or only count; gives the height in pixels."""
        x, y, line = rect.left(), rect.top(), 0
        for item in self._items:
            hint = item.sizeHint()
            width = min(hint.width(), rect.width())
            height = item.heightForWidth(width) if item.hasHeightForWidth() else hint.height()
            if x > rect.left() and x + width > rect.right() + 1:
                x, y, line = rect.left(), y + line + GAP_PX, 0
            if place:
                item.setGeometry(QRect(QPoint(x, y), QSize(width, height)))
            x, line = x + width + GAP_PX, max(line, height)
        return y + line - rect.top()
