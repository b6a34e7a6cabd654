"""The Library dock: search, browse, drag an operator out or add it with Enter; favourites and recent ones."""

import gc
from collections.abc import Callable, Iterator
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QVBoxLayout, QWidget

from gradstudio.operators.catalogue.loader import Catalogue
from gradstudio.operators.model import Operator
from gradstudio.ui.docks.library.library_model import COMMON, FAVOURITES, RECENT, LibraryModel
from gradstudio.ui.docks.library.library_tree import LibraryTree
from gradstudio.ui.docks.library.operator_help import OperatorHelp
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.theme import Theme, icon_pixmap
from gradstudio.ui.widgets.clear_button import add_clear_button
from gradstudio.ui.widgets.menu_keys import KeysOf, no_keys, with_keys

INDEX_MS: Final = 60
"""So long after it was first painted the index of the search is begun, a slice at a time."""
OPEN_AT_FIRST: Final = ((FAVOURITES,), (RECENT,), (COMMON,))
TO_FIELD: Final = (QKeySequence.StandardKey.SelectAll, QKeySequence.StandardKey.Paste, QKeySequence.StandardKey.Undo)
"""Keys that in the tree, too, are meant for the search field."""
INVITATION_EDGES_PX: Final = 40
"""Of the search field, beside its words: the lens and what Qt keeps free at both ends."""
TREE_KEYS: Final = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class LibraryPanel(QWidget):
    """Search field over the tree of operators.

    Signals:
        chosen(object): Enter was pressed on an operator's key.
        carried(object): an operator's key was double-clicked.
        said(object): why what was dragged out was not placed.
    """

    chosen = Signal(object)
    carried = Signal(object)
    said = Signal(object)

    def __init__(
        self, catalogue: Catalogue, theme: Theme, shelf: Favourites | None = None, parent: QWidget | None = None
    ) -> None:
        """Show the catalogue by categories."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.shelf = shelf or Favourites(parent=self)
        self._catalogue = catalogue
        self._slices: Iterator[None] | None = None
        self.model = LibraryModel(catalogue, theme, self.shelf, self)
        self._open: set[tuple[str, ...]] = set(OPEN_AT_FIRST)
        self._seen: set[tuple[str, ...]] = set()
        self.menu_extra: Callable[[QMenu, str], None] = lambda _menu, _key: None
        self.field = self._search_field(len(catalogue))
        self._lens = self.field.addAction(
            icon_pixmap("search", theme.color("text_dim"), 16), QLineEdit.ActionPosition.LeadingPosition
        )
        self._lens.setText("Search")
        self.tree = LibraryTree(theme, self)
        self.tree.setModel(self.model)
        self.tree.installEventFilter(self)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.menu = QMenu(self)
        self.keys_of: KeysOf = no_keys
        self.help = OperatorHelp(self)
        self.empty = QLabel("", self)
        self.empty.setWordWrap(True)
        self.empty.setTextFormat(Qt.TextFormat.RichText)
        self.empty.setProperty("role", "dim")
        self.empty.setContentsMargins(4, 8, 4, 0)
        self.empty.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GAP_LARGE, 0, 6, 8)
        layout.setSpacing(theme.GAP)
        for widget, stretch in ((self.field, 0), (self.empty, 0), (self.tree, 1), (self.help, 0)):
            layout.addWidget(widget, stretch)
        self._restore_open()
        self._connect()

    def _search_field(self, count: int) -> QLineEdit:
        field = QLineEdit(self)
        field.setObjectName("library_search")
        self._invitations = (f"Search {count:,} operators", "Search operators", "Search")
        field.setPlaceholderText(self._invitations[0])
        field.setAccessibleName("Search the operators")
        add_clear_button(field)
        field.installEventFilter(self)
        return field

    def _invite(self) -> None:
        """The longest words that the field has room for."""
        metrics, room = self.field.fontMetrics(), self.field.width() - INVITATION_EDGES_PX
        fitting = (words for words in self._invitations if metrics.horizontalAdvance(words) <= room)
        self.field.setPlaceholderText(next(fitting, self._invitations[-1]))

    def _connect(self) -> None:
        self.field.textChanged.connect(self._on_field_text_changed)
        self.tree.operator_activated.connect(self.chosen)
        self.tree.operator_carried.connect(self.carried)
        self.tree.operator_refused.connect(self._on_tree_operator_refused)
        self.tree.star_clicked.connect(self._on_tree_star_clicked)
        self.tree.expanded.connect(self._on_tree_expanded)
        self.tree.collapsed.connect(self._on_tree_collapsed)
        self.tree.customContextMenuRequested.connect(self._on_tree_menu_requested)
        self.tree.selectionModel().currentChanged.connect(self._on_current_changed)
        self.empty.linkActivated.connect(self.field.setText)
        self.shelf.changed.connect(self._on_shelf_changed)

    def focus_search(self) -> None:
        """Put the cursor into the search field."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def documented_operator(self) -> str:
        """The key of the current operator; "" for none."""
        operator = self.model.operator(self.tree.currentIndex())
        return operator.key if operator is not None else ""

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._lens.setIcon(icon_pixmap("search", theme.color("text_dim"), 16))
        self.tree.set_theme(theme)
        self.model.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(230, 500)

    def showEvent(self, event: QShowEvent) -> None:
        """What was used last is listed anew now, not while somebody drags one operator after the other."""
        super().showEvent(event)
        if not event.spontaneous() and not self.model.has_recent:
            self._take_up_shelf()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Build the index when the window has answered its first clicks: typing must not wait for it."""
        super().paintEvent(event)
        if self._slices is None:
            self._slices = self._catalogue.index_slices()
            QTimer.singleShot(INDEX_MS, self, self._build_index)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys in the field move in the list, Enter adds the current find; typing in the list searches."""
        if watched is self.field and event.type() == QEvent.Type.Resize:
            self._invite()
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if watched is self.tree and event.type() == QEvent.Type.ShortcutOverride and self._is_typed(event):
            event.accept()
            return True
        if event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if event.key() == Qt.Key.Key_Escape and self.field.text():
            self.field.clear()
            self.field.setFocus()
            return True
        if watched is self.field:
            if event.key() in TREE_KEYS:
                self.tree.keyPressEvent(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.tree.activate_current()
                return True
        elif self._is_typed(event):
            self._type(event)
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What is typed beside the field and the list is searched, too."""
        if self._is_typed(event):
            self._type(event)
        else:
            super().keyPressEvent(event)

    def _is_typed(self, event: QKeyEvent) -> bool:
        """Whether a key that was pressed beside the search field is meant for it."""
        if event.key() == Qt.Key.Key_Backspace or any(event.matches(key) for key in TO_FIELD):
            return bool(self.field.text()) or event.matches(QKeySequence.StandardKey.Paste)
        if event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier):
            return False
        return event.text().isprintable() and bool(event.text().strip() or (event.text() and self.field.text()))

    def _type(self, event: QKeyEvent) -> None:
        """Give the key to the search field, with the focus; its cursor stands at the end."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.deselect()
        self.field.end(False)
        self.field.event(event)  # not sent: what the field ignores would come back here, to its parent

    def _build_index(self) -> None:
        """The next slice; the collector need not walk through what lives as long as the window while somebody types."""
        if self._slices is None or self._catalogue.has_index:
            return
        if next(self._slices, self) is self:
            gc.freeze()
        else:
            QTimer.singleShot(0, self, self._build_index)

    # ------------------------------------------------------------------ what is open

    def _restore_open(self) -> None:
        if self.model.searching:
            return
        for group in self.model.groups():
            self.tree.setExpanded(group, self.model.path(group) in self._open)

    def _on_tree_expanded(self, index: QModelIndex) -> None:
        self._open.add(self.model.path(index))

    def _on_tree_collapsed(self, index: QModelIndex) -> None:
        self._open.discard(self.model.path(index))

    # ------------------------------------------------------------------ search

    def _on_field_text_changed(self, text: str) -> None:
        self.model.search(text)
        self.tree.setRootIsDecorated(not self.model.searching)
        found = self.model.rowCount()
        nothing = self.model.searching and not found
        self.empty.setVisible(nothing)
        if nothing:
            self.empty.setText(self._did_you_mean(text.strip()))
        if self.model.searching and found:
            self.tree.setCurrentIndex(self.model.index(0, 0))
            self.tree.scrollToTop()
        elif not self.model.searching:
            self._restore_open()
        self.help.show_operator(self.model.operator(self.tree.currentIndex()))

    def _did_you_mean(self, typed: str) -> str:
        said = f"No operator fits “{escape(typed)}”. "
        near = [f"<a href='{escape(row.word)}'>{escape(row.word)}</a>" for row in self.model.nearest()]
        if not near:
            return f"{said}Try a word of what it does: “mean”, “reshape”."
        return f"{said}Did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"

    # ------------------------------------------------------------------ favourites

    def _on_tree_star_clicked(self, key: str) -> None:
        self.shelf.toggle(key)

    def _on_tree_menu_requested(self, at: QPoint) -> None:
        operator = self.model.operator(self.tree.indexAt(at))
        if operator is None:
            return
        self.tree.hush()
        menu = self.menu  # one for all: a menu that is deleted while it closes takes its actions with it
        menu.clear()
        menu.addAction("Add to the canvas\tEnter").triggered.connect(lambda: self.chosen.emit(operator.key))
        is_one = operator.key in self.shelf.favourites
        words = "Remove from favourites" if is_one else "Add to favourites"
        menu.addAction(with_keys(f"{words}\tgraph.favourite", self.keys_of)).triggered.connect(
            lambda: self.shelf.toggle(operator.key)
        )
        self.menu_extra(menu, operator.key)
        menu.popup(self.tree.viewport().mapToGlobal(at))

    def show_own(self, own: tuple[tuple[str, tuple[Operator, ...]], ...]) -> None:
        """Show groups, by the titles of their categories, beside the catalogue."""
        self._open |= {(title,) for title, rows in own if rows and not rows[0].rare and (title,) not in self._seen}
        self._seen |= {(title,) for title, rows in own if rows}
        if self.model.show_own(own):
            self._take_up_shelf(anew=False)
            if self.model.searching:
                self._search_again()

    def _search_again(self) -> None:
        """The groups are others: what was found of them is looked for anew, and the current row stays where it can."""
        current = self.model.path(self.tree.currentIndex())
        self._on_field_text_changed(self.field.text())
        again = self.model.find(current) if current else QModelIndex()
        if again.isValid():
            self.tree.setCurrentIndex(again)

    def _on_shelf_changed(self) -> None:
        """Favourites are others at once; what was used last is only while nobody looks: rows must not move."""
        if not self.isVisible():
            self._take_up_shelf()
        elif not self.model.has_favourites:
            self._take_up_shelf(anew=False)

    def _on_tree_operator_refused(self, key: str) -> None:
        self.said.emit(f"{key} was not placed: let it go over the canvas.")

    def _take_up_shelf(self, *, anew: bool = True) -> None:
        """Take up the change, of what was used last only `anew`; what lies under the pointer stays there."""
        tree, model = self.tree, self.model
        if model.searching:
            model.take_up_shelf(anew=anew)
            return
        current, bar = model.path(tree.currentIndex()), tree.verticalScrollBar()
        held = tree.indexAt(QPoint(1, 1)) if bar.value() or tree.underMouse() else QModelIndex()
        path, top = model.path(held), tree.visualRect(held).top()
        model.take_up_shelf(anew=anew)
        self._restore_open()
        tree.setCurrentIndex(model.find(current) if current else QModelIndex())
        anchor = model.find(path) if path else QModelIndex()
        if anchor.isValid():
            tree.doItemsLayout()
            bar.setValue(bar.value() + tree.visualRect(anchor).top() - top)
        self.help.show_operator(model.operator(tree.currentIndex()))

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.help.show_operator(self.model.operator(current))
