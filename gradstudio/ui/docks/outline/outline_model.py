"""The outline as a Qt model: name, operator, value and state of every statement, wires as rows under them."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QIcon

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, ReplaceBlock, SetHeader, SetPlaces, touched_items
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.text.code_records import is_code_at, shown_lines
from gradstudio.graph.text.item_titles import title
from gradstudio.scene.words.statement_description import (
    describe_statement,
    operator_words,
    signs,
    value_words,
    wire_words,
)
from gradstudio.ui.docks.outline.outline_rows import Insert, Move, Remove, Row, Rows, Step
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
MIME: Final = "application/x-gradstudio-statements"
COLUMNS: Final = ("Name", "Operator", "Value", "State")
NAME, OPERATOR, VALUE, STATE = range(len(COLUMNS))
MANY: Final = 400
"""From so many changed statements on, the rows are built anew."""


class OutlineModel(QAbstractItemModel):
    """Follows what is shown on the canvas, edit by edit.

    Attributes:
        puts_off: whether nobody sees it now; then it waits for `catch_up`.
    """

    def __init__(self, session: Session, theme: Theme, parent: QObject | None = None) -> None:
        """Build the rows of what is shown."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.rows = Rows(session.shown_store.graph)
        self.puts_off: Callable[[], bool] = _never
        self._edited: set[ItemId] = set()
        self._is_replaced = False
        session.shown_store.edited.connect(self._on_store_edited)
        session.shown_store.replaced.connect(self._on_store_replaced)
        session.results.changed.connect(self._on_results_changed)
        session.problems.changed.connect(self._everything_changed)
        session.debug.changed.connect(self._everything_changed)

    @property
    def graph(self) -> Graph:
        """What is shown."""
        return self._session.shown_store.graph

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._everything_changed()

    def show_only(self, items: Iterable[ItemId] | None) -> None:
        """Show these statements, with the blocks around them; None: everything."""
        self.beginResetModel()
        self.rows.rebuild(self.graph, frozenset(items) if items is not None else None)
        self.endResetModel()

    # ------------------------------------------------------------------ rows and places

    def row(self, index: Index) -> Row | None:
        """The row of a place in the view."""
        return self.rows.by_number.get(index.internalId()) if index.isValid() else None

    def index_of(self, item: ItemId, port: str = "", column: int = NAME) -> QModelIndex:
        """Where a statement, or the wire into a port of it, is shown; invalid where it is not."""
        row = self.rows.find(item, port)
        return self._index(row, column) if row is not None else QModelIndex()

    def _index(self, row: Row, column: int = NAME) -> QModelIndex:
        return QModelIndex() if row.parent is None else self.createIndex(row.place, column, row.number)

    # ------------------------------------------------------------------ Qt overrides

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        holder = self.row(parent) if parent.isValid() else self.rows.root
        if holder is None or not 0 <= row < len(holder.children):
            return QModelIndex()
        return self.createIndex(row, column, holder.children[row].number)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # QObject.parent()
        row = self.row(index)
        return self._index(row.parent) if row is not None and row.parent is not None else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        if parent.column() > 0:
            return 0
        holder = self.row(parent) if parent.isValid() else self.rows.root
        return len(holder.children) if holder is not None else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> object:
        told = role in (Role.DisplayRole, Role.ToolTipRole)
        return COLUMNS[section] if orientation == Qt.Orientation.Horizontal and told else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> object:
        row = self.row(index)
        if row is None or self._is_replaced or row.key.item not in self.graph:
            return None
        if row.key.port:
            return self._wire_data(row, index.column(), role)
        item, column = row.key.item, index.column()
        match role:
            case Role.ToolTipRole if column == NAME:
                code = shown_lines(self.graph.nodes[item]) if is_code_at(self.graph, item) else ()
                return "\n".join(filter(None, (self._text(item, NAME), self._text(item, STATE), *code)))
            case Role.DisplayRole | Role.ToolTipRole:
                return self._text(item, column)
            case Role.EditRole if column == NAME:
                return self._name(item)
            case Role.AccessibleTextRole if column == NAME:
                return f"{title(self.graph, item)}, {operator_words(self.graph, item)}"
            case Role.AccessibleDescriptionRole if column == NAME:
                return describe_statement(self._session, item)
            case Role.DecorationRole if column == NAME:
                return self._sign(item)
            case Role.ForegroundRole if column in (OPERATOR, VALUE) or self._is_left_out(item):
                return self._theme.color("text_dim")
        return None

    def _wire_data(self, row: Row, column: int, role: int) -> object:
        wire = self.rows.wire(row)
        if wire is None or column != NAME:
            return None
        if role in (Role.DisplayRole, Role.ToolTipRole):
            return wire_words(self.graph, wire)
        if role == Role.AccessibleTextRole:
            return f"input {wire_words(self.graph, wire).replace('←', 'from')}"
        return self._theme.color("text_dim") if role == Role.ForegroundRole else None

    def _text(self, item: ItemId, column: int) -> str:
        match column:
            case 0:
                return title(self.graph, item)
            case 1:
                return operator_words(self.graph, item)
            case 2:
                return value_words(self._session.results, item)
        return ", ".join(sign.words for sign in signs(self._session, item))

    def _name(self, item: ItemId) -> str:
        node, block = self.graph.nodes.get(item), self.graph.blocks.get(item)
        if node is not None:
            return ", ".join(node.names)
        if block is not None:
            return block.title
        return ""

    def _sign(self, item: ItemId) -> QIcon | None:
        found = signs(self._session, item)
        return icon(found[0].icon, self._theme, found[0].role) if found else None

    def _is_left_out(self, item: ItemId) -> bool:
        owner = self.graph.nodes.get(item) or self.graph.blocks.get(item)
        return owner is not None and owner.muted

    # ------------------------------------------------------------------ renaming and moving

    def flags(self, index: Index) -> Qt.ItemFlag:
        flag, row = Qt.ItemFlag, self.row(index)
        if row is None:
            return flag.ItemIsDropEnabled
        made = flag.ItemIsEnabled | flag.ItemIsSelectable
        if row.key.port:
            return made
        made |= flag.ItemIsDragEnabled
        block = self.graph.blocks.get(row.key.item)
        if block is not None:
            made |= flag.ItemIsDropEnabled
        if index.column() == NAME and (block is None or block.kind == "group"):
            made |= flag.ItemIsEditable
        return made

    def setData(self, index: Index, value: object, role: int = Role.EditRole) -> bool:
        row = self.row(index)
        if row is None or role != Role.EditRole:
            return False
        item, text, store = row.key.item, str(value).strip(), self._session.shown_store
        if text == self._name(item):
            return True
        if (block := self.graph.blocks.get(item)) is not None:
            store.submit((ReplaceBlock(msgspec.structs.replace(block, title=text)),), "Rename group")
            return True
        names = tuple(part.strip() for part in text.split(",")) if text else ()
        return store.attempt(recipes.rename, f"Rename to {text}", item, names)

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Iterable[QModelIndex]) -> QMimeData:
        rows = [self.row(index) for index in indexes if index.column() == NAME]
        data = QMimeData()
        data.setData(MIME, "\n".join(row.key.item for row in rows if row is not None and not row.key.port).encode())
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        """Put statements before the row that they were dropped above; what the wires forbid is refused in words."""
        holder = self.row(parent) if parent.isValid() else self.rows.root
        if holder is None or not data.hasFormat(MIME):
            return False
        body = BodyId(holder.key.item)
        index = len(self.graph.bodies[body]) if row < 0 else max(0, row - holder.wires)
        if self.rows.only is not None and 0 <= row < len(holder.children):
            index = self.graph.bodies[body].index(holder.children[row].key.item)
        words = bytes(data.data(MIME).data()).decode()
        for item in map(ItemId, reversed(words.splitlines())):
            if item in self.graph:
                text = f"Move {title(self.graph, item)}"
                self._session.shown_store.attempt(recipes.put_at, text, item, body, index)
                index = self.graph.bodies[body].index(item) if self.graph.parents[item] == body else index
        return True

    # ------------------------------------------------------------------ following

    def catch_up(self) -> None:
        """Follow what happened while nobody saw it."""
        edited, self._edited = self._edited, set()
        replaced, self._is_replaced = self._is_replaced, False
        if replaced:
            self.show_only(None)
            return
        if edited:
            self._follow(edited)
        self._everything_changed()

    def _on_store_replaced(self) -> None:
        if self.puts_off():
            self._is_replaced = True
        else:
            self.show_only(None)

    def _on_store_edited(self, edits: Edits) -> None:
        if all(isinstance(edit, SetPlaces) for edit in edits):
            return
        touched = touched_items(edits)
        if self.puts_off():
            self._edited.update(touched)
            return
        self._follow(touched)
        if any(isinstance(edit, SetHeader) for edit in edits):
            self._everything_changed()

    def _follow(self, touched: Iterable[ItemId]) -> None:
        changed = {item for item in touched if item in self.graph}
        if self.rows.only is not None or len(changed) > MANY:
            self.show_only(self.rows.only and (item for item in self.rows.only if item in self.graph))
            return
        for step in self.rows.steps(changed):
            self._take(step)
        for item in changed:
            self._changed(item)

    def _take(self, step: Step) -> None:
        parent = self._index(step.parent)
        match step:
            case Insert(place=place, rows=rows):
                self.beginInsertRows(parent, place, place + len(rows) - 1)
                self.rows.take(step)
                self.endInsertRows()
            case Remove(place=place, many=many):
                self.beginRemoveRows(parent, place, place + many - 1)
                self.rows.take(step)
                self.endRemoveRows()
            case Move(old=old, new=new):
                self.beginMoveRows(parent, old, old, parent, new)
                self.rows.take(step)
                self.endMoveRows()

    def _changed(self, item: ItemId) -> None:
        """A statement, and the wires that bring its name to others."""
        row = self.rows.find(item)
        if row is not None:
            self.dataChanged.emit(self._index(row), self._index(row, STATE))
        for wire in self.graph.wires_from(item):
            place = self.index_of(wire.target, wire.port)
            if place.isValid():
                self.dataChanged.emit(place, place)

    def _on_results_changed(self, items: frozenset[ItemId]) -> None:
        if self.puts_off():
            return
        if not items or len(items) > MANY:
            self._everything_changed()
            return
        for row in filter(None, map(self.rows.find, items)):
            self.dataChanged.emit(self._index(row), self._index(row, STATE))

    def _everything_changed(self) -> None:
        if self.puts_off():
            return
        bodies = [self.rows.root, *(row for row in self.rows.by_key.values() if len(row.children) > row.wires)]
        for row in bodies:
            if row.children:
                self.dataChanged.emit(self._index(row.children[0]), self._index(row.children[-1], STATE))


def _never() -> bool:
    return False
