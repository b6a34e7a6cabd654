"""Lines with a severity and perhaps a node: the rows of Log and Problems."""

from collections.abc import Sequence
from typing import Literal as OneOf
from typing import NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gradstudio.graph.groups.definitions import group_holding
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.program.model import Incomplete, Program
from gradstudio.ui.state.run.run_state import RunState

Severity = OneOf["info", "print", "warning", "error"]
ENTRY_ROLE = Qt.ItemDataRole.UserRole
MAX_LINES = 5000
LONGEST_NAME = 36
THROUGH = ("run", "forward", "backward")
"""Verbs after which what was passed over is worth telling, even short of the end."""
Index = QModelIndex | QPersistentModelIndex


class Entry(NamedTuple):
    """One line: what happened, and where (`where` is the node's name, "" when it is about none).

    `continued`: it belongs to the line above, and shows neither icon nor name.
    """

    severity: Severity
    text: str
    node: ItemId = ItemId("")
    where: str = ""
    detail: str = ""
    continued: bool = False


class EntryModel(QAbstractListModel):
    """Entries in order; the oldest go when there are more than `MAX_LINES`."""

    def __init__(self, parent: QObject | None = None) -> None:
        """No entries."""
        super().__init__(parent)
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Put one at the end."""
        if len(self.entries) >= MAX_LINES:
            self.beginRemoveRows(QModelIndex(), 0, MAX_LINES // 5 - 1)
            del self.entries[: MAX_LINES // 5]
            self.endRemoveRows()
        self.beginInsertRows(QModelIndex(), len(self.entries), len(self.entries))
        self.entries.append(entry)
        self.endInsertRows()

    def drop_last(self) -> None:
        """Take the newest away."""
        last = len(self.entries) - 1
        self.beginRemoveRows(QModelIndex(), last, last)
        del self.entries[last]
        self.endRemoveRows()

    def replace(self, entries: Sequence[Entry]) -> None:
        """Show exactly these."""
        if list(entries) != self.entries:
            self.beginResetModel()
            self.entries = list(entries)
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        entry = self.entries[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{entry.where}: {entry.text}" if entry.where else entry.text
            case Qt.ItemDataRole.ToolTipRole:
                return entry.detail or None
            case _ if role == ENTRY_ROLE:
                return entry
        return None


def name_of(graph: Graph, item: ItemId) -> str:
    """How a person calls an item, as its card does; one inside a group with the group's name; "" when it is gone."""
    if item in graph:
        return _short(title(graph, item))
    group = group_holding(graph, item)
    return f"{_short(title(graph.definitions[group].graph, item))} in {group}" if group else ""


def _short(name: str) -> str:
    """A name that leaves room for what is said: a card of code may bind dozens."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def left_out(graph: Graph, program: Program, state: RunState) -> tuple[Incomplete, ...]:
    """What a verb that went through passed over: nodes that cannot run, in the program's order."""
    if state.outcome != "done" or not (state.at_end or state.verb in THROUGH):
        return ()
    return tuple(row for row in program.incomplete if row.node in graph.nodes)


def did_not_run(count: int) -> str:
    """``2 nodes did not run``."""
    return "1 node did not run" if count == 1 else f"{count} nodes did not run"
