"""The Inspector dock: composes its parts and feeds them when selection, graph or results change."""

import functools
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import GROUP
from gradstudio.ui.docks.catch_up import CatchUp
from gradstudio.ui.docks.inspector.document_modes import DocumentModes
from gradstudio.ui.docks.inspector.ledger import Ledger, Line
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import paragraph, rule

if TYPE_CHECKING:
    from gradstudio.ui.docks.inspector.arguments_section import ArgumentsSection
    from gradstudio.ui.docks.inspector.values.data_section import DataSection

REFRESH_MS = 30
EMPTY_WORDS = (
    "Select a node to see its arguments, its values and its gradient.\n\n"
    "Drag an operator from the Library onto the canvas to add one; "
    "pull a wire from a port on its right side to a port on another's left side."
)


class Details(QWidget):
    """The parts for one item, under one another."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None) -> None:
        """Nothing is shown yet.

        Its parts are imported here: an inspector in which nothing is selected needs none of them.
        """
        from gradstudio.ui.docks.inspector.arguments_section import ArgumentsSection
        from gradstudio.ui.docks.inspector.backward_section import BackwardSection
        from gradstudio.ui.docks.inspector.code_section import CodeSection, InsideSection
        from gradstudio.ui.docks.inspector.cost_section import CostSection
        from gradstudio.ui.docks.inspector.gradcheck_section import CheckSection
        from gradstudio.ui.docks.inspector.item_sections import HeadSection, NoteSection, OrderSection, TroubleBox
        from gradstudio.ui.docks.inspector.module_section import InputsSection, ModuleSection
        from gradstudio.ui.docks.inspector.printout_section import PrintoutSection
        from gradstudio.ui.docks.inspector.value_section import ValueSection
        from gradstudio.ui.docks.inspector.what_if_section import WhatIfSection

        super().__init__(parent)
        self._session, self._theme = session, theme
        self.head = HeadSection(session, theme)
        self.trouble = TroubleBox(session)
        self.module = ModuleSection(session, theme)
        self.inputs = InputsSection(session, theme)
        self.code = CodeSection(session, theme)
        self.inside = InsideSection(session, theme)
        self.arguments = ArgumentsSection(session, theme)
        self.values = ValueSection(session, theme)
        self.printout = PrintoutSection(session, theme)
        self.backward = BackwardSection(session, theme)
        self.costs = CostSection(session, theme)
        self.what_if = WhatIfSection(session, theme)
        self.check = CheckSection(session, theme)
        self.order = OrderSection(session)
        self.note = NoteSection(session)
        self.module.leaf_chosen.connect(lambda path: self.values.show_leaf(str(path)))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.GAP_LARGE)
        above = (self.head, self.trouble, rule())
        below = (
            *(
                self.what_if,
                self.code,
                self.inside,
                self.inputs,
                self.arguments,
                self.module,
                self.values,
                self.printout,
                self.backward,
                self.check,
                self.costs,
            ),
            *(self.order, self.note),
        )
        self._first = len(above)
        self._prominent: set[QWidget] = set()
        for widget in (*above, *below):
            self._column.addWidget(widget)

    def show_item(self, item: ItemId) -> None:
        """Show an item as graph and results have it now."""
        graph = self._session.shown_store.graph
        module = card_groups(graph).modules.get(item)
        self.arguments.show_item(item if module is None else module)
        if graph.tensors or "data" in self.__dict__ or _may_make_data(graph, item):
            self.data.show_item(item)
        self.inputs.show_item(item if module is not None else None)
        for part in (self.head, self.module, self.values, self.printout, self.backward, self.check, self.costs):
            part.show_item(item)
        self.what_if.show_item(item)
        self.code.show_item(item)
        self.inside.show_item(item)
        self.order.show_item(item)
        self.note.show_item(item)
        self.trouble.show_item(item)
        self._place(self.backward, self.printout, is_first=self.backward.is_looked_at)
        self._place(self.inside, self.code, is_first=self.inside.is_looked_at)

    def show_arguments(self, item: ItemId) -> None:
        """Show what an item is given as the graph has it now."""
        module = card_groups(self._session.shown_store.graph).modules.get(item)
        self.arguments.show_item(item if module is None else module)

    @functools.cached_property
    def data(self) -> "DataSection":
        """Made when there is stored data, or what may make some."""
        from gradstudio.ui.docks.inspector.values.data_section import DataSection

        made = DataSection(self._session, self._theme)
        self._column.insertWidget(self._column.indexOf(self.values), made)
        return made

    def _place(self, part: QWidget, usual: QWidget, *, is_first: bool) -> None:
        """The step that is looked at stands first; that of another moment below its usual neighbour."""
        if is_first == (part in self._prominent):
            return
        self._prominent ^= {part}
        self._column.removeWidget(part)
        self._column.insertWidget(self._first if is_first else self._column.indexOf(usual) + 1, part)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        if "data" in self.__dict__:
            self.data.set_theme(theme)
        parts = (self.head, self.inputs, self.arguments, self.module, self.values, self.backward, self.costs)
        for part in (*parts, self.code, self.inside, self.printout, self.what_if, self.check):
            part.set_theme(theme)


class InspectorPanel(QScrollArea):
    """Everything about the item that is selected."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to the session's selection, graph and results."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.empty = paragraph(EMPTY_WORDS, "dim")
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(theme.GAP_LARGE, 2, theme.GAP_LARGE, theme.GAP_LARGE)
        self._column.addWidget(self.empty)
        self.modes = DocumentModes(session)
        self._column.addWidget(self.modes)
        self.checks = Ledger(session.attention, theme)
        self._column.addWidget(self.checks)
        self._column.addStretch(1)
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setAccessibleName("Inspector")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._followed: ItemId | None = None
        self._shown: ItemId | None = None
        self._was_back = self._moves = self._pinned = self._brings_note = False
        self.verticalScrollBar().rangeChanged.connect(self._on_bar_range_changed)
        self.verticalScrollBar().actionTriggered.connect(self._on_bar_action_triggered)
        self._later = CatchUp(self, self.refresh)
        self._throttle = Throttle(REFRESH_MS, self)
        self._throttle.due.connect(self._follow)
        self._soon = Throttle(0, self)
        self._soon.due.connect(self._follow)
        session.attention.selection_changed.connect(self._on_attention_selection_changed)
        session.results.moment_moved.connect(self._on_results_moment_moved)
        session.shown_store.changing.connect(self._on_store_changing)
        session.shown_store.edited.connect(self._on_store_edited)
        session.shown_store.replaced.connect(self._follow)
        session.results.changed.connect(self._on_results_changed)
        session.results.weighed.connect(self._on_results_changed)
        session.experiments.changed.connect(lambda _items: self._throttle.request())
        session.run.state_changed.connect(self._throttle.request)
        session.run.status.slide.rested.connect(self._throttle.request)
        session.engine.state_changed.connect(self._throttle.request)

    @property
    def details(self) -> Details:
        """The parts, as selection and graph are now."""
        self._soon.flush()
        return self._parts

    @functools.cached_property
    def _parts(self) -> Details:
        """Made when an item is selected for the first time."""
        made = Details(self._session, self._theme, self.widget())
        self._column.insertWidget(self._column.count() - 1, made)
        return made

    @functools.cached_property
    def shared(self) -> "ArgumentsSection":
        """The arguments that several selected nodes have in common; made when several are for the first time."""
        from gradstudio.ui.docks.inspector.arguments_section import ArgumentsSection

        made = ArgumentsSection(self._session, self._theme, self.widget())
        self._column.insertWidget(1, made)
        return made

    @property
    def item(self) -> ItemId | None:
        """The item that is shown: the selected one, else the one whose step is looked at; None when several are."""
        graph, attention = self._session.shown_store.graph, self._session.attention
        groups = card_groups(graph)
        if not attention.selection:
            return groups.home(self._followed) if self._followed is not None and self._followed in graph else None
        one = len(groups.cards(attention.selection)) == 1
        current = attention.current
        return groups.home(current) if one and current is not None and current in graph else None

    def refresh(self) -> None:
        """Show the selected item as graph and results have it now."""
        self._throttle.cancel()
        self._soon.cancel()
        item, count = self.item, len(self._session.attention.selection)
        has_shared = self._show_shared(() if item is not None or count < 2 else self._arguments_of_selected())
        words = f"{count} items are selected." + (" A change goes to all of them." if has_shared else "")
        self.empty.setText(words if count > 1 else EMPTY_WORDS)
        self.empty.setVisible(item is None)
        self._shown = item
        self.modes.show_document(item is None and count == 0)
        selection = frozenset(self._session.attention.selection) if count > 1 else frozenset()
        self.checks.show_lines(_lines_of(self._session, selection))
        if item is not None:
            self._parts.show_item(item)
            self._parts.show()
        elif "_parts" in self.__dict__:
            self._parts.hide()

    def _arguments_of_selected(self) -> tuple[ItemId, ...]:
        """The nodes whose arguments stand on the selected cards."""
        graph = self._session.shown_store.graph
        groups = card_groups(graph)
        homes = groups.cards(self._session.attention.selection)
        return tuple(groups.modules.get(item, item) for item in graph.order() if item in homes)

    def _show_shared(self, items: tuple[ItemId, ...]) -> bool:
        """Show what several nodes have in common; whether they have anything."""
        if len(items) > 1:
            self.shared.show_several(items)
        elif "shared" in self.__dict__:
            self.shared.show_item(None)
        return "shared" in self.__dict__ and not self.shared.isHidden()

    def focus_note(self) -> None:
        """Let the person write the note of the item that is shown, and bring it into view."""
        if self.item is not None:
            self.details.note.focus_note()
            self._brings_note = True
            QTimer.singleShot(0, self, self._show_note)  # when the dock and its parts have their sizes

    def show_gradient(self) -> None:
        """Turn from the value of what is selected to its gradient."""
        self.refresh()
        if self.item is not None:
            self.details.values.tabs.setCurrentWidget(self.details.values.gradient)

    def try_number(self) -> str:
        """Let the person type another number for the first element of the item's result (*What if*).

        Returns:
            Why that cannot be tried now; "" when the cursor is in the cell.
        """
        reason = self._session.run.why_not("what_if")
        if reason or self.item is None:
            return reason or "Select one node first."
        self.refresh()
        page = self.details.values.value
        if not page.model.may_try or not page.model.rowCount() or not page.model.columnCount():
            return "There is no number here that could be another: run the program as it stands, then try again."
        self.details.values.tabs.setCurrentWidget(page)
        QTimer.singleShot(0, self, self._edit_first_cell)  # when the dock and its parts have their sizes
        return ""

    def _edit_first_cell(self) -> None:
        page = self.details.values.value
        self._column.activate()
        self.ensureWidgetVisible(page.table, 0, self._theme.GAP)
        first = page.model.index(0, 0)
        page.table.setFocus()
        page.table.setCurrentIndex(first)
        page.table.edit(first)

    def _show_note(self) -> None:
        if self._brings_note:  # else it was asked for before the person scrolled away
            self._column.activate()
            self.ensureWidgetVisible(self.details.note, 0, self._theme.GAP)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.checks.set_theme(theme)
        if "_parts" in self.__dict__:
            self._parts.set_theme(theme)
        if "shared" in self.__dict__:
            self.shared.set_theme(theme)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(320, 420)

    def _on_results_moment_moved(self) -> None:
        """Go along with the moment, unless the person has selected something else since it was last moved.

        Beginning to look back, or selecting the step's own node (as a click into the timeline does), goes along again.
        """
        active, attention = self._session.results.active, self._session.attention
        former, self._followed = self._followed, active.node or None if active is not None else None
        begins, self._was_back = active is not None and not self._was_back, active is not None
        if begins or attention.selection in ({former}, {self._followed}):
            self._pinned = False
        if self._followed is not None and not self._pinned and len(attention.selection) == 1:
            self._moves = True
            attention.select((self._followed,))
            self._moves = False
        self._throttle.request()

    def _on_bar_range_changed(self) -> None:
        """Words that are wrapped find their heights in several turns; until a person scrolls, the note follows."""
        if self._brings_note and self.details.note.edit.hasFocus():
            QTimer.singleShot(0, self, self._show_note)

    def _on_bar_action_triggered(self) -> None:
        self._brings_note = False

    def _on_attention_selection_changed(self) -> None:
        self._brings_note = False
        if self._moves:
            return  # with the moment, whose results are still to come
        self._pinned = self._session.results.looking_back
        self._soon.request()

    def _on_store_changing(self) -> None:
        """Something else changes the graph: a line that is being typed into has its last word before it."""
        typed = QApplication.focusWidget()
        line = typed.lineEdit() if isinstance(typed, QComboBox) else typed
        if isinstance(line, QLineEdit) and line.isModified() and self.isAncestorOf(line):
            line.editingFinished.emit()

    def _on_store_edited(self, edits: Edits) -> None:
        if not all(isinstance(edit, SetPlaces) for edit in edits):
            self._follow()

    def _follow(self) -> None:
        """Show what is now; while a slider moves, only what stands in the fields of the item that is shown."""
        if self._later.puts_off():
            return
        item = self.item
        if not self._session.run.status.slide.moves or item != self._shown:
            self.refresh()
        elif item is not None:
            self._parts.show_arguments(item)

    def _on_results_changed(self, items: frozenset[ItemId]) -> None:
        item = self.item
        groups = card_groups(self._session.shown_store.graph)
        if not items or (item is not None and not items.isdisjoint(groups.whole((item,)))):
            self._throttle.request()


def _may_make_data(graph: Graph, item: ItemId) -> bool:
    """Whether it is worth asking `document.data.made_data`, which most documents do without."""
    node = graph.nodes.get(item)
    if node is None:
        return False
    return node.operator.startswith(GROUP) or "".join(node.names).startswith(("X", "y"))


def _lines_of(session: Session, selection: frozenset[ItemId]) -> tuple[Line, ...]:
    """Of several items dtype and shape, and what was found of them together where that was checked."""
    if not selection:
        return ()
    from gradstudio.ui.docks.inspector.gradcheck_section import lines_of_several
    from gradstudio.ui.docks.inspector.item_sections import lines_of_results

    return lines_of_results(session, selection) + lines_of_several(session, selection)
