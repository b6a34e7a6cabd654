"""The module of the selected card: its mode, whether it learns, its parameters and buffers as leaves."""

from typing import Final

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import CALLED, calls_of, card_groups, is_callable, makes_module
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import Port, operator_of
from gradstudio.graph.text.item_titles import title
from gradstudio.scene import value_format
from gradstudio.scene.card.gradient_state_words import state_words
from gradstudio.scene.card.parameter_rows import ModuleParameter, parameter_rows
from gradstudio.ui.docks.inspector.arguments_section import ArgumentsSection
from gradstudio.ui.docks.inspector.document_modes import ModeSwitch, TwoWays
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.form_layout import Section, field_row, label

ROW_PX: Final = 25
MOST_ROWS: Final = 10
NARROWEST_COLUMN_PX: Final = 28
LEAST_NAME_PX: Final = 72
COLUMNS: Final = ("leaf", "shape", "values", "∇")
VALUES: Final = 2
DIFFERS: Final = "It computes something else in training than in evaluation."
SAME: Final = "It computes the same in training and in evaluation."


def module_of(graph: Graph, item: ItemId) -> ItemId | None:
    """The module that an item's card is about; None when it is about none."""
    module = card_groups(graph).modules.get(item, item)
    return module if module in graph.nodes and makes_module(operator_of(graph, module)) else None


class InputsSection(ArgumentsSection):
    """What a call is given, where it shares the card of its module."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No call yet."""
        super().__init__(session, theme, parent)
        self.heading.setText("Inputs")

    def _ports(self, item: ItemId | None) -> tuple[Port, ...]:
        ports = [port for port in super()._ports(item) if port.path != CALLED and not port.grows]
        if len(ports) == 1 and ports[0].element is not None:
            ports = [msgspec.structs.replace(ports[0], label="input")]
        return tuple(ports)


class LeafTable(QTreeWidget):
    """Name, shape, values and gradient side by side: where there is no room, names are shortened, figures last."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """The columns are as wide as `fit_columns` says."""
        super().__init__(parent)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header().setMinimumSectionSize(NARROWEST_COLUMN_PX)
        self.header().setStretchLastSection(False)

    def fit_columns(self) -> None:
        """Give every column what it wants: without room for all, values are told by the row's tip and on the card.

        What is missing then is taken from names, then shapes.
        """
        count = self.columnCount()
        self.setColumnHidden(VALUES, False)
        widths = [max(self.sizeHintForColumn(k), self.header().sectionSizeHint(k)) for k in range(count)]
        room = self.viewport().width() - sum(widths)
        if room < 0:
            self.setColumnHidden(VALUES, True)
            widths[VALUES], room = 0, room + widths[VALUES]
        if room > 0:
            widths[0] += room
        for k, least in ((0, LEAST_NAME_PX), (1, NARROWEST_COLUMN_PX), (0, NARROWEST_COLUMN_PX)):
            taken = min(max(0, -room), max(0, widths[k] - least))
            widths[k], room = widths[k] - taken, room + taken
        for k, width in enumerate(widths):
            self.setColumnWidth(k, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()


class ModuleSection(Section):
    """Mode, learning and leaves of a module.

    Signals:
        leaf_chosen(object): the path of a leaf whose value and gradient are wanted.
    """

    leaf_chosen = Signal(object)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No module yet."""
        super().__init__("Module", parent)
        self._session, self._theme = session, theme
        self._module: ItemId | None = None
        self.mode = ModeSwitch(self)
        self.remark = label("", "dim", wrap=True)
        self.learning = TwoWays("Learn", "Freeze", self)
        self.again = QPushButton("Call again", self)
        self.again.setToolTip("One more call: both share the weights")
        self.leaves = LeafTable(self)
        self._set_up_leaves()
        self._learns_row = field_row("parameters", self.learning)
        self._again_row = field_row("calls", self.again)
        self.add(field_row("mode", self.mode), self.remark, self._learns_row, self._again_row, self.leaves)
        self.mode.chosen.connect(self._on_mode_chosen)
        self.learning.chosen.connect(self._on_learning_chosen)
        self.again.clicked.connect(self._on_again_clicked)
        self.leaves.itemClicked.connect(
            lambda row, _column: self.leaf_chosen.emit(row.data(0, Qt.ItemDataRole.UserRole))
        )

    def show_item(self, item: ItemId) -> None:
        """Show the module of an item's card; hidden where there is none."""
        graph = self._session.shown_store.graph
        self._module = module = module_of(graph, item) if item in graph.nodes else None
        self.setVisible(module is not None)
        if module is None:
            return
        training, frozen = module_modes.is_training(graph, module), module_modes.is_frozen(graph, module)
        self.mode.show_mode(training)
        name = title(graph, module)
        self.mode.train.setToolTip(f"Takes {name}.eval() away")
        self.mode.evaluate.setToolTip(f"Writes {name}.eval() behind the constructor")
        self.remark.setText(DIFFERS if module_modes.depends_on_mode(graph, module) else SAME)
        self.learning.show_way(not frozen)
        self.learning.first.setToolTip(f"A backward gives them gradients: takes {name}.requires_grad_(False) away")
        self.learning.second.setToolTip(f"Keeps them as they are: writes {name}.requires_grad_(False)")
        self._again_row.setVisible(is_callable(operator_of(graph, module)))
        count = len(calls_of(graph, module))
        again = "Call again" if count else "Call it"
        self.again.setText(f"{again} ({count})" if count > 1 else again)
        self._show_leaves(parameter_rows(self._session.results, module))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme

    def _set_up_leaves(self) -> None:
        tree = self.leaves
        tree.setColumnCount(len(COLUMNS))
        tree.setHeaderLabels(list(COLUMNS))
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setFont(mono_font(11))
        tree.setAccessibleName("Parameters and buffers")
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)

    def _show_leaves(self, found: tuple[ModuleParameter, ...] | None) -> None:
        tree = self.leaves
        has_parameters = found is None or any(not leaf.buffer for leaf in found)
        self._learns_row.setVisible(has_parameters)
        tree.setVisible(bool(found))
        rows = [_texts(leaf) for leaf in found or ()]
        shown = [
            tuple(one.text(k) for k in range(4))
            for one in map(tree.topLevelItem, range(tree.topLevelItemCount()))
            if one
        ]
        if rows == shown:
            return
        tree.clear()
        for leaf, texts in zip(found or (), rows, strict=True):
            row = QTreeWidgetItem(list(texts))
            row.setData(0, Qt.ItemDataRole.UserRole, leaf.path)
            for column in range(len(COLUMNS)):
                row.setToolTip(column, _tip(leaf))
            if leaf.state in ("value", "accumulated"):
                row.setForeground(3, QBrush(self._theme.category_mark("Autograd")))
            row.setForeground(1, QBrush(self._theme.color("text_dim")))
            tree.addTopLevelItem(row)
        tree.fit_columns()
        whole = len(rows) <= MOST_ROWS
        bar = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if whole else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        tree.setVerticalScrollBarPolicy(bar)
        row_height = max(tree.sizeHintForRow(0), ROW_PX)
        tree.setFixedHeight(min(len(rows), MOST_ROWS) * row_height + tree.header().sizeHint().height() + 4)

    def _on_mode_chosen(self, training: object) -> None:
        graph = self._session.shown_store.graph
        if self._module is not None and module_modes.is_training(graph, self._module) != training:
            text = "Train" if training else "Evaluate"
            self._session.shown_store.attempt(recipes.set_training, text, (self._module,), bool(training))
        if self._module is not None:
            self.mode.show_mode(module_modes.is_training(graph, self._module))

    def _on_learning_chosen(self, learns: object) -> None:
        store, module = self._session.shown_store, self._module
        if module is None:
            return
        if module_modes.is_frozen(store.graph, module) == bool(learns):
            store.attempt(recipes.set_frozen, "Learn" if learns else "Freeze", (module,), not learns)
        self.learning.show_way(not module_modes.is_frozen(store.graph, module))

    def _on_again_clicked(self) -> None:
        if self._module is not None:
            edits, call = recipes.call_again(self._session.shown_store.graph, self._module)
            self._session.shown_store.submit(edits, "Call again")
            self._session.attention.reveal(call)


def _texts(leaf: ModuleParameter) -> tuple[str, str, str, str]:
    """A leaf as a row; before a run its dtype stands in place of values."""
    summary = leaf.summary
    if summary is None:
        values = value_format.bare_dtype(leaf.dtype)
    else:
        one = value_format.single(summary)
        values = value_format.number(one) if one is not None else value_format.extent(summary)
    if leaf.buffer:
        gradient = "buffer"
    elif leaf.grad is not None and leaf.state in ("value", "accumulated"):
        gradient = value_format.number_or_norm(leaf.grad, "")
    else:
        gradient = state_words(leaf.state, leaf.reason) if leaf.learns else "frozen"
    return leaf.path, value_format.shape(leaf.shape), values, gradient


def _tip(leaf: ModuleParameter) -> str:
    summary = leaf.summary
    if summary is None:
        return "Expected; its values are there after a run."
    mean = f", mean {value_format.number(summary.mean)}" if summary.mean is not None else ""
    values = f"{value_format.extent(summary)}{mean}"
    return values if leaf.buffer else f"{values}\n{leaf.reason}"
