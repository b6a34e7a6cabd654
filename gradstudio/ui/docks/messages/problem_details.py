"""What is known of one problem: our explanation, torch's words, the path, and the buttons of its fixes.

It stands below the problem's title, or, in a dock that is low and wide, beside the list.
"""

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gradstudio.advice.model import Fix
from gradstudio.graph.model import Graph, ItemId
from gradstudio.ui.docks.messages.message_model import name_of
from gradstudio.ui.state.run.problem_store import Problem, beyond_title
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.fix_buttons import FixButtons
from gradstudio.ui.widgets.form_layout import label

INDENT_PX = 34
RIGHT_PX = 14
GAP_PX = 6
BOTTOM_PX = 10
BESIDE_PX = 12
WORDS_SHARE, FIXES_SHARE = 9, 5


class ProblemDetails(QWidget):
    """What is known of one problem beside its title.

    Signals:
        clicked(): on it, beside its buttons.
        node_chosen(object): a node of the path.
        fix_chosen(object): a `Fix` whose button was pressed.
    """

    clicked = Signal()
    node_chosen = Signal(object)
    fix_chosen = Signal(object)

    def __init__(self, problem: Problem, graph: Graph, theme: Theme, parent: QWidget, *, beside: bool = False) -> None:
        """Show a problem as it stands; `beside` the list its title is among what is said."""
        super().__init__(parent)
        self.title = label("", "", wrap=True)
        self.title.setParent(self)
        self.title.hide()
        self.explanation = label(beyond_title(problem), "", wrap=True)
        self.words = label(problem.words if problem.words != problem.title else "", "dim", wrap=True)
        self.words.setFont(mono_font(11))
        self.path = label("", "", wrap=True)
        self.path.setTextFormat(Qt.TextFormat.RichText)
        self.path.setText(path_words(problem, graph, theme) if len(problem.path) > 1 else "")
        self.path.setAccessibleName("Path")
        self.path.linkActivated.connect(lambda item: self.node_chosen.emit(ItemId(item)))
        self.fixes = FixButtons(self)
        self.fixes.show_fixes(problem.fixes)
        self.fixes.setVisible(bool(problem.fixes))
        self.fixes.chosen.connect(self._on_fix_chosen)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(GAP_PX)
        if beside:
            self._stand_beside(problem.title)
        else:
            for part in (self.explanation, self.fixes, self.path, self.words):
                self._column.addWidget(part)
            self._column.addStretch(1)
        for text in (self.explanation, self.words):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for text in (self.explanation, self.words, self.path):
            text.setVisible(bool(text.text()))
        self.path.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.leave_room(0)
        if beside:
            self._column.setContentsMargins(BESIDE_PX, 2, BESIDE_PX, GAP_PX)

    def _stand_beside(self, title: str) -> None:
        """The words beside the buttons, so that both are in sight; each scrolls for itself."""
        words = QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        self.title.setText(title)
        self.title.show()
        self.title.setFont(ui_font(12, QFont.Weight.DemiBold))
        self.explanation.setFont(ui_font(12))
        for part in (self.title, self.explanation, self.path, self.words):
            policy = part.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)  # else the longest word pushes all below the bar
            part.setSizePolicy(policy)
            column.addWidget(part)
        column.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(BESIDE_PX)
        row.addWidget(_scrolling(words), WORDS_SHARE)
        if self.fixes.buttons or self.fixes.words.text():
            self.fixes.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
            for button in self.fixes.buttons:
                button.setFont(ui_font(12))
            row.addWidget(_scrolling(self.fixes), FIXES_SHARE)
        self._column.addLayout(row)

    def leave_room(self, title_px: int) -> None:
        """Stand below a title of that height."""
        self._column.setContentsMargins(INDENT_PX, title_px, RIGHT_PX, BOTTOM_PX)

    def height_for(self, width_px: int, title_px: int) -> int:
        """The whole row's height in pixels at that width."""
        self.leave_room(title_px)
        return self._column.totalHeightForWidth(width_px)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say beside the title."""
        return not (self.explanation.text() or self.words.text() or self.path.text() or self.fixes.buttons)

    def stops(self) -> tuple[QWidget, ...]:
        """What the Tab key goes through."""
        return (*self.fixes.buttons, *((self.path,) if self.path.text() else ()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        self.clicked.emit()

    def _on_fix_chosen(self, fix: Fix) -> None:
        self.fix_chosen.emit(fix)


def _scrolling(inner: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inner)
    area.setStyleSheet("QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; }")
    return area


def path_words(problem: Problem, graph: Graph, theme: Theme) -> str:
    """``x → log → loss`` as links, the problem's own node in bold."""
    color = theme.color("accent").name()
    parts = []
    for item in problem.path:
        name = escape(name_of(graph, item) or str(item))
        shown = f"<b>{name}</b>" if item == problem.node else name
        parts.append(f'<a href="{escape(str(item))}" style="color: {color}; text-decoration: none">{shown}</a>')
    return " &nbsp;→&nbsp; ".join(parts)
