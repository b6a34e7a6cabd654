"""The Inspector dock: composes its parts and feeds them when selection, graph or results change."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.ui.panels.inspector.arguments import ArgumentsSection
from gradstudio.ui.panels.inspector.form import label, rule
from gradstudio.ui.panels.inspector.parts import HeadSection, NoteSection, OrderSection, TroubleBox
from gradstudio.ui.panels.inspector.values import ValueSection
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme

REFRESH_MS = 30
EMPTY_WORDS = (
    "Select a node to see its arguments, its values and its gradient.\n\n"
    "Drag an operator from the Library onto the canvas to add one; "
    "pull a wire from a port on its right side to a port on another's left side."
)


class InspectorPanel(QScrollArea):
    """Everything about the item that is selected."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to the session's selection, graph and results."""
        super().__init__(parent)
        self._session = session
        self.head = HeadSection(session, theme)
        self.trouble = TroubleBox()
        self.arguments = ArgumentsSection(session, theme)
        self.values = ValueSection(session, theme)
        self.order = OrderSection(session)
        self.note = NoteSection(session)
        self.empty = label(EMPTY_WORDS, "dim", wrap=True)
        self._parts = (self.head, self.trouble, self.arguments, self.values, self.order, self.note)
        self._build(theme)
        self._throttle = Throttle(REFRESH_MS, self)
        self._throttle.due.connect(self.refresh)
        session.attention.selection_changed.connect(self.refresh)
        session.graph_store.edited.connect(self._on_store_edited)
        session.graph_store.replaced.connect(self.refresh)
        session.results.changed.connect(self._on_results_changed)
        session.run.state_changed.connect(lambda _state: self._throttle.request())
        session.engine.state_changed.connect(lambda _state: self._throttle.request())
        self.refresh()

    @property
    def item(self) -> ItemId | None:
        """The item that is shown."""
        graph, attention = self._session.graph_store.graph, self._session.attention
        current = attention.current
        return current if current is not None and current in graph and current in attention.selection else None

    def refresh(self) -> None:
        """Show the selected item as graph and results have it now."""
        item, several = self.item, len(self._session.attention.selection) > 1
        self.empty.setVisible(item is None or several)
        self._rule.setVisible(item is not None and not several)
        if item is None or several:
            for part in self._parts:
                part.hide()
            count = len(self._session.attention.selection)
            self.empty.setText(f"{count} items are selected." if several else EMPTY_WORDS)
            return
        self.head.show_item(item)
        self.head.show()
        self._show_trouble(item)
        self.arguments.show_item(item)
        self.values.show_item(item)
        self.order.show_item(item)
        self.order.show()
        self.note.show_item(item)
        self.note.show()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        for part in (self.head, self.arguments, self.values):
            part.set_theme(theme)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(320, 420)

    def _build(self, theme: Theme) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(theme.GAP_LARGE, 2, theme.GAP_LARGE, theme.GAP_LARGE)
        column.setSpacing(theme.GAP_LARGE)
        self._rule = rule()
        for widget in (self.empty, self.head, self.trouble, self._rule, *self._parts[2:]):
            column.addWidget(widget)
        column.addStretch(1)
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _show_trouble(self, item: ItemId) -> None:
        results = self._session.results
        failure, incomplete = results.failure(item), results.incomplete(item)
        refusal = results.inference(item)
        if failure is not None:
            self.trouble.show_trouble(failure.explanation, failure.what, failure.fixes)
        elif incomplete:
            self.trouble.show_trouble(f"Cannot run yet: {incomplete}", "")
        elif refusal is not None and refusal.refusal:
            self.trouble.show_trouble("torch is expected to refuse this:", refusal.refusal)
        else:
            self.trouble.show_trouble("", "")

    def _on_store_edited(self, edits: Edits) -> None:
        if not all(isinstance(edit, SetPlaces) for edit in edits):
            self.refresh()

    def _on_results_changed(self, items: frozenset[ItemId]) -> None:
        if not items or self.item in items:
            self._throttle.request()
