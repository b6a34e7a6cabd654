"""The words of one problem beside its card, with a button for each fix; a click on the card opens it."""

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from gradstudio.advice.model import Fix
from gradstudio.graph.model import ItemId
from gradstudio.ui.state.run.problem_store import Problem, beyond_title
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.fix_buttons import FixButtons

WIDTH, GAP, EDGE = 360, 8, 6
MAX_WORDS = 600
ROLES = {"error": "danger", "warning": "warning", "info": "info"}


class ProblemPopup(QFrame):
    """Over the canvas, at a card; it goes with the next thing a person does elsewhere."""

    def __init__(self, parent: QWidget, theme: Theme, apply: Callable[[Problem, Fix], object]) -> None:
        """Hidden; `apply` carries out a fix."""
        super().__init__(parent)
        self._room, self._theme, self._apply = parent, theme, apply
        self._problem: Problem | None = None
        self.setObjectName("problem_panel")
        self.title = _label("")
        self.title.setFont(ui_font(13, ui_font().Weight.DemiBold))
        self.explanation = _label("")
        self.explanation.setFont(ui_font(12))
        self.words = _label("dim")
        self.words.setFont(mono_font(11))
        self.fixes = FixButtons(self)
        self.fixes.chosen.connect(self._on_fixes_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(6)
        for part in (self.title, self.explanation, self.words, self.fixes):
            column.addWidget(part)
        for text in (self.title, self.explanation, self.words):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.hide()

    def show_problem(self, problem: Problem, card: QRect) -> None:
        """Say it beside a card (view pixels): below it where there is room, else at its right or above."""
        self._problem = problem
        self.title.setText(problem.title)
        for part, text in ((self.explanation, beyond_title(problem)), (self.words, problem.words[:MAX_WORDS])):
            part.setText(text)
            part.setVisible(bool(text) and text != problem.title)
        self.fixes.show_fixes(problem.fixes)
        self.fixes.setVisible(bool(problem.fixes))
        self._dress(ROLES[problem.severity])
        self.setFixedWidth(min(WIDTH, max(self._room.width() - 2 * EDGE, 120)))
        layout = self.layout()
        assert layout is not None
        self.setFixedHeight(layout.totalHeightForWidth(self.width()))
        self._place(card)
        self.show()
        self.raise_()

    @property
    def node(self) -> ItemId | None:
        """The node that it told of last."""
        return self._problem.node if self._problem is not None else None

    def keep_only(self, problems: tuple[Problem, ...]) -> None:
        """Go when what it tells of is not wrong any more."""
        if self.isVisible() and self._problem not in problems:
            self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.hide()

    def _place(self, card: QRect) -> None:
        room = self._room.size()
        x, y = card.x(), card.bottom() + GAP
        if y + self.height() > room.height() - EDGE:
            above = card.top() - GAP - self.height()
            if above >= EDGE:
                y = above
            else:
                x = (
                    card.right() + GAP
                    if card.right() + GAP + self.width() < room.width()
                    else card.x() - GAP - self.width()
                )
                y = card.top()
        x = min(max(x, EDGE), room.width() - self.width() - EDGE)
        self.move(x, min(max(y, EDGE), max(room.height() - self.height() - EDGE, EDGE)))

    def _dress(self, role: str) -> None:
        theme = self._theme
        self.setStyleSheet(
            f"QFrame#problem_panel {{ background: {theme.surface_raised}; border: 1px solid {theme.color(role).name()};"
            f" border-top-width: 3px; border-radius: 7px; }} QFrame#problem_panel QLabel {{ background: transparent; }}"
        )

    def _on_fixes_chosen(self, fix: Fix) -> None:
        problem = self._problem
        self.hide()
        if problem is not None:
            self._apply(problem, fix)


def _label(role: str) -> QLabel:
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    if role:
        made.setProperty("role", role)
    return made
