"""The table of breakpoints: where each is, its condition, what it does, how often it was met."""

from typing import Final

import msgspec
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.breakpoint_conditions import describe, why_unreadable
from gradstudio.protocol.messages.debugging import Breakpoint, Condition, ConditionKind
from gradstudio.scene import value_format
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
COLUMNS: Final = ("Where", "Condition", "Does", "Hits", "Last value")
WHERE, CONDITION, DOES, HITS, LAST = range(len(COLUMNS))
KINDS: Final[dict[ConditionKind, str]] = {
    "always": "always",
    "not_finite": "NaN or inf",
    "above": "largest magnitude >",
    "below": "largest magnitude <",
    "shape_differs": "shape differs from",
    "expression": "expression",
}
"""Every kind of condition, as the list offers it."""


class BreakpointModel(QAbstractTableModel):
    """Rows of the document's breakpoints; the box of the first column switches them."""

    def __init__(self, session: Session, theme: Theme, parent: QObject | None = None) -> None:
        """Follow a session's breakpoints."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.rows: tuple[Breakpoint, ...] = session.debug.breakpoints
        self._hit = ""
        session.run.state_changed.connect(self._on_run_state_changed)
        session.debug.changed.connect(self._on_debug_changed)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._everything_changed()

    # ------------------------------------------------------------------ Qt overrides

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> object:
        return COLUMNS[section] if orientation == Qt.Orientation.Horizontal and role == Role.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() == WHERE:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == CONDITION else flags

    def data(self, index: Index, role: int = Role.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        match role:
            case Role.DisplayRole:
                return self._text(row, column)
            case Role.CheckStateRole if column == WHERE:
                return Qt.CheckState.Checked if self._session.debug.enabled(row.id) else Qt.CheckState.Unchecked
            case Role.ForegroundRole:
                return self._ink(row, column)
            case Role.BackgroundRole if row.id == self._hit:
                return self._theme.color("past")
            case Role.ToolTipRole:
                return self._tip(row, column)
        return None

    def setData(self, index: Index, value: object, role: int = Role.EditRole) -> bool:
        row = self.rows[index.row()]
        if role == Role.CheckStateRole:
            self._session.debug.set_enabled(row.id, Qt.CheckState(value) == Qt.CheckState.Checked)
            return True
        if role == Role.EditRole and isinstance(value, Condition):
            self._session.debug.replace(msgspec.structs.replace(row, condition=value))
            return True
        return False

    # ------------------------------------------------------------------ inner workings

    def _text(self, row: Breakpoint, column: int) -> str:
        debug = self._session.debug
        match column:
            case 0:
                return place_words(row, self._session.graph_store.graph)
            case 1:
                return describe(row.condition)
            case 2:
                if row.id == self._hit:
                    return "paused here"
                if row.stops:
                    return "pauses"
                return "watches"
            case 3:
                return f"{debug.hits(row.id):,}"
        last = debug.last(row.id)
        if last is None or last.summary is None:
            return ""
        single = last.summary.minimum is not None and value_format.element_count(last.summary.shape) == 1
        extent = value_format.number(last.summary.minimum, 3) if single else value_format.extent(last.summary)
        return " ".join(filter(None, (extent, value_format.oddities(last.summary))))

    def _ink(self, row: Breakpoint, column: int) -> QColor | None:
        if column == CONDITION and why_unreadable(row.condition):
            return self._theme.color("danger")
        return None if self._session.debug.enabled(row.id) else self._theme.color("text_dim")

    def _tip(self, row: Breakpoint, column: int) -> str:
        if column == CONDITION:
            return why_unreadable(row.condition) or "Double click, or F2, to change the condition"
        if column == DOES:
            return "Click: pause there, or only note how often and with what"
        last = self._session.debug.last(row.id)
        if column in (HITS, LAST) and last is not None:
            turns = f", turn {last.turns[-1] + 1}" if last.turns else ""
            way = f"backward {last.backward}" if last.backward else f"step {last.step}"
            return f"Met last in {way}{turns}"
        return "Double click goes to the node"

    @property
    def hit_row(self) -> int:
        """The row at which the run is paused; -1 when it is at none."""
        return next((k for k, row in enumerate(self.rows) if row.id == self._hit), -1) if self._hit else -1

    def _on_run_state_changed(self, state: RunState) -> None:
        if state.hit != self._hit:
            self._hit = state.hit
            self._everything_changed()

    def _everything_changed(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(COLUMNS) - 1))

    def _on_debug_changed(self) -> None:
        """The same rows keep selection and editor; others begin anew."""
        new = self._session.debug.breakpoints
        if [row.id for row in new] == [row.id for row in self.rows]:
            self.rows = new
            self._everything_changed()
            return
        self.beginResetModel()
        self.rows = new
        self.endResetModel()


def place_words(row: Breakpoint, graph: Graph) -> str:
    """``before y``, ``y → mul.self, backward``, ``twice ▸ before d``; the graph is the program's."""
    if row.group:
        definition = graph.definitions.get(row.group)
        inner = msgspec.structs.replace(row, group="")
        return f"{row.group} ▸ {place_words(inner, definition.graph)}" if definition is not None else row.group
    way = ", backward" if row.phase == "backward" else ""
    if row.target:
        return f"{title(graph, row.node)} → {title(graph, row.target)}.{row.port}{way}"
    if row.node == ItemId(""):
        return f"anywhere{way}" if way else "anywhere, forward"
    output = f" [{row.output}]" if row.output else ""
    return f"{row.place} {title(graph, row.node)}{output}{way}"


def operand(condition: Condition) -> str:
    """What stands behind the kind, as a person types it."""
    match condition.kind:
        case "above" | "below":
            return f"{condition.number:g}"
        case "shape_differs":
            return ", ".join(map(str, condition.shape))
        case "expression":
            return condition.text
    return ""


def parse_condition(kind: ConditionKind, text: str) -> Condition | None:
    """The condition that was typed; None when its number or shape cannot be read."""
    try:
        match kind:
            case "above" | "below":
                return Condition(kind=kind, number=float(text))
            case "shape_differs":
                sizes = text.strip().strip("[]()").split(",")
                return Condition(kind=kind, shape=tuple(int(size) for size in sizes if size.strip()))
            case "expression":
                return Condition(kind=kind, text=text)
    except ValueError:
        return None
    return Condition(kind=kind)
