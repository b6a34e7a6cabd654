"""The Memory dock: live curves. pyqtgraph is imported by `memory_plot`, after the first paint only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.memory.curve import in_words, series_color
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme, mono_font, ui_font
from gradstudio.ui.widgets.form_layout import label

if TYPE_CHECKING:
    from gradstudio.ui.docks.memory.memory_plot import MemoryPlot

TITLES = {
    "tensors": "tensors",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "process": "process",
    "kept": "kept",
    "allocated": "allocated",
    "reserved": "reserved",
    "peak": "peak",
    "total": "device total",
}
TIPS = {
    "tensors": "Bytes of all results that are alive, parameters among them; gradients and optimizer state come on top",
    "gradients": "Bytes of the .grad of all leaves",
    "optimizer": "Bytes of what optimizers keep of each parameter, such as exp_avg",
    "process": "Resident set size (RSS) of the engine's process",
    "kept": "Bytes that are alive only because they are kept for showing",
}
USUAL = ("tensors", "gradients", "optimizer", "kept", "process")
"""Series that have their places in the legend before they have figures: the curves below do not move."""
NONE = frozenset[str]()
MOMENT_TIP = "What a statement held is known of each; the figures in dim letters are of the last sample before it"
POINTED = "At the pointer"
WAITING = "The curves begin when the engine is ready."
OF_RANKS = "Of several processes no memory is measured: run in one to see its curves."


class MemoryPanel(QWidget):
    """A legend with newest figures over the plot."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is plotted until `load_plot` is called."""
        super().__init__(parent)
        store, self._session = session.memory, session
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._store, self._theme = store, theme
        self.plot: MemoryPlot | None = None
        self._later = CatchUp(self, self._catch_up)
        self.legend = Legend(theme, self)
        self._waiting = label(WAITING, "dim", wrap=True)
        self._waiting.setParent(self)  # the stack shows it at once: without a parent as a window, which takes the keys
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._waiting)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.GAP_LARGE, 0, theme.GAP, theme.GAP)
        column.setSpacing(2)
        self.moment = label("", "dim")
        self.moment.setFont(ui_font(11))
        self.moment.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.moment.hide()
        column.addWidget(self.legend)
        column.addWidget(self.moment)
        column.addLayout(self._stack, 1)
        store.changed.connect(self.refresh)
        self._soon = Throttle(0, self)  # the canvas shows another moment first
        self._soon.due.connect(self._show_figures)
        session.results.moment_moved.connect(self._soon.request)
        session.engine.replaced.connect(self.refresh)

    def load_plot(self) -> None:
        """Import pyqtgraph and make the plot; call it after the first paint."""
        if self.plot is not None:
            return
        from gradstudio.ui.docks.memory.memory_plot import MemoryPlot
        from gradstudio.ui.docks.memory.memory_sync import MemorySync

        self.plot = MemoryPlot(self._store, self._theme, self)
        self.plot.moment_changed.connect(self._on_plot_moment_changed)
        self._join = MemorySync(self._session, self.plot, self._later.puts_off, self)
        self._stack.addWidget(self.plot)
        self.refresh()

    def refresh(self) -> None:
        """Show the newest samples; nothing is done while the dock is not seen."""
        if self.plot is None or not self.isVisible() or self._later.puts_off():
            return
        self._show_figures()
        self.plot.refresh()
        is_one = self._session.engine.client.exchange.ranks is None
        self._waiting.setText(WAITING if is_one else OF_RANKS)
        self._stack.setCurrentWidget(self.plot if self._store.names else self._waiting)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.legend.set_theme(theme)
        if self.plot is not None:
            self.plot.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(320, 240)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _catch_up(self) -> None:
        self.refresh()
        if self.plot is not None:
            self._join.refresh()

    def _show_figures(self) -> None:
        """The figures of the moment that is looked at, else the newest."""
        self._soon.cancel()
        if self.plot is not None and self.isVisible() and not self._later.puts_off():
            newest = {name: self._store.newest(name) for name in self._store.names}
            then = self._join.figures()
            self._say_moment(then.words if then is not None else "")
            self._show(*then[:2]) if then is not None else self._show(newest)

    def _say_moment(self, words: str) -> None:
        """Which moment the figures belong to, where they are not the newest."""
        self.moment.setText(words)
        self.moment.setToolTip(MOMENT_TIP if words and words != POINTED else "")
        self.moment.setVisible(bool(words))

    def _show(self, figures: dict[str, float | None], sampled: frozenset[str] = NONE) -> None:
        self.legend.show_figures({**dict.fromkeys(USUAL), **figures} if figures else figures, sampled)

    def _on_plot_moment_changed(self, figures: dict[str, float | None] | None) -> None:
        if figures is not None:
            if not self.moment.isHidden():  # its room stays: the plot does not move away under the pointer
                self._say_moment(POINTED)
            self._show(figures)
        else:
            self.refresh()


class Legend(QWidget):
    """A mark, a title and a figure per series, in as many columns as there is room for; it asks for no width."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """No series yet."""
        super().__init__(parent)
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(2)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._labels: dict[str, QLabel] = {}
        self._figures: dict[str, float | None] = {}
        self._sampled = NONE
        self.columns = 0

    def show_figures(self, figures: dict[str, float | None], sampled: frozenset[str] = NONE) -> None:
        """Show bytes by series, in dim letters those that were `sampled` before what the others are of."""
        self._figures, self._sampled = figures, sampled
        if list(figures) != list(self._labels):
            self._rebuild(list(figures))
        for name, value in figures.items():
            self._labels[name].setText(self._text(name, value))
        self._deal_out()

    def set_theme(self, theme: Theme) -> None:
        """Colour the marks anew."""
        self._theme = theme
        self._rebuild(list(self._figures))
        self.show_figures(self._figures, self._sampled)

    def _rebuild(self, names: list[str]) -> None:
        for old in self._labels.values():
            self._grid.removeWidget(old)
            old.deleteLater()
        self._labels = {}
        self.columns = 0
        for name in names:
            made = QLabel(self)
            made.setTextFormat(Qt.TextFormat.RichText)
            made.setFont(mono_font(11))
            made.setToolTip(TIPS.get(name, ""))
            self._labels[name] = made

    def _deal_out(self) -> None:
        """Put the labels into the columns that fit."""
        widths = [label.sizeHint().width() for label in self._labels.values()]
        columns = _columns(widths, self.width(), self._grid.horizontalSpacing())
        if columns == self.columns:
            return
        self._grid.setColumnStretch(self.columns, 0)
        self._grid.setColumnStretch(columns, 1)
        self.columns = columns
        for index, made in enumerate(self._labels.values()):
            self._grid.addWidget(made, index // columns, index % columns)
            made.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._deal_out()

    def _text(self, name: str, value: float | None) -> str:
        color = series_color(self._theme.plot, name)
        figure = in_words(value) if value is not None and value == value else "–"
        dim = self._theme.text_dim
        title = f"<span style='color:{dim}'>{TITLES.get(name, name)}</span>"
        figure = f"<span style='color:{dim}'>{figure}</span>" if name in self._sampled else figure
        return f"<span style='color:{color}'>■</span> {title}<br>{figure}"


def _columns(widths: list[int], room: int, spacing: int) -> int:
    """How many columns fit, each as wide as the widest label in it; at least one."""
    for columns in range(len(widths), 1, -1):
        if sum(max(widths[first::columns]) + spacing for first in range(columns)) - spacing <= room:
            return columns
    return 1
