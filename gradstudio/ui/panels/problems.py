"""The Problems dock: everything that is wrong; a row jumps to its node, unfolds, and offers what takes it away."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QStyle,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.advice.model import Fix
from gradstudio.ui.panels.log_model import Entry, EntryModel, Severity, name_of
from gradstudio.ui.panels.log_view import ICONS, LINE_PX, EntryDelegate, EntryView
from gradstudio.ui.panels.problem_details import ProblemDetails
from gradstudio.ui.state.problems import Problem
from gradstudio.ui.state.problems import Severity as ProblemSeverity
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, ui_font

NO_PROBLEMS = "No problems. What fails, and what looks wrong in a run, stands here with what can be done."
HIDDEN = "All {count} problems are hidden by the buttons above."
SEVERITIES: dict[ProblemSeverity, tuple[str, str]] = {
    "error": ("error", "errors"),
    "warning": ("warning", "warnings"),
    "info": ("note", "notes"),
}
WORD_COLORS: dict[Severity, str] = {"error": "text", "warning": "text", "print": "text", "info": "text_dim"}
BAR_PX, HEAD_PX = 3, 22
Key = tuple[str, str, str]
Index = QModelIndex | QPersistentModelIndex


class ProblemsPanel(QWidget):
    """What is wrong with the program as it stands, and with its last run.

    Signals:
        counted(object): how many problems there are now, the hidden ones too.
    """

    counted = Signal(object)

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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(top)
        column.addWidget(self.view, 1)
        self.view.row_chosen.connect(self._on_view_row_chosen)
        self.view.row_selected.connect(self._on_view_row_selected)
        session.problems.changed.connect(self._on_problems_changed)
        self.set_theme(theme)

    def refresh(self) -> None:
        """Show the problems as they stand."""
        problems, graph = self._session.problems.problems, self._session.graph_store.graph
        for severity, button in self.filters.items():
            _count(button, severity, sum(problem.severity == severity for problem in problems))
        self.shown = tuple(problem for problem in problems if self.filters[problem.severity].isChecked())
        self.view.say_when_empty(HIDDEN.format(count=len(problems)) if problems else NO_PROBLEMS)
        self.view.fold()
        self.model.replace([])
        self.model.replace([_entry(problem, name_of(graph, problem.node)) for problem in self.shown])
        self._select_again()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.view.set_theme(theme)
        for severity, button in self.filters.items():
            button.setIcon(icon(ICONS[severity][0], theme, ICONS[severity][1]))
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    # ------------------------------------------------------------------ slots

    def _on_problems_changed(self) -> None:
        self.refresh()
        self.counted.emit(len(self._session.problems.problems))

    def _on_view_row_chosen(self, row: int) -> None:
        if 0 <= row < len(self.shown):
            self._session.problems.reveal(self.shown[row])

    def _on_view_row_selected(self, row: int) -> None:
        if not 0 <= row < len(self.shown):
            return
        problem = self.shown[row]
        self._key = _key(problem)
        details = ProblemDetails(problem, self._session.graph_store.graph, self._theme, self.view.viewport())
        details.clicked.connect(lambda: self._session.problems.reveal(problem))
        details.node_chosen.connect(self._session.attention.reveal)
        details.fix_chosen.connect(lambda fix: self._apply(problem, fix))
        self.view.unfold(row, details)

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

    def unfold(self, row: int, details: ProblemDetails) -> None:
        """Show details below a row's title, and no others."""
        self.fold()
        if details.is_empty:
            details.deleteLater()
            return
        self.unfolded, self.details = row, details
        self.setIndexWidget(self.model().index(row, 0), details)
        before: QWidget = self
        for stop in details.stops():
            QWidget.setTabOrder(before, stop)
            before = stop
        self._lay_out()
        self.scrollTo(self.model().index(row, 0))

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

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        title, view = super().sizeHint(option, index), option.widget
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


def _entry(problem: Problem, where: str) -> Entry:
    parts = (problem.title, problem.explanation, problem.words)
    lines = dict.fromkeys(part for part in parts if part)
    title = f"{where}: {problem.title}" if where else problem.title
    return Entry(problem.severity, problem.title, problem.node, where, "\n".join((title, *list(lines)[1:])))


def _key(problem: Problem) -> Key:
    return problem.node, problem.kind, problem.title


def _count(button: QToolButton, severity: ProblemSeverity, count: int) -> None:
    one, many = SEVERITIES[severity]
    words = f"{count} {one if count == 1 else many}"
    button.setText(words)
    button.setAccessibleName(f"Show {many}: {count}")
    button.setToolTip(f"Show or hide {many}")
