"""The Outline dock: the program in order as a tree; whatever can be done on the canvas can be done here."""

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, QSize, Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gradstudio.graph.model import ItemId, Wire
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.outline.outline_model import NAME, OutlineModel
from gradstudio.ui.docks.outline.outline_tree import OutlineTree
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.clear_button import add_clear_button

FILTER_MS = 120
Flag = QItemSelectionModel.SelectionFlag
ROWS = Flag.Select | Flag.Rows


class OutlinePanel(QWidget):
    """A field that filters, and below it the tree; its selection is that of the canvas."""

    def __init__(self, session: Session, canvas: CanvasView, theme: Theme, parent: QWidget | None = None) -> None:
        """Show what the canvas shows."""
        super().__init__(parent)
        self._session, self._canvas, self._following = session, canvas, False
        self.model = OutlineModel(session, theme, self)
        self.field, self.tree = QLineEdit(self), OutlineTree(self.model, self)
        self.field.setPlaceholderText("Filter: name, nan, error …")
        self.field.setToolTip("Name, operator, shape, nan, error, and all else that Find on canvas knows")
        self.field.setAccessibleName("Filter the outline")
        add_clear_button(self.field)
        self._later = CatchUp(self, self._catch_up)
        self.model.puts_off = self._later.puts_off
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusProxy(self.tree)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 4, 6, 4)
        column.setSpacing(4)
        column.addWidget(self.field)
        column.addWidget(self.tree, 1)
        self._filtering = Throttle(FILTER_MS, self)
        self._filtering.due.connect(self.filter_now)
        self._listen()
        self._open_blocks()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.model.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(280, 320)

    def _listen(self) -> None:
        session, tree = self._session, self.tree
        self.field.textChanged.connect(self._filtering.request)
        self.model.modelReset.connect(self._on_model_reset)
        self.model.rowsInserted.connect(self._on_model_rows_inserted)
        session.attention.selection_changed.connect(self.follow)
        session.results.changed.connect(self._on_filtered_changed)
        session.shown_store.edited.connect(self._on_filtered_changed)
        tree.selectionModel().selectionChanged.connect(self._on_selected)
        tree.selectionModel().currentChanged.connect(self._on_selected)
        tree.gone_to.connect(self.go_to)
        tree.deleted.connect(self.delete)
        tree.shifted.connect(self._on_tree_shifted)
        tree.customContextMenuRequested.connect(self._on_tree_menu_requested)
        tree.doubleClicked.connect(lambda _index: self.go_to())

    # ------------------------------------------------------------------ what is done with the current row

    @property
    def item(self) -> ItemId | None:
        """The statement of the current row."""
        row = self.model.row(self.tree.currentIndex())
        return row.key.item if row is not None and not row.key.port else None

    @property
    def wire(self) -> Wire | None:
        """The wire of the current row."""
        row = self.model.row(self.tree.currentIndex())
        return self.model.rows.wire(row) if row is not None else None

    def go_to(self) -> None:
        """Show the current statement on the canvas, or the one that a wire comes from, and go there."""
        wire = self.wire
        item = wire.source if wire is not None else self.item
        if item is not None:
            self._session.attention.reveal(item)
            self._canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def delete(self) -> None:
        """Delete what is selected; on the row of a wire, the wire."""
        place = self.tree.currentIndex()
        above = place.row(), place.parent()
        if (wire := self.wire) is not None:
            self._canvas.wire_commands.remove_wires((wire,))
        else:
            self._canvas.selection_commands.delete_selection()
        if not self.tree.currentIndex().isValid() or self.item not in self._session.attention.selection:
            count = self.model.rowCount(above[1]) if above[1].isValid() or not place.parent().isValid() else 0
            if count:
                self.tree.setCurrentIndex(self.model.index(min(above[0], count - 1), NAME, above[1]))

    def menu_at(self, index: QModelIndex, at: QPoint) -> None:
        """The canvas's own menu for a row."""
        from gradstudio.scene.hit_test import Hit
        from gradstudio.ui.canvas.menus.context_menu import context_menu

        row, canvas = self.model.row(index), self._canvas
        if row is None:
            return
        item, wire = row.key.item, self.model.rows.wire(row)
        box = canvas.scene.placement.box(item)
        x, y = (box.x, box.y) if box is not None else canvas.pointer_or_middle()
        if wire is not None:
            hit = Hit("wire", item, wire=wire)
        elif item in self.model.graph.blocks:
            hit = Hit("title", item)
        else:
            hit = Hit("card", canvas.scene.state.card_groups.home(item), header=True)
        menu = context_menu(canvas, hit, x, y)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    # ------------------------------------------------------------------ selection

    def follow(self) -> None:
        """Select what is selected on the canvas."""
        if self._following or self._later.puts_off():
            return
        attention, tree = self._session.attention, self.tree
        places = [self.model.index_of(item) for item in attention.selection]
        chosen = QItemSelection()
        for place in filter(QModelIndex.isValid, places):
            chosen.select(place, place)
        current = self.model.index_of(attention.current) if attention.current in attention.selection else QModelIndex()
        self._following = True
        tree.selectionModel().select(chosen, Flag.Clear | ROWS)
        if current.isValid():
            tree.selectionModel().setCurrentIndex(current, Flag.NoUpdate)
            if tree.isVisible():
                tree.scrollTo(current)
        self._following = False

    def _on_selected(self) -> None:
        """What a person selects here is selected on the canvas."""
        if self._following:
            return
        model, attention = self.model, self._session.attention
        rows = [model.row(index) for index in self.tree.selectionModel().selectedRows()]
        items = [row.key.item for row in rows if row is not None and not row.key.port]
        self._following = True
        if (wire := self.wire) is not None and not items:
            self._canvas.selection.select_wires(frozenset({wire}))
            self._canvas.viewport().update()
        else:
            attention.select(items, self.item if self.item in items else None)
        self._following = False

    # ------------------------------------------------------------------ filter

    def filter_now(self) -> None:
        """Show what the field asks for; the same words as for finding on the canvas."""
        from gradstudio.ui.state.document.node_search import find_nodes

        text = self.field.text().strip()
        if not text:
            if self.model.rows.only is not None:
                self.model.show_only(None)
            return
        session = self._session
        problems = session.problems
        found = find_nodes(
            self.model.graph,
            session.results,
            text,
            lambda item: ((one.severity, one.words) for one in problems.of(item)),
        )
        if self.model.rows.only is None or frozenset(found) != self.model.rows.only:
            self.model.show_only(found)

    def _on_filtered_changed(self, _what: object) -> None:
        """What is shown may be what is asked for no more, or something else may be."""
        if self.field.text().strip() and not self._later.puts_off():
            self._filtering.request()

    def _catch_up(self) -> None:
        """What happened while the panel was not seen."""
        self.model.catch_up()
        self.follow()
        self._on_filtered_changed(None)

    # ------------------------------------------------------------------ slots

    def _on_model_reset(self) -> None:
        self._open_blocks()
        self.follow()

    def _on_model_rows_inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        for place in range(first, last + 1):
            self._open(self.model.index(place, NAME, parent))
        if not self._following:
            self.follow()

    def _open_blocks(self) -> None:
        """Blocks are open, the wires of statements are not."""
        for place in range(self.model.rowCount()):
            self._open(self.model.index(place, NAME))

    def _open(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if row is None or row.key.item not in self.model.graph.blocks or row.key.port:
            return
        self.tree.expand(index)
        for place in range(self.model.rowCount(index)):
            self._open(self.model.index(place, NAME, index))

    def _on_tree_shifted(self, by: int) -> None:
        if by < 0:
            self._canvas.selection_commands.move_earlier()
        else:
            self._canvas.selection_commands.move_later()

    def _on_tree_menu_requested(self, at: QPoint) -> None:
        index = self.tree.indexAt(at)
        self.menu_at(index, self.tree.viewport().mapToGlobal(at))
