"""The Runs dock: a table of what was kept, what is said of the runs that are selected, and the way back."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QSplitter,
    QStackedLayout,
    QTableView,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.document.runs.kept_run import BEST, PARAMETERS, KeptRun
from gradstudio.document.runs.run_literals import literals_of
from gradstudio.program.write import write_script
from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.runs.restored_strip import RestoredStrip
from gradstudio.ui.docks.runs.run_model import COLUMNS, DIFFERS, LAST, RUN, RunModel
from gradstudio.ui.docks.runs.run_words import about_one, about_two
from gradstudio.ui.docks.runs.sweep_strip import SweepStrip
from gradstudio.ui.docks.runs.training_strip import TrainingStrip
from gradstudio.ui.state.runs.restore_run import go_on_from, restore
from gradstudio.ui.state.runs.run_keeper import GO_ON
from gradstudio.ui.state.runs.sweep_process import Order
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon
from gradstudio.ui.widgets.form_layout import label

EMPTY: Final = (
    "Each training is kept here when it runs (F5): its curves, its literals, and what it learnt. "
    "Sweep… trains once for each of several learning rates, widths or seeds."
)
GIVING: Final = (LAST, DIFFERS)
"""The columns that become narrower where there is no room for all words."""
LEAST_PX: Final = 80
MOST_NAME_PX: Final = 200
HEAD_MARGINS_PX: Final = 18
BESIDE_NAME_PX: Final = 40
"""The box before a name, as the style draws it, which a view's own hint of sizes leaves out, and margins."""
RESTORE_BEST: Final = "Restore its best ({name} {value:.4g}, turn {turn:,})"
ROW_PX: Final = 20
HEADER_PX: Final = 22
SHARES: Final = (2, 1)
PAIR: Final = 2


class RunsPanel(QWidget):
    """Runs, newest first; select two to see what differs."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Show a session's runs."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._theme, self.list = session, theme, session.runs.list
        self.model = RunModel(self.list, theme, self)
        self.view = _Table(self.model, self.delete_selected, self)
        self.words = QTextBrowser(self)
        self.words.setAccessibleName("About the selected runs")
        self.words.setOpenLinks(False)
        self.restore_button = self._button(
            "Restore", "rerun", "The document and what was learnt as they were", lambda: self.restore()
        )
        self.continue_button = self._button(
            "Continue", "run", "Train on from where what was learnt was kept, in the same run", self.go_on
        )
        self.delete_button = self._button("Delete", "delete", "Put the selected runs aside", self.delete_selected)
        self.back_button = self._button("Bring back", "undo", "The run that was deleted last", self.list.bring_back)
        self._empty = label(EMPTY, "dim", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sweep_button = self._button(
            "Sweep…", "list", "Train once for each of several values of a literal, side by side", self.sweep
        )
        self.strip = SweepStrip(session.runs.sweep, self.list, self)
        self.training_strip = TrainingStrip(session.training, self)
        self.restored_strip = RestoredStrip(session, self)
        self._lay_out()
        self._sorted_for: Order | None = None
        self._later = CatchUp(self, self.refresh)
        self.view.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self.view.customContextMenuRequested.connect(self._on_view_context_menu_requested)
        session.runs.changed.connect(self.refresh)
        session.runs.sweep.changed.connect(self._on_sweep_changed)
        self.list.changed.connect(self._say)
        self.list.refused.connect(session.run.status.refused)
        session.graph_store.edited.connect(self._on_store_edited)
        self.set_theme(theme)
        self._on_sweep_changed()

    def refresh(self) -> None:
        """Read what lies there; nothing is done while the dock is not seen."""
        if self.isVisible() and not self._later.puts_off():
            self.list.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.model.set_theme(theme)
        for button, name in (
            (self.restore_button, "rerun"),
            (self.continue_button, "run"),
            (self.delete_button, "delete"),
            (self.sweep_button, "list"),
            (self.back_button, "undo"),
        ):
            button.setIcon(icon(name, theme))
        self._say()

    @property
    def selected(self) -> list[KeptRun]:
        """The runs that are selected, in the order of the table."""
        rows = sorted({index.row() for index in self.view.selectionModel().selectedIndexes()})
        return [self.model.rows[row] for row in rows if row < len(self.model.rows)]

    def restore(self, name: str = PARAMETERS) -> None:
        """Make the document what it was in the run that is selected, with what was learnt at its end or at its best."""
        for run in self.selected[:1]:
            restored = restore(self._session, run, self.list.label(run), name)
            self.list.show(run.id, True)
            if restored is not None:
                self.restored_strip.tell(restored)

    def go_on(self) -> None:
        """Train on from the run that is selected: with its program, in its folder."""
        for run in self.selected[:1]:
            go_on_from(self._session, run, self.list.label(run))

    def sweep(self) -> None:
        """Ask for a sweep, and begin it."""
        from gradstudio.ui.dialogs.sweep_dialog import start_sweep

        start_sweep(self._session, self.window())

    def delete_selected(self) -> None:
        """Put the runs aside that are selected."""
        self.list.delete(self.selected)

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    # ------------------------------------------------------------------ inner workings

    def _button(self, text: str, picture: str, tip: str, act: Callable[[], object]) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setIcon(icon(picture, self._theme))
        button.setToolTip(tip)
        button.setObjectName("dock_button")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.clicked.connect(act)
        return button

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(6, 1, 6, 1)
        for button in (
            self.sweep_button,
            self.restore_button,
            self.continue_button,
            self.delete_button,
            self.back_button,
        ):
            head.addWidget(button)
        head.addStretch(1)
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self.view)
        split.addWidget(self.words)
        for place, share in enumerate(SHARES):
            split.setStretchFactor(place, share)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(split)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.strip)
        column.addWidget(self.training_strip)
        column.addWidget(self.restored_strip)
        column.addLayout(self._stack, 1)

    def _say(self) -> None:
        """What is said of the selected runs, and what can be done with them."""
        chosen = self.selected
        self._stack.setCurrentIndex(1 if self.model.rows else 0)
        self.restore_button.setEnabled(len(chosen) == 1)
        can_go_on = len(chosen) == 1 and chosen[0].can_go_on
        self.continue_button.setEnabled(can_go_on)
        self.continue_button.setText(GO_ON.format(turn=chosen[0].learnt_turns) if can_go_on else "Continue")
        self.delete_button.setEnabled(bool(chosen))
        self.back_button.setVisible(self.list.can_bring_back)
        self.words.setVisible(bool(chosen))
        if not self.isVisible() or not chosen:
            return
        if len(chosen) == PAIR:
            second, first = chosen  # the newer stands above
            text = about_two(first, second, (self.list.label(first), self.list.label(second)), self._theme)
        else:
            graph = self._session.graph_store.graph
            now = literals_of(graph), write_script(graph)
            text = about_one(chosen[0], self.list.label(chosen[0]), *now, self._theme)
        if text != self.words.property("shown"):
            self.words.setProperty("shown", text)
            self.words.setHtml(text)

    # ------------------------------------------------------------------ slots

    def _on_sweep_changed(self) -> None:
        """While it goes on, its best stands above."""
        sweep = self._session.runs.sweep
        if sweep.order is not self._sorted_for:
            self._sorted_for = sweep.order
            self.model.judge = sweep.judge
            rises = sweep.judge is not None and sweep.judge.rises
            self.view.sortByColumn(LAST, Qt.SortOrder.DescendingOrder if rises else Qt.SortOrder.AscendingOrder)
        self.refresh()
        self.strip.refresh()

    def _on_selection_changed(self) -> None:
        self._say()

    def _on_store_edited(self) -> None:
        """What is said of one run is said against the document as it stands."""
        if self.isVisible() and len(self.selected) == 1:
            self._say()

    def _on_view_context_menu_requested(self, at: QPoint) -> None:
        index = self.view.indexAt(at)
        if index.isValid():
            menu = self.menu_of(index)
            menu.exec(self.view.viewport().mapToGlobal(at))
            menu.deleteLater()

    def menu_of(self, index: QModelIndex) -> QMenu:
        """What can be done with the run of a row."""
        run = self.model.rows[index.row()]
        menu = QMenu(self)
        is_shown = run.id in self.list.shown
        words = "Hide its curves" if is_shown else "Show its curves"
        menu.addAction("Restore", lambda: self.restore()).setEnabled(len(self.selected) == 1)
        if (best := run.best_figure) is not None and len(self.selected) == 1:
            restores = RESTORE_BEST.format(name=run.record.best_of, value=best, turn=run.record.best_turns)
            menu.addAction(restores, partial(self.restore, BEST))
        if run.can_go_on and len(self.selected) == 1:
            menu.addAction(GO_ON.format(turn=run.learnt_turns), self.go_on)
        menu.addAction(words, lambda: self.list.show(run.id, not is_shown))
        menu.addAction("Rename", lambda: self.view.edit(index.siblingAtColumn(RUN)))
        menu.addSeparator()
        menu.addAction("Delete", self.delete_selected)
        return menu


class _Table(QTableView):
    """Rows as a whole; Delete deletes, F2 edits the name."""

    def __init__(self, model: RunModel, delete: Callable[[], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._delete = delete
        self.setModel(model)
        self.setAccessibleName("Runs")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        header = self.horizontalHeader()
        header.setFixedHeight(HEADER_PX)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        header.setSectionResizeMode(RUN, QHeaderView.ResizeMode.Interactive)
        self._is_fitting = self._is_set_by_hand = False
        header.sectionResized.connect(self._on_header_section_resized)
        model.modelReset.connect(self._fit)
        model.dataChanged.connect(self._fit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._delete()
        elif event.key() == Qt.Key.Key_F2 and self.currentIndex().isValid():
            self.edit(self.currentIndex().siblingAtColumn(RUN))
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------------ inner workings

    def _fit(self) -> None:
        """Each column is as wide as its words, unless somebody has drawn one wider."""
        header = self.horizontalHeader()
        if self._is_set_by_hand or not self.isVisible():
            return
        self._is_fitting = True
        heads = [header.fontMetrics().horizontalAdvance(words) + HEAD_MARGINS_PX for words in COLUMNS]
        widths = [max(self.sizeHintForColumn(column), head) for column, head in enumerate(heads)]
        names = (str(self.model().index(row, RUN).data()) for row in range(self.model().rowCount()))
        longest = max(map(self.fontMetrics().horizontalAdvance, names), default=0)
        widths[RUN] = min(max(widths[RUN], longest + BESIDE_NAME_PX), MOST_NAME_PX)
        lacking = sum(widths) - self.viewport().width()
        given = {column: max(widths[column] - max(LEAST_PX, heads[column]), 0) for column in GIVING}
        spare = sum(given.values())
        for column, width in enumerate(widths):
            share = given.get(column, 0) / spare if spare and lacking > 0 else 0.0
            self.setColumnWidth(column, width - round(min(lacking, spare) * share))
        self._is_fitting = False

    # ------------------------------------------------------------------ slots

    def _on_header_section_resized(self, column: int) -> None:
        """The last one takes what is left, whoever has changed another."""
        if not self._is_fitting and column != self.horizontalHeader().count() - 1:
            self._is_set_by_hand = True
