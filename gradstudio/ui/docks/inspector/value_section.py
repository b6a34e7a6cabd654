"""Value and gradient of what is selected: facts, and the numbers as a table."""

from typing import NamedTuple

import msgspec
from PySide6.QtCore import QSize
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QTabBar,
    QTabWidget,
    QWidget,
)

from gradstudio.advice.diagnosis.overwritten_values import overwritten_by
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import shown_outputs
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.debugging import Change
from gradstudio.protocol.messages.events import Fetched, GradRow, Row
from gradstudio.protocol.messages.records import ModuleRecord, Record, Summary, TensorRecord
from gradstudio.protocol.timeline.step_numbering import number_of_row, step_number
from gradstudio.scene.card.gradient_terms import part_words
from gradstudio.scene.card.parameter_rows import parameter_rows, record_now
from gradstudio.scene.words.shard_words import shape_words
from gradstudio.ui.docks.inspector import value_facts
from gradstudio.ui.docks.inspector.display_names import name_of
from gradstudio.ui.docks.inspector.values.tensor_page import TensorPage
from gradstudio.ui.docks.inspector.values.tensor_table_model import Fetch, table_size
from gradstudio.ui.state.results.latest_value import is_as_now
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import Section

MAX_LATER = 5000
"""Only so many ticks are searched for a statement that wrote into a value's memory: the newest."""


class Subject(NamedTuple):
    """One thing the section can show: an output, or a parameter of a module by path."""

    title: str
    node: ItemId
    output: int
    path: str
    name: str
    record: Record | None


class ValueSection(Section):
    """The selected result, in tabs for value and gradient."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__("Result", parent)
        self._session = session
        self._item: ItemId | None = None
        self._subjects: tuple[Subject, ...] = ()
        self.chooser = QComboBox(self)
        self.chooser.setAccessibleName("Which result")
        self.tabs = _Tabs(self)
        self.tabs.setAccessibleName("Value and gradient")
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.value, self.gradient = TensorPage(theme), TensorPage(theme)
        self.tabs.addTab(self.value, "Value")
        self.tabs.addTab(self.gradient, "Gradient")
        self.add(self.chooser, self.tabs)
        self.value.model.tried.connect(lambda index, number: self._on_model_tried(False, index, number))
        self.gradient.model.tried.connect(lambda index, number: self._on_model_tried(True, index, number))
        self.tabs.currentChanged.connect(lambda _index: self._fit_tabs())
        self._fit_tabs()
        self._cause: ItemId | None = None
        self.gradient.cause.clicked.connect(lambda: self._cause and session.attention.reveal(self._cause))
        self.chooser.activated.connect(lambda _index: self._show_current())
        session.run.questions.fetched.connect(self._on_run_fetched)

    def show_item(self, item: ItemId | None) -> None:
        """Show what is known of an item's results now."""
        graph = self._session.shown_store.graph
        changed = item != self._item
        self._item = item
        self._subjects = self._subjects_of(item) if item is not None and item in graph else ()
        titles = [subject.title for subject in self._subjects]
        if titles != [self.chooser.itemText(k) for k in range(self.chooser.count())]:
            self.chooser.clear()
            self.chooser.addItems(titles)
        if changed and self._session.attention.output < len(titles):
            self.chooser.setCurrentIndex(self._session.attention.output)
        self.chooser.setVisible(len(titles) > 1)
        self.setVisible(bool(titles))
        if titles:
            self._show_current()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.value.model.set_theme(theme)
        self.gradient.model.set_theme(theme)

    def _fit_tabs(self) -> None:
        """Only the tab in front decides the height."""
        policy = QSizePolicy.Policy
        for page in (self.value, self.gradient):
            front = page is self.tabs.currentWidget()
            page.setSizePolicy(policy.Preferred, policy.Preferred if front else policy.Ignored)
        self.tabs.updateGeometry()

    def _subjects_of(self, item: ItemId) -> tuple[Subject, ...]:
        records = self._session.results.outputs(item) or ()
        made: list[Subject] = []
        for port in shown_outputs(self._session.shown_store.graph, item):
            record = records[port.index] if port.index < len(records) else None
            if isinstance(record, ModuleRecord) and not port.index:
                record = record_now(self._session.results, item) or record
            made.append(Subject(port.name or f"result {port.index + 1}", item, port.index, "", port.name, record))
            if isinstance(record, ModuleRecord):
                made += self._leaves_of(item, port.name)
        module = card_groups(self._session.shown_store.graph).modules.get(item)
        return (*made, *(self._leaves_of(module) if module is not None else ()))

    def _leaves_of(self, module: ItemId, name: str = "") -> list[Subject]:
        """The parameters and buffers of a module, recorded or expected."""
        graph, results = self._session.shown_store.graph, self._session.results
        called = name or title(graph, module)
        record = record_now(results, module)
        known = record.parameters | record.buffers if record is not None else {}
        paths = (leaf.path for leaf in parameter_rows(results, module) or ())
        return [Subject(f"{called}.{path}", module, 0, path, f"{called}.{path}", known.get(path)) for path in paths]

    def show_leaf(self, path: str) -> None:
        """Choose a parameter or a buffer by its path."""
        found = next((k for k, subject in enumerate(self._subjects) if subject.path == path), None)
        if found is not None:
            self.chooser.setCurrentIndex(found)
            self._show_current()

    def _show_current(self) -> None:
        subject = self._subjects[max(0, min(self.chooser.currentIndex(), len(self._subjects) - 1))]
        record = subject.record
        may_try = not self._session.run.why_not("what_if") and not self._session.results.tables.is_stale
        self.value.model.may_try = self.gradient.model.may_try = may_try
        if record is None:
            port = self._session.results.inference(subject.node, subject.output)
            is_past = self._session.results.moment is not None
            expected = value_facts.inference_facts(port, is_past=is_past)
            if subject.path:
                expected = value_facts.leaf_facts(port, subject.path)
            sentence = "Not computed yet at the moment that is looked at." if is_past else "Not computed yet."
            self.value.show_page(sentence, expected, None, None)
            self.gradient.show_page(value_facts.GRAD_SENTENCES["not_run"], (), None, None)
            return
        summary = record.summary if isinstance(record, TensorRecord) else None
        fetch, gather = self._fetches_of(subject, grad=False)
        remark = self._remark(subject, summary, fetch)
        self.value.show_page(remark, value_facts.record_facts(record), summary, fetch, gather)
        self._show_gradient(subject, isinstance(record, TensorRecord))

    def _show_gradient(self, subject: Subject, is_tensor: bool) -> None:
        self.tabs.setTabEnabled(1, is_tensor)
        if not is_tensor:
            self.gradient.show_page("Only tensors have a gradient.", (), None, None)
            return
        row = self._session.results.grad(subject.node, subject.output, subject.path)
        grad = row.grad if row is not None else None
        pairs: value_facts.Facts = (("state", value_facts.STATE_WORDS[row.state]),) if row is not None else ()
        if row is not None and len(row.parts) > 1:
            pairs = (*pairs, *((f"pass {part.pass_number}", part_words(part.grad)) for part in row.parts[-8:]))
        if grad is not None:
            pairs = (*pairs, ("shape", shape_words(grad)), *value_facts.number_facts(grad))
        self._show_cause(row, subject.node)
        fetch, gather = self._fetches_of(subject, grad=True) if grad is not None else (None, None)
        self.gradient.show_page(value_facts.grad_sentence(row), pairs, grad, fetch, gather)

    def _show_cause(self, row: GradRow | None, node: ItemId) -> None:
        """A link to the node that is responsible for the state."""
        graph = self._session.shown_store.graph
        cause = row.cause if row is not None and row.cause in graph and row.cause != node else None
        self._cause = cause
        self.gradient.cause.setVisible(cause is not None)
        if cause is not None:
            self.gradient.cause.setText(f"Show {name_of(graph, cause)}")

    def _overwritten(self, subject: Subject) -> str:
        """Which statement wrote into the value's memory since; "" when none did."""
        results, graph = self._session.results, self._session.shown_store.graph
        row = results.row(subject.node)
        if row is None or subject.path or results.tables.is_stale:
            return ""
        row = msgspec.structs.replace(row, outputs=results.outputs(subject.node) or row.outputs)
        last = results.moment if results.moment is not None else len(results.timeline.ticks) - 1
        ticks = results.timeline.ticks[max(last + 1 - MAX_LATER, 0) : last + 1]
        record = row.outputs[subject.output] if subject.output < len(row.outputs) else None
        holders = results.timeline.holders(record.storage if isinstance(record, TensorRecord) else 0)
        later = (
            msgspec.structs.replace(tick.row, node=results.ids.shown(tick.row.node))
            for tick in ticks
            if tick.row is not None and tick.row.step > row.step and (not tick.row.outputs or tick.node in holders)
        )
        writer = overwritten_by(graph, row, subject.output, later)
        name = title(graph, writer) if writer is not None and writer in graph else ""
        return f"As it was computed. Overwritten since by {name}: its memory holds other numbers now." if name else ""

    def _remark(self, subject: Subject, summary: Summary | None, fetch: Fetch | None) -> str:
        if self._session.results.stale(subject.node):
            return value_facts.stale_sentence(self._session.run)
        if overwritten := self._overwritten(subject):
            return overwritten
        if self._session.results.moment is not None:
            row = self._session.results.row(subject.node)
            when = self._when(subject, row) if row is not None else ""
            told = summary is None or summary.value is not None or fetch is not None
            return when if told else f"{when} Of its numbers only the summary is kept."
        if summary is None:
            return ""
        rows, columns = table_size(summary.shape)
        if summary.value is None and fetch is None and rows * columns:
            return "The table shows values while the run is live: press Run."
        return "Only the first million rows and 10,000 columns are in the table." if self.value.model.is_cut else ""

    def _when(self, subject: Subject, row: Row) -> str:
        """At which step of the timeline it was made; of a leaf, written into."""
        results = self._session.results
        unfolded = self._session.attention.unfolded
        left = results.left_by(subject.node, subject.output, subject.path)
        if left is not None and left.row is not None and left.row.step > row.step:
            return f"As step {step_number(results.timeline, left.index, unfolded)} left it."
        number = number_of_row(results.timeline, results.ids.full(subject.node), row, results.moment, unfolded)
        return f"As step {number} made it." if number is not None else ""

    def _fetches_of(self, subject: Subject, grad: bool) -> tuple[Fetch, Fetch] | tuple[None, None]:
        """What asks for numbers of the share that is held here, and of all of them; None where they cannot be had."""
        state = self._session.run.state
        if not state.live or state.stale or state.busy:
            return None, None
        if not is_as_now(self._session.results, subject.node, subject.output, subject.path, grad):
            return None, None
        return self._fetch_of(subject, grad, whole=False), self._fetch_of(subject, grad, whole=True)

    def _fetch_of(self, subject: Subject, grad: bool, whole: bool) -> Fetch:
        def fetch(leading: tuple[int, ...], rows: tuple[int, int], columns: tuple[int, int]) -> int:
            node = self._session.results.ids.full(subject.node)
            name = subject.name if node == subject.node else "".join(subject.name.partition(".")[1:])
            questions = self._session.run.questions
            return questions.fetch(node, subject.output, grad, name, leading, rows, columns, whole)

        return fetch

    def _on_model_tried(self, grad: bool, index: tuple[int, ...] | None, number: float) -> None:
        """Ask what another number would do; the program stays as it is."""
        subject = self._subjects[max(0, min(self.chooser.currentIndex(), len(self._subjects) - 1))]
        row = self._session.results.row(subject.node)
        self._session.run.questions.what_if(
            Change(
                node=subject.node,
                output=subject.output,
                path=subject.path,
                turns=row.turns if row is not None else (),
                grad=grad,
                index=index,
                value=number,
            )
        )

    def _on_run_fetched(self, answer: Fetched) -> None:
        for page in (self.value, self.gradient):
            if page.model.take(answer) and answer.error:
                page.remark.setText(answer.error)
                page.remark.show()


class _Tabs(QTabWidget):
    """As high as the tab in front needs at its width; the wheel scrolls the inspector and never changes the tab."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabBar(_TabBar(self))
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def heightForWidth(self, width: int) -> int:
        column = self.currentWidget().layout()
        return self.tabBar().sizeHint().height() + (column.totalHeightForWidth(width) if column is not None else 0)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.tabBar().sizeHint().height())


class _TabBar(QTabBar):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
