"""The operators as a Qt model: a tree by categories, or a ranked list while something is searched."""

from PySide6.QtCore import QAbstractItemModel, QByteArray, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush

from gradstudio.operators.catalogue import Catalogue
from gradstudio.operators.model import Operator
from gradstudio.ui.panels.signature import tooltip
from gradstudio.ui.theme import Theme, ui_font

MIME_TYPE = "application/x-gradstudio-operator"
OPERATOR_ROLE = Qt.ItemDataRole.UserRole
MARK_ROLE = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex
COMMON = "Common"
COMMON_KEYS = (
    *("torch.tensor", "torch.randn", "torch.zeros", "torch.ones", "torch.arange", "python.literal"),
    *("operator.add", "operator.sub", "operator.mul", "operator.truediv", "operator.pow", "operator.matmul"),
    *("torch.Tensor.sum", "torch.Tensor.mean", "torch.Tensor.reshape", "torch.Tensor.T", "torch.exp", "torch.tanh"),
    *("torch.nn.functional.relu", "torch.nn.functional.softmax", "torch.nn.Linear"),
    *("torch.nn.functional.mse_loss", "torch.nn.functional.cross_entropy"),
    *("torch.Tensor.backward", "torch.Tensor.detach", "torch.Tensor.grad", "builtins.print"),
)
"""What a first computation needs, shown before all categories."""


class LibraryModel(QAbstractItemModel):
    """Two levels: categories, and operators under them; searched, one level of operators.

    An index of an operator carries its category's number plus one as internal id; 0 is the top level.
    """

    def __init__(self, catalogue: Catalogue, theme: Theme, parent: QObject | None = None) -> None:
        """Show the whole catalogue."""
        super().__init__(parent)
        self._catalogue, self._theme = catalogue, theme
        members: dict[str, list[Operator]] = {COMMON: [row for key in COMMON_KEYS if (row := catalogue.get(key))]}
        members.update((name, []) for name in catalogue.categories)
        for operator in catalogue:
            members.setdefault(operator.category, []).append(operator)
        self._categories = [name for name, rows in members.items() if rows]
        self._members = [members[name] for name in self._categories]
        self._found: tuple[Operator, ...] | None = None
        self._heading = ui_font(12)
        self._heading.setWeight(self._heading.Weight.DemiBold)

    @property
    def searching(self) -> bool:
        """Whether a ranked list is shown instead of the tree."""
        return self._found is not None

    def search(self, query: str) -> None:
        """Show what fits the query, best first; everything by categories when it is empty."""
        self.beginResetModel()
        self._found = self._catalogue.search(query) if query.strip() else None
        self.endResetModel()

    def set_theme(self, theme: Theme) -> None:
        """Colour the marks anew."""
        self._theme = theme
        self.layoutChanged.emit()

    def operator(self, index: Index) -> Operator | None:
        """The operator of a row; None for a category."""
        if not index.isValid():
            return None
        if self._found is not None:
            return self._found[index.row()]
        group = index.internalId()
        return self._members[group - 1][index.row()] if group else None

    # ------------------------------------------------------------------ Qt overrides

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # the stubs miss the overload
        group = index.internalId() if index.isValid() else 0
        return self.createIndex(group - 1, 0, 0) if group else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        if self._found is not None:
            return 0 if parent.isValid() else len(self._found)
        if not parent.isValid():
            return len(self._categories)
        return 0 if parent.internalId() else len(self._members[parent.row()])

    def columnCount(self, _parent: Index = QModelIndex()) -> int:
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        operator = self.operator(index)
        if operator is None:
            return self._category_data(index, role)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return operator.title
            case Qt.ItemDataRole.ToolTipRole:
                return tooltip(operator)
            case Qt.ItemDataRole.AccessibleTextRole:
                return operator.key
            case _ if role == OPERATOR_ROLE:
                return operator
            case _ if role == MARK_ROLE:
                return self._theme.category_mark(operator.category)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.operator(index) is None:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled

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

    def _category_data(self, index: Index, role: int) -> object:
        if not index.isValid():
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._categories[index.row()]
            case Qt.ItemDataRole.FontRole:
                return self._heading
            case Qt.ItemDataRole.ForegroundRole:
                return QBrush(self._theme.color("text_dim"))
        return None
