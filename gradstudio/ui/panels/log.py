"""The Log and Problems docks: what happened, and what is wrong now; a click goes to the node."""

import functools

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages import Event, Hello, Log, Printed, Warned
from gradstudio.ui.panels.inspector.form import label
from gradstudio.ui.panels.log_model import ENTRY_ROLE, Entry, EntryModel, Severity, did_not_run, left_out, name_of
from gradstudio.ui.state.result_store import ResultStore
from gradstudio.ui.state.run_controller import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme, icon, mono_font, tinted

PROBLEMS_MS = 120
NOWHERE = ItemId("")
MAX_NAMES = 6
MAX_WRAPPED_LINES = 5
LINE_PX, LEFT_PX, RIGHT_PX = 23, 12, 48
WRAPPED: frozenset[Severity] = frozenset({"error", "warning", "info"})
"""Our words and torch's are shown in full; what the program prints takes a line each."""
_AT_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
ICONS: dict[Severity, tuple[str, str]] = {
    "info": ("info", "text_dim"),
    "print": ("print", "info"),
    "warning": ("warning", "warning"),
    "error": ("error", "danger"),
}
COLORS: dict[Severity, str] = {"error": "danger", "warning": "warning", "print": "text", "info": "text_dim"}
VERB_WORDS = {
    "run": "Run",
    "forward": "Forward",
    "backward": "Backward",
    "step": "Step",
    "zero_grad": "Zero grad",
}
OUTCOME_WORDS = {"done": "", "stopped": ": stopped", "failed": ": failed", "refused": ": refused", "died": ": lost"}


class LogPanel(QWidget):
    """All that happened, in order."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to everything in the session that has something to say."""
        super().__init__(parent)
        self._session = session
        self._run_state = session.run.state
        self.model = EntryModel(self)
        self.view = EntryView(self.model, "Nothing has happened yet.", theme, self)
        self._clear = QToolButton(self.view)
        self._clear.setToolTip("Clear the log")
        self._clear.setAccessibleName("Clear the log")
        self._clear.clicked.connect(lambda: self.model.replace(()))
        self._clear.setIcon(icon("clear", theme, "text_dim"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self._listen()

    def add(self, severity: Severity, text: str, node: ItemId = NOWHERE) -> None:
        """Put a line into the log."""
        where = name_of(self._session.graph_store.graph, node) if node else ""
        at_end = self.view.is_at_end()
        first, _, rest = text.strip("\n").partition("\n")
        self.model.add(Entry(severity, first, node, where, text))
        for line in rest.splitlines():
            self.model.add(Entry(severity, line, node, where, "", continued=True))
        if at_end:
            self.view.scrollToBottom()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._clear.setIcon(icon("clear", theme, "text_dim"))
        self.view.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(420, 180)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._clear.move(self.width() - self._clear.sizeHint().width() - 14, 2)

    # ------------------------------------------------------------------ slots

    def _listen(self) -> None:
        session = self._session
        self.view.node_chosen.connect(session.attention.reveal)
        session.results.printed.connect(self._on_results_printed)
        session.results.warned.connect(self._on_results_warned)
        session.run.state_changed.connect(self._on_run_state_changed)
        session.engine.received.connect(self._on_engine_received)
        session.engine.died.connect(self._on_engine_died)

    def _on_engine_died(self, how: str) -> None:
        self.add("error", f"The engine ended: {how}. The document is safe.")

    def _on_results_printed(self, printed: Printed) -> None:
        self.add("print", printed.text, printed.node)

    def _on_results_warned(self, warned: Warned) -> None:
        self.add("warning", f"{warned.category}: {warned.message}", warned.node)

    def _on_engine_received(self, event: Event) -> None:
        if isinstance(event, Log):
            self.add(event.level, event.text)
        elif isinstance(event, Hello) and event.ready:
            names = ", ".join(device.title or device.name for device in event.devices)
            self.add("info", f"Engine ready: torch {event.torch}, Python {event.python}, {names}")

    def _on_run_state_changed(self, state: RunState) -> None:
        before, self._run_state = self._run_state, state
        if not (before.busy and not state.busy and state.outcome):
            return
        if state.verb == "zero_grad" and state.outcome == "done":
            return  # the engine has said it, and on how many leaves
        title = VERB_WORDS.get(state.verb, state.verb) + OUTCOME_WORDS.get(state.outcome, "")
        severity: Severity = "error" if state.outcome in ("failed", "died") else "info"
        seconds = f"  {_duration(state.seconds)}" if state.seconds else ""
        number = f"  pass {state.pass_number}" if state.pass_number > 1 else ""
        reason = f"  {state.reason}" if state.reason else ""
        self.add(severity, f"{title}{number}{seconds}{reason}")
        self._say_left_out(state)
        for failure in self._session.results.failures if state.outcome == "failed" else ():
            self.add("error", failure.what, failure.failed.node)
            if failure.explanation:
                self.add("info", failure.explanation, failure.failed.node)

    def _say_left_out(self, state: RunState) -> None:
        """A run over less than what is drawn says so."""
        graph = self._session.graph_store.graph
        if left := [row.node for row in left_out(graph, self._session.run.program, state)]:
            names = ", ".join(name_of(graph, node) for node in left[:MAX_NAMES])
            more = f" and {len(left) - MAX_NAMES} more" if len(left) > MAX_NAMES else ""
            self.add("warning", f"{did_not_run(len(left))}: {names}{more}. See Problems.", left[0])


class ProblemsPanel(QWidget):
    """What is wrong with the program as it stands.

    Signals:
        counted(object): how many problems there are now.
    """

    counted = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to graph and results."""
        super().__init__(parent)
        self._session = session
        self.model = EntryModel(self)
        self.view = EntryView(self.model, "No problems.", theme, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.view)
        self._throttle = Throttle(PROBLEMS_MS, self)
        self._throttle.due.connect(self.refresh)
        self.view.node_chosen.connect(session.attention.reveal)
        session.results.changed.connect(self._throttle.request)
        session.graph_store.edited.connect(self._throttle.request)
        session.graph_store.replaced.connect(self._throttle.request)

    def refresh(self) -> None:
        """Collect the problems anew."""
        found = problems(self._session.graph_store.graph, self._session.results)
        self.model.replace(found)
        self.counted.emit(len(found))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.view.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(420, 180)


def problems(graph: Graph, results: ResultStore) -> list[Entry]:
    """A line for every failure, incomplete node, expected refusal and warning, in program order."""
    found: list[Entry] = []
    for item in graph.order():
        where = name_of(graph, item)
        failure, refusal = results.failure(item), results.inference(item)
        if failure is not None:
            text = f"{failure.explanation} ({failure.what})" if failure.explanation else failure.what
            found.append(Entry("error", " ".join(text.split()), item, where, failure.what))
        elif reason := results.incomplete(item):
            found.append(Entry("warning", f"cannot run yet: {reason}", item, where))
        elif refusal is not None and refusal.refusal:
            found.append(Entry("warning", f"torch is expected to refuse this: {refusal.refusal}", item, where))
        for warned in results.warnings(item):
            text = " ".join(warned.message.split())
            found.append(Entry("warning", f"{warned.category}: {text}", item, where, warned.message))
    return found


class EntryView(QListView):
    """Lines with an icon of their severity.

    Signals:
        node_chosen(object): a line about a node was clicked, or Enter pressed on it.
    """

    node_chosen = Signal(object)

    def __init__(self, model: EntryModel, empty: str, theme: Theme, parent: QWidget) -> None:
        """Show a model; `empty` is said when it has no rows."""
        super().__init__(parent)
        self.setModel(model)
        self.setFont(mono_font())
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(empty)
        self._empty = label(empty, "dim")
        self._empty.setParent(self.viewport())
        self._empty.move(14, 8)
        self.set_theme(theme)
        self.clicked.connect(self._on_clicked)
        for signal in (model.rowsInserted, model.modelReset, model.rowsRemoved):
            signal.connect(self._on_model_changed)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.setItemDelegate(_EntryDelegate(theme, self))

    def is_at_end(self) -> bool:
        """Whether the newest line is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 2

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            rows = sorted(index.row() for index in self.selectedIndexes())
            lines = (str(self.model().index(row, 0).data()) for row in rows)
            QGuiApplication.clipboard().setText("\n".join(lines))
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_clicked(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY_ROLE)
        if isinstance(entry, Entry) and entry.node:
            self.node_chosen.emit(entry.node)

    def _on_model_changed(self) -> None:
        self._empty.setVisible(self.model().rowCount() == 0)
        self._empty.adjustSize()


class _EntryDelegate(QStyledItemDelegate):
    """Icon, the node's name, the words."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    @functools.cached_property
    def _icons(self) -> dict[Severity, QPixmap]:
        return {key: tinted(name, self._theme.color(role), 14, 2.0) for key, (name, role) in ICONS.items()}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        entry, view = index.data(ENTRY_ROLE), option.widget
        if entry.severity not in WRAPPED or not isinstance(view, EntryView):
            return QSize(200, LINE_PX)
        metrics = option.fontMetrics
        room = self._room(QRect(0, 0, view.viewport().width(), LINE_PX), metrics, entry)
        space = QRect(0, 0, max(room.width(), 40), 10_000)
        needed = metrics.boundingRect(space, Qt.TextFlag.TextWordWrap, entry.text).height()
        lines = min(max(1, round(needed / metrics.lineSpacing())), MAX_WRAPPED_LINES)
        return QSize(200, LINE_PX + (lines - 1) * metrics.lineSpacing())

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry = index.data(ENTRY_ROLE)
        hidden = QStyleOptionViewItem(option)
        self.initStyleOption(hidden, index)
        hidden.text = ""
        widget = hidden.widget
        widget.style().drawControl(widget.style().ControlElement.CE_ItemViewItem, hidden, painter, widget)
        painter.save()
        painter.setFont(option.font)
        metrics = painter.fontMetrics()
        first = QRect(option.rect.left(), option.rect.top(), option.rect.width(), LINE_PX)
        if not entry.continued:
            painter.drawPixmap(QPoint(first.left() + LEFT_PX, first.center().y() - 6), self._icons[entry.severity])
            painter.setPen(self._theme.color("accent"))
            painter.drawText(first.adjusted(0, 0, -RIGHT_PX, 0), _AT_RIGHT, entry.where)
        rect = self._room(QRect(option.rect), metrics, entry)
        painter.setPen(self._theme.color(COLORS[entry.severity]))
        if option.rect.height() > LINE_PX:
            rect.adjust(0, (LINE_PX - metrics.lineSpacing()) // 2, 0, 0)
            painter.drawText(rect, Qt.TextFlag.TextWordWrap, entry.text)
        else:
            text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, rect.width())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()

    def _room(self, rect: QRect, metrics: QFontMetrics, entry: Entry) -> QRect:
        """Where the words of a line stand: right of its icon, left of the node's name."""
        name = metrics.horizontalAdvance(entry.where) + 14 if entry.where and not entry.continued else 0
        return rect.adjusted(LEFT_PX + 22, 0, -RIGHT_PX - name, 0)


def _duration(seconds: float) -> str:
    """``12.3 ms`` below a second, ``1.2 s`` above."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
