"""The Curves dock: what is plotted, how, and the moment of a turn. pyqtgraph comes with the first curve."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QStackedLayout, QToolButton, QVBoxLayout, QWidget

from gradstudio.document.atomic_write import write_file
from gradstudio.document.errors import CannotSave
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.curve_titles import FIGURES, curve_title_in
from gradstudio.protocol.messages.charts import Numbers
from gradstudio.protocol.messages.progress import CurveKey
from gradstudio.protocol.messages.records import ModuleRecord, OptimizerRecord, PlainRecord, TensorRecord
from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.curves.axes_menu import AxesMenu
from gradstudio.ui.state.results.curve_store import Name
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import label

if TYPE_CHECKING:
    from gradstudio.ui.docks.curves.curve_plot import CurvePlot

WAITING: Final = "The loss of every turn is drawn here when a loop with a backward runs."
SMOOTHING: Final = (1, 5, 20, 100, 500)
EVENTS: Final = ".gradstudio"
"""What the name of a file for TensorBoard ends with."""
NOTHING_SELECTED: Final = "Select a card to plot its values"
NOT_RUN: Final = "“{name}” has not run yet: run (F5), then its values can be plotted"
OF_ONE_KIND: Final = ("update", "rate")
"""Figures of leaves alone, and of optimizers."""
NO_VALUES: Final = "“{name}” gives nothing that can be plotted: select a value, a layer or an optimizer"
MOST_PATHS: Final = 24


class CurvesPanel(QWidget):
    """A row of buttons over the plot; follows the moment that is looked at, and moves it."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is plotted until there is something, and somebody looks."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session, self._theme, self._store = session, theme, session.results.tables.curves
        self.plot: CurvePlot | None = None
        self._later = CatchUp(self, self.refresh)
        self.adding = self._button("Plot over turns", "What to plot of every turn, from now on")
        self.adding.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.adding.setMenu(self.menu)
        self.axes = self._button("Axes", "Which curve has its axis at the right; also the right button in the plot")
        self.axes.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.axes_menu = AxesMenu(self)
        self.axes.setMenu(self.axes_menu)
        self.log = self._button("log", "Values on a logarithmic scale; those at the right: in Axes")
        self.log.setCheckable(True)
        self.log.toggled.connect(self._on_log_toggled)
        self.smoothing = QComboBox(self)
        self.smoothing.setToolTip("Draw the mean of so many turns")
        self.smoothing.setAccessibleName("Smoothing")
        for turns in SMOOTHING:
            self.smoothing.addItem("as it is" if turns == 1 else f"mean of {turns}", turns)
        self.smoothing.currentIndexChanged.connect(self._on_smoothing_changed)
        self.export = self._button("Export", "Write what is shown into a file")
        self.export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        kinds = QMenu(self.export)
        kinds.addAction("Table (CSV)…").triggered.connect(self._on_table_asked)
        kinds.addAction("TensorBoard events…").triggered.connect(self._on_events_asked)
        kinds.addAction("Picture (PNG)…").triggered.connect(partial(self._on_picture_asked, "png"))
        kinds.addAction("Picture (SVG)…").triggered.connect(partial(self._on_picture_asked, "svg"))
        self.export.setMenu(kinds)
        self._waiting = label(WAITING, "dim", wrap=True)
        self._waiting.setParent(self)
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self._store.changed.connect(self.refresh)
        self._store.chosen.connect(self.refresh)
        session.results.moment_moved.connect(self._show_moment)

    def refresh(self) -> None:
        """Draw what is new; nothing is done while the dock is not seen."""
        if not self.isVisible() or self._later.puts_off():
            return
        titles = self.titles()
        has_curves = bool(titles or self._store.beside)
        if has_curves and self.plot is None:
            self._load_plot()
        if self.plot is not None:
            self.plot.refresh(titles)
            self.plot.marks.refresh(self._store.marks_on_axis(), self._theme)
            self._show_moment()
        self.export.setEnabled(has_curves)
        self.axes.setEnabled(has_curves)
        self._stack.setCurrentWidget(self.plot if self.plot is not None and has_curves else self._waiting)

    def titles(self) -> dict[Name, str]:
        """The curves that are shown, and how they are called."""
        names = self._session.results.tables.names
        longest = self._store.longest()
        return {name: names.curve_title(key) for key, name in longest.items()}

    def _on_axis(self) -> list[Name]:
        """The curves whose turns are those of the axis: of the loop that told most; others are spread over them."""
        titles = self.titles()
        longest = self._store.longest_of(titles)
        return [name for name in titles if longest is not None and name[0] == longest[0]]

    def csv(self) -> str:
        """What is shown, as a table."""
        from gradstudio.ui.docks.curves.curve_table import table

        return table(self._shown())

    def events(self) -> bytes:
        """What is shown, as a file that TensorBoard reads; steps count turns from 0, as scripts do."""
        from gradstudio.document.event_files import Scalars, event_file

        return event_file((Scalars(*curve) for curve in self._shown()), time.time())

    def _shown(self) -> Iterator[tuple[str, Numbers, Numbers]]:
        """Name, steps on one axis and values of each curve that is drawn; of other runs the name says which."""
        titles = self.titles()
        for name, words in titles.items():
            yield words, *self._store.steps(name)
        for curve in self._store.beside:
            if curve.is_beside(titles.values()):
                yield f"{curve.label}: {curve.title}", curve.turns, curve.values

    def picture(self, kind: str) -> bytes:
        """The plot as it is seen: "png" or "svg"; b"" where there is none."""
        from gradstudio.ui.docks.curves import curve_picture

        if self.plot is None:
            return b""
        title = ", ".join(name for name, *_ in self._shown())
        return curve_picture.png(self.plot) if kind == "png" else curve_picture.svg(self.plot, title)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        if self.plot is not None:
            self.plot.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(320, 240)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    # ------------------------------------------------------------------ inner workings

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAutoRaise(True)
        return button

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(self._theme.GAP)
        for widget in (self.adding, self.axes, self.log, self.smoothing, self.export):
            row.addWidget(widget)
        row.addStretch(1)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._waiting)
        column = QVBoxLayout(self)
        column.setContentsMargins(self._theme.GAP, 0, self._theme.GAP, self._theme.GAP)
        column.setSpacing(2)
        column.addLayout(row)
        column.addLayout(self._stack, 1)

    def _load_plot(self) -> None:
        from gradstudio.ui.docks.curves.curve_plot import CurvePlot

        self.plot = CurvePlot(self._store, self._theme, self)
        self.plot.picked.connect(self._on_plot_picked)
        self.plot.chosen.connect(self._on_plot_chosen)
        self.plot.menu_asked.connect(self._on_plot_menu_asked)
        self.axes_menu.plot = self.plot
        self.plot.set_log(self.log.isChecked())
        self.plot.set_smoothing(int(self.smoothing.currentData()))
        self._stack.addWidget(self.plot)

    # ------------------------------------------------------------------ what is plotted

    def _fill_menu(self) -> None:
        """What there is of the selected card, and what is plotted already."""
        self.menu.clear()
        for key in self._store.wanted:
            action = self.menu.addAction(f"Remove: {self._title(key)}")
            action.triggered.connect(partial(self._store.want, tuple(one for one in self._store.wanted if one != key)))
        if self._store.wanted:
            self.menu.addSeparator()
        current = self._session.attention.current
        keys = self._keys(current) if current is not None else []
        for key in keys:
            if key not in self._store.wanted:
                action = self.menu.addAction(self._title(key))
                action.triggered.connect(partial(self._add, key))
        if not keys:
            self.menu.addAction(self._why_nothing(current)).setEnabled(False)

    def _why_nothing(self, current: ItemId | None) -> str:
        """Why there is nothing to choose from, and what to do."""
        graph = self._session.graph_store.graph
        if current is None or current not in graph:
            return NOTHING_SELECTED
        words = NOT_RUN if self._session.results.outputs(current) is None else NO_VALUES
        return words.format(name=title(graph, current))

    def _add(self, key: CurveKey) -> None:
        self._store.want((*self._store.wanted, key))
        when = "now on" if self._session.run.state.busy else "the next run on (F5)"
        self._session.run.status.noted.emit(f"{self._title(key)} is plotted from {when}.")

    def _title(self, key: CurveKey) -> str:
        graph = self._session.graph_store.graph
        if key.node in graph:
            return curve_title_in(graph, key)
        return self._session.results.tables.names.curve_title(key)

    def _keys(self, item: ItemId) -> list[CurveKey]:
        """The figures of a card's values and of their gradients, as far as it has run."""
        node = self._session.results.ids.full(item)
        keys: list[CurveKey] = []
        for output, record in enumerate(self._session.results.outputs(item) or ()):
            if isinstance(record, ModuleRecord):
                for path, leaf in list(record.parameters.items())[:MOST_PATHS]:
                    keys += _figures(node, output, path, leaf)
            elif isinstance(record, TensorRecord):
                keys += _figures(node, output, "", record)
            elif isinstance(record, OptimizerRecord):
                paths = [f"param_groups[{k}]" for k in range(len(record.groups))] if len(record.groups) > 1 else [""]
                keys += [CurveKey(node=node, output=output, path=path, figure="rate") for path in paths]
            elif isinstance(record, PlainRecord) and record.what == "number":
                keys.append(CurveKey(node=node, output=output))
        return keys

    # ------------------------------------------------------------------ slots

    def _on_log_toggled(self, is_on: bool) -> None:
        if self.plot is not None:
            self.plot.set_log(is_on)

    def _on_smoothing_changed(self) -> None:
        if self.plot is not None:
            self.plot.set_smoothing(int(self.smoothing.currentData()))

    def _on_table_asked(self) -> None:
        self._write("curves.csv", "Tables (*.csv)", lambda: self.csv().encode())

    def _on_events_asked(self) -> None:
        self._write(f"events.out.tfevents.{time.time():.0f}{EVENTS}", f"TensorBoard events (*{EVENTS})", self.events)

    def _on_picture_asked(self, kind: str) -> None:
        self._write(f"curves.{kind}", f"Pictures (*.{kind})", partial(self.picture, kind))

    def _write(self, name: str, kinds: str, made: Callable[[], bytes]) -> None:
        from gradstudio.ui.dialogs.file_dialog import ask_where

        folder = self._session.path.parent if self._session.path is not None else Path.home()
        chosen = ask_where(self, self._theme, "Write the curves", folder / name, kinds)
        if chosen is None:
            return
        if chosen.suffix == EVENTS and "tfevents" not in chosen.name:
            chosen = chosen.with_name(f"{chosen.stem}.tfevents{EVENTS}")  # by this TensorBoard knows such a file
        try:
            write_file(chosen, made())
        except CannotSave as error:
            self._session.run.status.refused.emit(str(error))

    def _on_plot_picked(self, number: float) -> None:
        """Look at the recorded turn that lies nearest."""
        best: tuple[float, int] | None = None
        timeline = self._session.results.timeline
        for loop, key in self._on_axis():
            for turns in timeline.turns_of(key.node):
                at, tick = self._store.number_of(loop, turns), timeline.made_at(key.node, None, turns)
                if at is not None and tick is not None and (best is None or abs(at - number) < best[0]):
                    best = abs(at - number), tick
        if best is not None:
            self._session.attention.look_at(best[1])

    def _on_plot_chosen(self, number: float) -> None:
        """Look at this very turn; where it is not in the record, the run goes to it."""
        for loop, key in self._on_axis():
            turns = self._store.turns_at(loop, round(number))
            if turns is not None and self._session.results.timeline.turns_of(key.node):
                self._session.turns.go_to(loop, key.node, turns)
                return

    def _on_plot_menu_asked(self, title: str, place: QPoint) -> None:
        self.axes_menu.of_curve(title).popup(place)

    def _show_moment(self) -> None:
        """The line stands at the turn of the moment that is looked at."""
        if self.plot is None:
            return
        numbers = map(self._number_looked_at, self._on_axis())
        self.plot.show_turn(next((number for number in numbers if number is not None), None))

    def _number_looked_at(self, name: Name) -> int | None:
        """The turn of a curve's loop at the moment, or that was chosen; outside of the loop the last before it."""
        loop, key = name
        turns = self._session.results.cursor.turns_looked_at(loop, key.node)
        return self._store.number_of(loop, turns) if turns is not None else None


def _figures(node: ItemId, output: int, path: str, record: TensorRecord) -> list[CurveKey]:
    """What can be plotted of a tensor, and of its gradient where it requires one."""
    count = 1
    for size in record.summary.shape:
        count *= size
    figures = [figure for figure, _ in FIGURES if (figure == "value") == (count == 1) and figure not in OF_ONE_KIND]
    is_weight = record.is_leaf and record.requires_grad
    of_what = (False, True) if record.requires_grad else (False,)
    keys = [CurveKey(node=node, output=output, path=path, figure=f, grad=grad) for grad in of_what for f in figures]
    if is_weight:
        keys.append(CurveKey(node=node, output=output, path=path, figure="update"))
    return keys
