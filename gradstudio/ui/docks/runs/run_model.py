"""The table of runs: what each is called, what it has otherwise than the others, where it came to."""

from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gradstudio.document.runs.kept_run import WORDS, KeptRun, State
from gradstudio.protocol.curve_titles import Watched
from gradstudio.ui.docks.curves.beside_colors import beside_color
from gradstudio.ui.state.results.loop_progress import duration
from gradstudio.ui.state.runs.run_list import RunList, figures, final_figure, short_when, when
from gradstudio.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
COLUMNS: Final = ("Run", "What differs", "Last figures", "Turns", "Time", "State")
RUN, DIFFERS, LAST, TURNS, TIME, STATE = range(len(COLUMNS))
INK: Final[dict[State, str]] = {"failed": "danger", "ended": "warning", "running": "accent"}
MOST_FIGURES: Final = 3
KEYS: Final[dict[int, Callable[[KeptRun], Any]]] = {
    RUN: lambda run: run.id,
    TURNS: lambda run: run.record.turns,
    TIME: lambda run: run.record.seconds,
    STATE: lambda run: run.state,
}
"""What each column is sorted by; the last figures by that which the newest sweep was judged by."""
_COMPARED: Final = ("finished", "running")
"""By figures the others stand below, whichever way they are sorted: they were stopped before their last turn."""


class RunModel(QAbstractTableModel):
    """Rows of the document's runs; the box of the first column draws the curves of one, F2 gives it a name.

    Attributes:
        judge: by which of its figures a run is sorted; None, or one that no run has: by its loss.
    """

    def __init__(self, runs: RunList, theme: Theme, parent: QObject | None = None) -> None:
        """Follow a list."""
        super().__init__(parent)
        self.list, self._theme = runs, theme
        self.rows: list[KeptRun] = []
        self.judge: Watched | None = None
        self._column, self._is_descending = -1, False
        runs.changed.connect(self._on_list_changed)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._everything_changed()

    # ------------------------------------------------------------------ Qt overrides

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """By a column; -1: the newest first."""
        self._column, self._is_descending = column, order == Qt.SortOrder.DescendingOrder
        self._on_list_changed()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> object:
        return COLUMNS[section] if orientation == Qt.Orientation.Horizontal and role == Role.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() == RUN:
            flags |= Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Role.DisplayRole) -> object:
        if not index.isValid():
            return None
        run, column = self.rows[index.row()], index.column()
        shown = self.list.shown
        match role:
            case Role.DisplayRole:
                return self._text(run, column)
            case Role.EditRole:
                return run.record.name
            case Role.CheckStateRole if column == RUN:
                return Qt.CheckState.Checked if run.id in shown else Qt.CheckState.Unchecked
            case Role.ForegroundRole if column == STATE and run.state in INK:
                return self._theme.color(INK[run.state])
            case Role.ForegroundRole if column == RUN and run.id in shown and run.id != self.list.current:
                return beside_color(self._theme, shown.index(run.id))
            case Role.ToolTipRole:
                return self._tip(run, column)
        return None

    def setData(self, index: Index, value: object, role: int = Role.EditRole) -> bool:
        run = self.rows[index.row()]
        if role == Role.CheckStateRole:
            self.list.show(run.id, Qt.CheckState(value) == Qt.CheckState.Checked)
        elif role == Role.EditRole and isinstance(value, str):
            self.list.rename(run, value)
        return True

    # ------------------------------------------------------------------ inner workings

    def _text(self, run: KeptRun, column: int) -> str:
        record = run.record
        match column:
            case 0:
                return record.name or short_when(run)
            case 1:
                return self.list.difference(run)
            case 2:
                return " · ".join(figures(run.record)[:MOST_FIGURES])
            case 3:
                return f"{record.turns:,}"
            case 4:
                return duration(record.seconds)
        return WORDS[run.state]

    def _tip(self, run: KeptRun, column: int) -> str:
        if column == RUN:
            return f"{when(run)}\nThe box draws its curves in the Curves dock; F2 gives it a name"
        if column == STATE:
            return "\n".join(filter(None, (WORDS[run.state], run.record.reason)))
        return "\n".join(figures(run.record)) if column == LAST else self._text(run, column)

    def _sort_by_figure(self, runs: list[KeptRun]) -> None:
        judge = self.judge
        if judge is not None and not any(judge.name in run.record.last for run in runs):
            judge = None
        runs.sort(key=lambda run: final_figure(run, judge) or 0.0, reverse=self._is_descending)
        runs.sort(key=lambda run: run.state not in _COMPARED or final_figure(run, judge) is None)

    def _everything_changed(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(COLUMNS) - 1))

    def _on_list_changed(self) -> None:
        """The same rows keep selection and editor; others begin anew."""
        runs = list(self.list.runs)
        if self._column == LAST:
            self._sort_by_figure(runs)
        elif self._column in KEYS:
            runs.sort(key=KEYS[self._column], reverse=self._is_descending)
        if [run.id for run in runs] == [run.id for run in self.rows]:
            self.rows = runs
            self._everything_changed()
            return
        self.beginResetModel()
        self.rows = runs
        self.endResetModel()
