"""Asks what a sweep is of: literals with several values each, how many trainings at once, and whether to stop some."""

import os
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gradstudio.document.errors import BadSweep
from gradstudio.document.runs.run_literals import SEED, Setting, number_of, varied_settings
from gradstudio.document.runs.run_writer import KEPT
from gradstudio.document.runs.sweep_grid import Space, combinations, search_space, span_of, values_of
from gradstudio.document.runs.sweep_search import (
    GRID,
    NOT_INSTALLED,
    OPTUNA,
    USUAL_TRIALS,
    count_of,
    has_optuna,
)
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.curve_titles import Watched, judged_figures
from gradstudio.ui.state.runs.sweep_process import LARGEST, LEAST, Order
from gradstudio.ui.state.session import Session
from gradstudio.ui.widgets.number_box import NumberBox

Button = QDialogButtonBox.StandardButton
LITERAL, NOW, VALUES = range(3)
COLUMNS: Final = ("Literal", "Now", "Train with")
WIDTH_PX, HEIGHT_PX = 620, 460
MOST_PX: Final = {LITERAL: 250, NOW: 120}
"""Longer names are cut, and whole under the pointer: the values have the rest."""
HEAD: Final = (
    "Trains once for each value, or for each combination of them, side by side in the background. "
    "Each is kept in the Runs dock, to compare and restore."
)
SEARCHES: Final = {GRID: "every combination", OPTUNA: "what optuna proposes"}
HINTS: Final = {
    GRID: "Type values into Train with: 0.1, 0.01, 0.001. Or choose a row, and fill in a range.",
    OPTUNA: "Type a range into Train with: 0.001:0.1:log, 16:64. Or choose a row, and fill in a range.",
}
SAME_NUMBERS: Final = (
    "Each computes on as many threads as a run of the document, so that its numbers are the same; "
    "several at once share the cores."
)
EQUAL, RATIOS = "in equal steps", "in equal ratios"
COUNT: Final = 3
LEAST_JOBS: Final = 2
OPTIMIZERS: Final = "torch.optim."
FACTOR: Final = 10


class SweepDialog(QDialog):
    """A row a literal, those of the selected card first; `order` is what was chosen."""

    def __init__(self, graph: Graph, current: ItemId | None, parent: QWidget | None = None) -> None:
        """Show the literals of a program."""
        super().__init__(parent)
        self.setWindowTitle("Sweep")
        self._graph = graph
        self.order: Order | None = None
        self.table = _table(_rows(graph, current))
        self.first, self.last, self.count = QLineEdit(), QLineEdit(), NumberBox()
        self.spacing, self.fill = QComboBox(), QPushButton("Fill in")
        self.jobs, self.stops = NumberBox(), QCheckBox("Stop a training that is worse than half of the others")
        self.search, self.trials, self.judge = QComboBox(), NumberBox(), QComboBox()
        self.said = QLabel()
        self.buttons = QDialogButtonBox(Button.Ok | Button.Cancel)
        self._build()
        self.table.itemChanged.connect(self._check)
        self.table.currentCellChanged.connect(self._propose)
        self.fill.clicked.connect(self._fill_in)
        self.search.currentIndexChanged.connect(self._on_search_changed)
        self.trials.valueChanged.connect(self._check)
        self.table.setCurrentCell(0, VALUES)
        self._check()

    @property
    def settings(self) -> tuple[str, ...]:
        """The literals that have values, as the command line takes them."""
        rows = range(self.table.rowCount())
        texts = [(self._text(row, LITERAL), self._text(row, VALUES)) for row in rows]
        return tuple(f"{name}={values}" for name, values in texts if values)

    # ------------------------------------------------------------------ inner workings

    def _build(self) -> None:
        head = QLabel(HEAD)
        for words in (head, self.said):
            words.setWordWrap(True)
            words.setTextFormat(Qt.TextFormat.PlainText)
            words.setProperty("role", "dim")
        self.count.setRange(2, KEPT)
        self.count.setValue(COUNT)
        self.spacing.addItems((EQUAL, RATIOS))
        for kind, kind_words in SEARCHES.items():
            self.search.addItem(kind_words, kind)
        for figure in judged_figures(self._graph):
            self.judge.addItem(f"{figure.name}, the {LARGEST if figure.rises else LEAST}", figure)
        self.judge.addItem(f"the loss while it learns, the {LEAST}", None)
        self.trials.setRange(1, KEPT)
        self.trials.setValue(USUAL_TRIALS)
        self._of_optuna = (self.trials, QLabel("trainings"))
        for one in self._of_optuna:
            one.hide()
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        names = {self.first: "From", self.last: "To", self.count: "How many values", self.spacing: "Spacing"}
        names |= {self.search: "Search", self.trials: "How many trainings", self.judge: "Judge by"}
        for widget, name in names.items():
            widget.setAccessibleName(name)
        self.jobs.setRange(1, max(os.cpu_count() or 1, 1))
        self.jobs.setValue(max((os.cpu_count() or 1) // 2, LEAST_JOBS))
        self.jobs.setAccessibleName("Trainings at once")
        self.jobs.setToolTip(SAME_NUMBERS)
        self.stops.setChecked(True)
        self.buttons.button(Button.Ok).setText("Start")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addWidget(head)
        column.addWidget(self.table, 1)
        values = (self.count, QLabel("values"), self.spacing, self.fill)
        column.addLayout(_row(QLabel("Range from"), self.first, QLabel("to"), self.last, *values))
        column.addLayout(_row(QLabel("Try"), self.search, *self._of_optuna))
        column.addLayout(_row(QLabel("Judge by"), self.judge, self.stops))
        column.addLayout(_row(QLabel("At once"), self.jobs))
        column.addWidget(self.said)
        column.addWidget(self.buttons)
        self.resize(WIDTH_PX, HEIGHT_PX)

    def _text(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return item.text().strip() if item is not None else ""

    def _propose(self, row: int) -> None:
        """A range around what stands there now."""
        now = number_of(self._text(row, NOW))
        is_whole = now is not None and now == int(now) and "." not in self._text(row, NOW)
        for widget in (self.first, self.last, self.count, self.spacing, self.fill):
            widget.setEnabled(now is not None)
        self.count.setEnabled(now is not None and self._kind == GRID)
        if now is None:
            return
        self.spacing.setCurrentText(EQUAL if is_whole or now <= 0 else RATIOS)
        if is_whole:
            self.first.setText(f"{max(int(now) // 2, 1)}")
            self.last.setText(f"{int(now) + int(now) - max(int(now) // 2, 1)}" if now > 1 else f"{COUNT}")
        else:
            self.first.setText(f"{now / FACTOR:g}" if now > 0 else "0")
            self.last.setText(f"{now * FACTOR:g}" if now > 0 else "0.5")

    def _fill_in(self) -> None:
        row = self.table.currentRow()
        end = ":log" if self.spacing.currentText() == RATIOS else ""
        ends = f"{self.first.text()}:{self.last.text()}"
        try:
            if self._kind == GRID:
                words = ", ".join(values_of(f"{ends}:{self.count.value()}{end}"))
            else:
                words = ends + end
                span_of(words)
        except BadSweep as error:
            self._say(str(error), "danger")
            return
        item = self.table.item(row, VALUES)
        if item is not None:
            item.setText(words)

    def _check(self) -> None:
        """How many trainings these are, or what is wrong with a value."""
        self.order = None
        try:
            space = search_space(self.settings, self._graph)
            count = len(combinations(space)) if self._kind == GRID else count_of(space, self.trials.value())
        except (BadSweep, Refused) as error:
            self._say(str(error), "danger")
        else:
            if self._kind == OPTUNA and not has_optuna():
                self._say(NOT_INSTALLED, "danger")
            elif self.settings:
                self.order = self._order(count)
                self._say(self._about(space, count), "dim")
            else:
                self._say(HINTS[self._kind], "dim")
        self.buttons.button(Button.Ok).setEnabled(self.order is not None)

    @property
    def _kind(self) -> str:
        """How the trainings are chosen: one of `SEARCHES`."""
        return str(self.search.currentData())

    def _about(self, space: Space, count: int) -> str:
        """How many trainings these are."""
        sizes = [len(one) for one in space.values()] if self._kind == GRID else []
        product = f"{' × '.join(map(str, sizes))} = " if len(sizes) > 1 else ""
        more = f" Only {KEPT} runs without a name are kept: the oldest make room." if count >= KEPT else ""
        return f"{product}{count} trainings.{more}"

    def _order(self, count: int) -> Order:
        judge: Watched | None = self.judge.currentData()
        return Order(self.settings, count, self.jobs.value(), self.stops.isChecked(), self._kind, judge)

    def _on_search_changed(self) -> None:
        """For optuna there are ranges instead of values, and it is told how many trainings to try."""
        is_grid = self._kind == GRID
        for widget in self._of_optuna:
            widget.setHidden(is_grid)
        self.count.setEnabled(is_grid and self.fill.isEnabled())
        self._check()

    def accept(self) -> None:
        """Start what stands there."""
        if self.order is not None:
            self.order = self._order(self.order.count)
            super().accept()

    def _say(self, words: str, role: str) -> None:
        self.said.setText(words)
        self.said.setProperty("role", role)
        self.said.style().polish(self.said)


def start_sweep(session: Session, window: QWidget) -> bool:
    """Ask for a sweep of the document and begin it; whether it began. Code runs by the same yes as with Run."""
    from gradstudio.ui.actions.training_command import is_complete

    status, sweep, question = session.run.status, session.runs.sweep, session.run.code_question
    session.graph_store.settle()
    if sweep.is_running:
        status.refused.emit("A sweep is under way: cancel it first, in the Runs dock.")
        return False
    if not is_complete(session, session.graph_store.graph, session.run.program) or not question.may_run("run"):
        return False
    graph = session.graph_store.graph
    dialog = SweepDialog(graph, session.attention.current, window)
    is_chosen = dialog.exec() == QDialog.DialogCode.Accepted
    order = dialog.order
    dialog.deleteLater()
    if not is_chosen or order is None:
        return False
    words = sweep.start(graph, order, session.path or session.read_from, trusts=question.concerns)
    if words:
        status.refused.emit(words)
    return not words


def _rows(graph: Graph, current: ItemId | None) -> list[tuple[str, str]]:
    """Names and texts, the likeliest first; the seed is one, too."""
    own = {current, card_groups(graph).modules.get(current)} if current is not None else set()

    def rank(setting: Setting) -> int:
        """Of the selected card, of an optimizer, numbers of what has a name, other numbers, all others."""
        node = graph.nodes.get(setting.item)
        if setting.item in own:
            return 0
        if number_of(setting.text) is None:
            return 5
        if node is None or node.operator.startswith(OPTIMIZERS):
            return 1 if node is not None else 2
        return 3 if node.names else 4

    found = [(rank(one), name, one.text) for name, one in varied_settings(graph).items()]
    found.append((2, SEED, str(graph.header.seed or 0)))
    found.sort(key=lambda row: row[0])
    return [(name, text) for _, name, text in found]


def _table(rows: list[tuple[str, str]]) -> QTableWidget:
    table = QTableWidget(len(rows), len(COLUMNS))
    table.setHorizontalHeaderLabels(COLUMNS)
    table.setAccessibleName("Literals")
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.AllEditTriggers)
    table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    header = table.horizontalHeader()
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    header.setSectionResizeMode(VALUES, QHeaderView.ResizeMode.Stretch)
    for row, (name, text) in enumerate(rows):
        for column, words in enumerate((name, text, "")):
            item = QTableWidgetItem(words)
            if column != VALUES:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable)
                item.setToolTip(words)
            table.setItem(row, column, item)
    table.resizeColumnsToContents()
    for column, most in MOST_PX.items():
        table.setColumnWidth(column, min(table.columnWidth(column), most))
    return table


def _row(*widgets: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row
