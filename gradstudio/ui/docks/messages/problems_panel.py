"""The Problems dock: everything that is wrong; a row jumps to its node, unfolds, and offers what takes it away."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.advice.model import Fix
from gradstudio.ui.docks.messages.message_model import Entry, EntryModel, Severity, name_of
from gradstudio.ui.docks.messages.message_view import ICONS, LINE_PX, EntryDelegate, EntryView
from gradstudio.ui.state.run.problem_store import EXPECTED, Problem
from gradstudio.ui.state.run.problem_store import Severity as ProblemSeverity
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, ui_font

if TYPE_CHECKING:
    from gradstudio.ui.docks.messages.problem_details import ProblemDetails

NO_PROBLEMS = "No problems. What fails, and what looks wrong in a run, stands here with what can be done."
HIDDEN = "All {count} problems are hidden by the buttons above."
SEVERITIES: dict[ProblemSeverity, tuple[str, str]] = {
    "error": ("error", "errors"),
    "warning": ("warning", "warnings"),
    "info": ("note", "notes"),
}
WORD_COLORS: dict[Severity, str] = {"error": "text", "warning": "text", "print": "text", "info": "text_dim"}
BAR_PX, HEAD_PX, RIGHT_PX = 3, 22, 14
LOW_PX, WIDE_PX = 230, 520
"""A dock lower than the one and wider than the other has its details beside the list."""
LIST_SHARE = 3, 5
Key = tuple[str, str, str]
Index = QModelIndex | QPersistentModelIndex


class ProblemsPanel(QWidget):
    """What is wrong with the program as it stands, and with its last run."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to the session's problems."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.shown: tuple[Problem, ...] = ()
        self._key: Key | None = None
        self.model = EntryModel(self)
        self.view = ProblemView(self.model, NO_PROBLEMS, theme, self)
        self.filters = {severity: self._filter(severity) for severity in SEVERITIES}
        top = QWidget(self)
        top.setObjectName("dock_title")
        top.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        head = QHBoxLayout(top)
        head.setContentsMargins(8, 0, 8, 3)
        head.setSpacing(4)
        for button in self.filters.values():
            head.addWidget(button)
        head.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(top)
        column.addWidget(self.view, 1)
        self.beside = QStackedWidget(self)
        self.beside.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.beside.setObjectName("dock_title")
        self.beside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.beside.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(column, LIST_SHARE[0])
        row.addWidget(self.beside, LIST_SHARE[1])
        self.view.row_chosen.connect(self._on_view_row_chosen)
        self.view.row_selected.connect(self._on_view_row_selected)
        session.problems.changed.connect(self._on_problems_changed)
        self.set_theme(theme)

    def refresh(self) -> None:
        """Show the problems as they stand."""
        problems, graph = self._session.problems.problems, self._session.graph_store.graph
        for severity, button in self.filters.items():
            _count(button, severity, sum(problem.severity == severity for problem in problems), self.view.compact)
        self.shown = tuple(problem for problem in problems if self.filters[problem.severity].isChecked())
        self.view.say_when_empty(HIDDEN.format(count=len(problems)) if problems else NO_PROBLEMS)
        self._fold()
        self.model.replace([])
        low = self.view.compact
        self.model.replace([_entry(problem, name_of(graph, problem.node), low) for problem in self.shown])
        self._select_again()
        self._share_width()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.view.set_theme(theme)
        for severity, button in self.filters.items():
            button.setIcon(icon(ICONS[severity][0], theme, ICONS[severity][1]))
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        low = self.height() < LOW_PX and self.width() >= WIDE_PX
        if low != self.view.compact:
            self.view.compact = low
            self.refresh()

    @property
    def details(self) -> "ProblemDetails | None":
        """What is said of the problem that is selected, wherever it stands."""
        from gradstudio.ui.docks.messages.problem_details import ProblemDetails

        shown = self.beside.currentWidget()
        return shown if isinstance(shown, ProblemDetails) else self.view.details

    # ------------------------------------------------------------------ slots

    def _on_problems_changed(self) -> None:
        self.refresh()

    def _on_view_row_chosen(self, row: int) -> None:
        if 0 <= row < len(self.shown):
            self._session.problems.reveal(self.shown[row])

    def _on_view_row_selected(self, row: int) -> None:
        from gradstudio.ui.docks.messages.problem_details import ProblemDetails

        if not 0 <= row < len(self.shown):
            return
        problem = self.shown[row]
        self._key = _key(problem)
        graph, low = self._session.graph_store.graph, self.view.compact
        where = self.beside if low else self.view.viewport()
        details = ProblemDetails(problem, graph, self._theme, where, beside=low)
        details.clicked.connect(lambda: self._session.problems.reveal(problem))
        details.node_chosen.connect(self._session.attention.reveal)
        details.fix_chosen.connect(lambda fix: self._apply(problem, fix))
        if low:
            self._fold()
            self.beside.addWidget(details)
            self.beside.setCurrentWidget(details)
            self.view.lead_to(details)
            self._share_width()
        else:
            self.view.unfold(row, details)

    def _share_width(self) -> None:
        """Until a problem is selected the list has the whole width, and its titles stand there whole."""
        from gradstudio.ui.docks.messages.problem_details import ProblemDetails

        self.beside.setVisible(isinstance(self.beside.currentWidget(), ProblemDetails))

    def _fold(self) -> None:
        """Show titles alone."""
        from gradstudio.ui.docks.messages.problem_details import ProblemDetails

        self.view.fold()
        shown = self.beside.currentWidget()
        if isinstance(shown, ProblemDetails):
            self.beside.removeWidget(shown)
            shown.deleteLater()

    def _apply(self, problem: Problem, fix: Fix) -> None:
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._session.problems.apply(problem, fix)

    def _select_again(self) -> None:
        """The row that was selected, if its problem is still there; else a failure, so that its fixes are at hand."""
        row = next((k for k, problem in enumerate(self.shown) if _key(problem) == self._key), -1)
        if row < 0 and self.shown and self.shown[0].kind == "failure":
            row = 0
        if row >= 0:
            self.view.setCurrentIndex(self.model.index(row, 0))

    def _filter(self, severity: ProblemSeverity) -> QToolButton:
        button = QToolButton(self)
        button.setCheckable(True)
        button.setChecked(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIconSize(QSize(12, 12))
        button.setObjectName("dock_button")
        button.setFont(ui_font(11))
        button.setFixedHeight(HEAD_PX)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.toggled.connect(self.refresh)
        _count(button, severity, 0)
        return button


class ProblemView(EntryView):
    """The rows; the selected one is unfolded.

    Attributes:
        compact: what each is about stands beside the list.

    Signals:
        row_chosen(int): a row was clicked, or Enter pressed on it.
        row_selected(int): another row is the current one.
    """

    row_chosen = Signal(int)
    row_selected = Signal(int)

    def __init__(self, model: EntryModel, empty: str, theme: Theme, parent: QWidget) -> None:
        """Show a model; `empty` is said when it has no rows."""
        self.details: ProblemDetails | None = None
        self.unfolded = -1
        self.compact = False
        super().__init__(model, empty, theme, parent)
        self.setFont(ui_font())
        self.setAccessibleName("Problems")
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        # A press unfolds its row and folds another, so that the release may be over a third: the press is what counts.
        self.clicked.disconnect(self._on_clicked)
        self.pressed.connect(self._on_clicked)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.setItemDelegate(_ProblemDelegate(theme, self, WORD_COLORS))

    def unfold(self, row: int, details: "ProblemDetails") -> None:
        """Show details below a row's title, and no others."""
        self.fold()
        if details.is_empty:
            details.deleteLater()
            return
        self.unfolded, self.details = row, details
        self.setIndexWidget(self.model().index(row, 0), details)
        self.lead_to(details)
        self._lay_out()
        self.scrollTo(self.model().index(row, 0))

    def lead_to(self, details: "ProblemDetails") -> None:
        """The Tab key goes from the rows to what can be done."""
        before: QWidget = self
        for stop in details.stops():
            QWidget.setTabOrder(before, stop)
            before = stop

    def fold(self) -> None:
        """Show titles alone."""
        row, self.unfolded, self.details = self.unfolded, -1, None
        if 0 <= row < self.model().rowCount():
            self.setIndexWidget(self.model().index(row, 0), None)  # type: ignore[arg-type]  # None takes it away
            self._lay_out()

    def text_of(self, row: int) -> str:
        """What Copy takes of a row: its title, our words and torch's."""
        return str(self.model().index(row, 0).data(Qt.ItemDataRole.ToolTipRole))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if current.isValid() and current.row() != self.unfolded:
            self.row_selected.emit(current.row())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.isValid():
            self.row_chosen.emit(index.row())

    def _lay_out(self) -> None:
        self.scheduleDelayedItemsLayout()


class _ProblemDelegate(EntryDelegate):
    """A row is as high as its title, and its details where it is unfolded."""

    right_px = RIGHT_PX

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view = option.widget
        title = super().sizeHint(option, index)
        if isinstance(view, ProblemView) and view.details is not None and index.row() == view.unfolded:
            height = view.details.height_for(view.viewport().width(), title.height())
            return QSize(title.width(), max(height, LINE_PX))
        return title

    def paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        """Long words are read on it: the selected row is raised, with a bar at its left, not filled with a colour."""
        if not option.state & QStyle.StateFlag.State_Selected:
            return
        rect = QRect(option.rect)
        painter.fillRect(rect, self.theme.color("surface_raised"))
        has_focus = option.widget.hasFocus()
        painter.fillRect(
            rect.left(), rect.top(), BAR_PX, rect.height(), self.theme.color("accent" if has_focus else "line")
        )


def _entry(problem: Problem, where: str, compact: bool) -> Entry:
    """A row; where it has one short line, that begins with what is wrong."""
    parts = (problem.title, problem.explanation, problem.words)
    lines = dict.fromkeys(part for part in parts if part)
    title = f"{where}: {problem.title}" if where else problem.title
    words = problem.title.removeprefix(EXPECTED) if compact else problem.title
    return Entry(problem.severity, words, problem.node, where, "\n".join((title, *list(lines)[1:])))


def _key(problem: Problem) -> Key:
    return problem.node, problem.kind, problem.title


def _count(button: QToolButton, severity: ProblemSeverity, count: int, compact: bool = False) -> None:
    one, many = SEVERITIES[severity]
    words = f"{count} {one if count == 1 else many}"
    button.setText(str(count) if compact else words)
    button.setAccessibleName(f"Show {many}: {count}")
    button.setToolTip(f"{words}: show or hide")
