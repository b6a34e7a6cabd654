"""The operators as a Qt model: a tree by categories, or a ranked list while something is searched."""

from collections.abc import Iterable, Iterator

import msgspec
from PySide6.QtCore import QAbstractItemModel, QByteArray, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush

from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.catalogue.loader import Catalogue
from gradstudio.operators.model import Operator
from gradstudio.operators.search.highlighting import Spans, highlight_spans
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.widgets.operator_signature import tooltip

MIME_TYPE = "application/x-gradstudio-operator"
OPERATOR_ROLE = Qt.ItemDataRole.UserRole
MARK_ROLE = Qt.ItemDataRole.UserRole + 1
COUNT_ROLE = Qt.ItemDataRole.UserRole + 2
SPANS_ROLE = Qt.ItemDataRole.UserRole + 3
PHRASE_ROLE = Qt.ItemDataRole.UserRole + 4
FAVOURITE_ROLE = Qt.ItemDataRole.UserRole + 5
Index = QModelIndex | QPersistentModelIndex
GROUP_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
OPERATOR_FLAGS = GROUP_FLAGS | Qt.ItemFlag.ItemIsDragEnabled
LIMIT = 60
"""Finds shown; who has not found it among so many types another word."""
FAVOURITES = "Favourites"
RECENT = "Recent"
COMMON = "Common"
MORE = "More categories"
RARER = "more"
COMMON_KEYS = (
    *("torch.tensor", "torch.randn", "torch.zeros", "torch.ones", "torch.arange", "python.literal"),
    "python.code",
    *("operator.add", "operator.sub", "operator.mul", "operator.truediv", "operator.pow", "operator.matmul"),
    *("torch.Tensor.sum", "torch.Tensor.mean", "torch.Tensor.reshape", "torch.Tensor.T", "torch.exp", "torch.tanh"),
    *("torch.nn.functional.relu", "torch.nn.functional.softmax", "torch.nn.Linear"),
    *("torch.nn.functional.mse_loss", "torch.nn.functional.cross_entropy"),
    *("torch.Tensor.backward", "torch.Tensor.detach", "torch.Tensor.grad", "builtins.print"),
)
"""What a first computation needs, shown before all categories."""


class _Node(msgspec.Struct):
    """A row: a group with rows under it, or an operator."""

    number: int
    parent: "_Node | None" = None
    row: int = 0
    title: str = ""
    operator: Operator | None = None
    phrase: str = ""
    spans: Spans = ()
    count: int = 0
    children: list["_Node"] = msgspec.field(default_factory=list)


class _Rows:
    """A tree of rows; each can be found by its number."""

    def __init__(self) -> None:
        self.all: list[_Node] = []
        self.root = self.add(None)

    def add(
        self,
        parent: _Node | None,
        title: str = "",
        operator: Operator | None = None,
        phrase: str = "",
        spans: Spans = (),
    ) -> _Node:
        """Put a row under another, last."""
        node = _Node(len(self.all), parent, len(parent.children) if parent else 0, title, operator, phrase, spans)
        self.all.append(node)
        if parent is not None:
            parent.children.append(node)
        return node


class LibraryModel(QAbstractItemModel):
    """Favourites, recent, common, then categories: in each what is used every day, and the rarer ones folded.

    The internal id of an index is the number of its row.
    """

    def __init__(
        self, catalogue: Catalogue, theme: Theme, shelf: Favourites | None = None, parent: QObject | None = None
    ) -> None:
        """Show the whole catalogue."""
        super().__init__(parent)
        self._catalogue, self._theme = catalogue, theme
        self.shelf = shelf or Favourites(parent=self)
        self._favourites, self._recent = self.shelf.favourites, self.shelf.recent
        self._typed = ""
        self._own: tuple[tuple[str, tuple[Operator, ...]], ...] = ()
        self._rows = self._browsed = self._tree()
        self._heading = ui_font(12)
        self._heading.setWeight(self._heading.Weight.DemiBold)

    @property
    def searching(self) -> bool:
        """Whether a ranked list is shown instead of the tree."""
        return bool(self._typed.strip())

    def search(self, query: str) -> None:
        """Show what fits the query, best first; everything by categories when it is empty."""
        self.beginResetModel()
        self._typed = query
        self._rows = self._found() if self.searching else self._browsed
        self.endResetModel()

    def nearest(self) -> tuple[Operator, ...]:
        """What may have been meant by a search that found nothing."""
        return self._catalogue.index.nearest(self._typed)

    @property
    def has_favourites(self) -> bool:
        """Whether the favourites listed are those of now."""
        return self._favourites == self.shelf.favourites

    @property
    def has_recent(self) -> bool:
        """Whether what was used last is listed as it is now."""
        return self._recent == self.shelf.recent

    def take_up_shelf(self, *, anew: bool = True) -> None:
        """Favourites are others now, with `anew` recent ones, too; finds keep their places while they are looked at."""
        self._favourites = self.shelf.favourites
        if anew:
            self._recent = self.shelf.recent
        if self.searching:
            self._browsed = self._tree()
            if self._rows.root.children:
                self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, 0))
            return
        self.beginResetModel()
        self._rows = self._browsed = self._tree()
        self.endResetModel()

    def show_own(self, own: tuple[tuple[str, tuple[Operator, ...]], ...]) -> bool:
        """Groups, by the titles of their categories, that stand beside the catalogue; whether they are others now."""
        shown = tuple((title, rows) for title, rows in own if rows)
        is_other, self._own = shown != self._own, shown
        return is_other

    def set_theme(self, theme: Theme) -> None:
        """Colour the marks anew."""
        self._theme = theme
        self.layoutChanged.emit()

    def operator(self, index: Index) -> Operator | None:
        """The operator of a row; None for a group."""
        return self._node(index).operator if index.isValid() else None

    def path(self, index: Index) -> tuple[str, ...]:
        """Titles of the groups a row stands in, and its key or own title: the same row after a reset."""
        titles: list[str] = []
        node: _Node | None = self._node(index) if index.isValid() else None
        while node is not None and node.parent is not None:
            titles.append(node.operator.key if node.operator else node.title)
            node = node.parent
        return tuple(reversed(titles))

    def find(self, path: tuple[str, ...]) -> QModelIndex:
        """The row with that path; an invalid index when there is none."""
        node = self._rows.root
        for name in path:
            inside = (row for row in node.children if (row.operator.key if row.operator else row.title) == name)
            found = next(inside, None)
            if found is None:
                return QModelIndex()
            node = found
        return self._index_of(node)

    def groups(self) -> Iterator[QModelIndex]:
        """Every row that has rows under it."""
        return (self._index_of(node) for node in self._rows.all[1:] if node.children)

    # ------------------------------------------------------------------ building

    def _tree(self) -> _Rows:
        rows = _Rows()
        for title, keys in ((FAVOURITES, self._favourites), (RECENT, self._recent), (COMMON, COMMON_KEYS)):
            self._add_group(rows, rows.root, title, (self._catalogue.entry(key) for key in keys))
        for title, own in self._own:
            self._add_group(rows, rows.root, title, own)
        self._add_group(rows, rows.root, block_rows.CATEGORY, block_rows.ROWS)
        members: dict[str, list[Operator]] = {name: [] for name in self._catalogue.categories}
        for operator in self._catalogue:
            members.setdefault(operator.category, []).append(operator)
        known = [name for name, inside in members.items() if any(not operator.rare for operator in inside)]
        for name in known:
            everyday = [operator for operator in members[name] if not operator.rare]
            group = self._add_group(rows, rows.root, name, everyday)
            self._add_rarer(rows, group, [operator for operator in members[name] if operator.rare])
        rest = [name for name, inside in members.items() if inside and name not in known]
        if rest:
            more = rows.add(rows.root, MORE)
            for name in rest:
                more.count += self._add_group(rows, more, name, members[name]).count
        return rows

    def _add_group(self, rows: _Rows, parent: _Node, title: str, inside: Iterable[Operator | None]) -> _Node:
        """A group of operators; none that is empty."""
        operators = [operator for operator in inside if operator is not None]
        if not operators:
            return parent
        group = rows.add(parent, title)
        group.count = len(operators)
        for operator in operators:
            rows.add(group, operator.title, operator)
        return group

    def _add_rarer(self, rows: _Rows, group: _Node, rare: list[Operator]) -> None:
        if rare:
            group.count += len(rare)
            self._add_group(rows, group, RARER, rare)

    def _found(self) -> _Rows:
        rows = _Rows()
        words = self._typed.lower().split()
        for _, own in self._own:
            for row in own:
                if all(word in f"{row.title} {' '.join(row.words)}".lower() for word in words):
                    rows.add(rows.root, row.title, row, "", highlight_spans(self._typed, row.title))
        for find in self._catalogue.index.find(self._typed, limit=LIMIT, preferred=self.shelf.preferred):
            title = find.operator.title
            rows.add(rows.root, title, find.operator, find.phrase, highlight_spans(self._typed, title))
        return rows

    def _node(self, index: Index) -> _Node:
        return self._rows.all[index.internalId()]

    def _index_of(self, node: _Node) -> QModelIndex:
        return self.createIndex(node.row, 0, node.number)

    # ------------------------------------------------------------------ Qt overrides

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        node = self._node(parent) if parent.isValid() else self._rows.root
        return self._index_of(node.children[row])

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # the stubs miss the overload
        above = self._node(index).parent if index.isValid() else None
        return self._index_of(above) if above is not None and above.parent is not None else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return len((self._node(parent) if parent.isValid() else self._rows.root).children)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        node = self._node(index)
        return self._group_data(node, role) if node.operator is None else self._operator_data(node, node.operator, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return GROUP_FLAGS if self.operator(index) is None else OPERATOR_FLAGS

    def mimeTypes(self) -> list[str]:
        return [MIME_TYPE]

    def mimeData(self, indexes: list[QModelIndex]) -> QMimeData:  # type: ignore[override]  # the stubs say Sequence
        mime = QMimeData()
        operator = self.operator(indexes[0]) if indexes else None
        if operator is not None:
            mime.setData(MIME_TYPE, QByteArray(operator.key.encode()))
        return mime

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction

    def _operator_data(self, node: _Node, operator: Operator, role: int) -> object:
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return operator.title
            case Qt.ItemDataRole.ToolTipRole:
                return tooltip(operator)
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{operator.key}, favourite" if operator.key in self.shelf.favourites else operator.key
            case _ if role == OPERATOR_ROLE:
                return operator
            case _ if role == MARK_ROLE:
                return self._theme.category_mark(operator.category)
            case _ if role == SPANS_ROLE:
                return node.spans
            case _ if role == PHRASE_ROLE:
                return node.phrase
            case _ if role == FAVOURITE_ROLE:
                return operator.key in self.shelf.favourites
        return None

    def _group_data(self, node: _Node, role: int) -> object:
        rarer = node.title == RARER
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{node.count} more" if rarer else node.title
            case Qt.ItemDataRole.ToolTipRole:
                return (
                    f"{node.count} operators that are used less" if rarer else f"{node.title}: {node.count} operators"
                )
            case Qt.ItemDataRole.FontRole:
                return ui_font(12) if rarer else self._heading
            case Qt.ItemDataRole.ForegroundRole:
                return QBrush(self._theme.color("text_dim"))
            case _ if role == COUNT_ROLE:
                return 0 if rarer else node.count
        return None
