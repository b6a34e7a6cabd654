"""The smaller parts of the inspector: head, failure, place in the order, note."""

import itertools

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.advice.model import Fix
from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import nested_now
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.names import block_word
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.text.notes import note_of
from gradstudio.operators.catalogue.descriptions import plain_summary
from gradstudio.program.model import flatten_statements
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.scene import value_format
from gradstudio.scene.results import Results
from gradstudio.scene.statement_numbers import statement_places
from gradstudio.ui.docks.inspector.display_names import name_of
from gradstudio.ui.docks.inspector.ledger import Line
from gradstudio.ui.docks.inspector.problem_moment import existed_at_moment
from gradstudio.ui.docks.inspector.result_name import ResultName
from gradstudio.ui.state.run.problem_store import Problem, in_sentences
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, mono_font, ui_font
from gradstudio.ui.widgets.fix_buttons import FixButtons
from gradstudio.ui.widgets.form_layout import BREAK, Section, field_row, label

BLOCK_WORDS = {
    "no_grad": ("with torch.no_grad()", "Nothing inside is recorded for a backward."),
    "enable_grad": ("with torch.enable_grad()", "Recording for backward is on inside."),
    "inference_mode": ("with torch.inference_mode()", "Nothing inside is recorded, nor can it be later."),
    "set_grad_enabled": ("with torch.set_grad_enabled(…)", "Recording for backward is on or off inside."),
    "set_detect_anomaly": ("with torch.autograd.set_detect_anomaly(…)", "Backwards inside are looked through for NaN."),
    "detect_anomaly": ("with torch.autograd.detect_anomaly()", "Backwards inside are looked through for NaN."),
    "autocast": ("with torch.autocast(…)", "Operators inside choose a lower precision where that is safe."),
    "for": ("for … in …", "The statements inside are repeated."),
    "while": ("while …", "The statements inside are repeated until code among them ends it."),
    "if": ("if …", "Prints inside run only when the condition holds."),
    "group": ("# region", "A titled frame without any effect."),
}


MOST_LINES = 12
"""So many of the selected cards are listed."""
NO_RESULT = "–"
EXPECTED = "  expected"
PLACEHOLDERS = {"named": "no name", "inline": "written inline", "own line": "on its own line"}
NAME_WORDS = {
    "named": "The variable's name in the program; several, with commas, where there are several results",
    "inline": "Without a name it is written inside the statement that uses it. A name gives it a line of its own.",
    "own line": "It cannot stand inside the statement that uses it: it has a line of its own, with a name the program "
    "makes up. Give it a better one.",
}
"""How an item's value is printed: under its name, inside its user, or as a part that has to stand alone."""


def result_words(results: Results, item: ItemId) -> str:
    """Dtype and shape of a first result, with the device where that is not the CPU: as it came, else as expected."""
    record = next(iter(results.outputs(item) or ()), None)
    if isinstance(record, TensorRecord):
        return _typed(record.summary.dtype, record.summary.shape, record.device)
    port = results.inference(item, 0) if record is None else None
    if port is None or port.shape is None:
        return ""
    return f"{_typed(port.dtype, port.shape, port.device)}{EXPECTED}"


def lines_of_results(session: Session, selection: frozenset[ItemId]) -> tuple[Line, ...]:
    """Dtype and shape of what several cards give, in the order of the program; a long list is cut short."""
    graph = session.shown_store.graph
    nodes = card_groups(graph).cards(selection) & graph.nodes.keys()
    if len(nodes) < 2:
        return ()
    first = list(itertools.islice((item for item in graph.order() if item in nodes), MOST_LINES))
    lines = [Line(name_of(graph, item), _result_in_a_line(session.results, item), link=item) for item in first]
    if len(nodes) > len(first):
        lines.append(Line(kind="words", role="dim", text=f"and {len(nodes) - len(first)} more"))
    return tuple(lines)


def _result_in_a_line(results: Results, item: ItemId) -> str:
    return result_words(results, item).removesuffix(EXPECTED) or NO_RESULT


def _typed(dtype: str, shape: tuple[int, ...], device: str) -> str:
    words = f"{value_format.bare_dtype(dtype)} {value_format.shape(shape)}"
    return f"{words} {device}" if device and device != "cpu" else words


class HeadSection(QWidget):
    """Title, operator and summary; the name as a field."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self._item: ItemId | None = None
        self._mark = QFrame(self)
        self._mark.setFixedSize(10, 10)
        self.title = label("", "title")
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.key = label("", "dim", wrap=True)
        self.key.setFont(mono_font(11))
        self.key.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary = label("", "", wrap=True)
        self.gives = label("", "dim")
        self.gives.setFont(mono_font(12))
        self.gives.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.ran_as = label("", "dim", wrap=True)
        self.name = QLineEdit(self)
        self.name.setFont(mono_font())
        self.name.setObjectName("node_name")
        self.name.setAccessibleName("Name")
        self.name_problem = label("", "danger", wrap=True)
        self._name_row = field_row("name", self.name)
        self.result = ResultName(session, self)
        self.documentation = QToolButton(self)
        self.documentation.setObjectName("dock_button")
        self.documentation.setToolTip("torch's documentation of this operator  (F1)")
        self.documentation.setAccessibleName("Documentation")
        self.documentation.setIcon(icon("documentation", theme, "text_dim"))
        self.documentation.clicked.connect(self._on_documentation_clicked)
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._mark)
        top.addWidget(self.title, 1)
        top.addWidget(self.documentation)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addLayout(top)
        for widget in (self.key, self.gives, self.summary, self.ran_as, self._name_row, self.name_problem, self.result):
            column.addWidget(widget)
        self.name.editingFinished.connect(self._on_name_editing_finished)
        self.name.textEdited.connect(lambda _text: self.name_problem.hide())
        self._why_not = ""
        session.shown_store.refused.connect(self._on_store_refused)

    def show_item(self, item: ItemId) -> None:
        """Show an item's head."""
        graph = self._session.shown_store.graph
        self._show_ran_as(item)
        words = result_words(self._session.results, item)
        self.gives.setText(words)
        self.gives.setVisible(bool(words))
        call, item = item, card_groups(graph).modules.get(item, item)
        self.result.show_item(call if call != item else None)
        changed, self._item = item != self._item, item
        self.documentation.setVisible(item in graph.nodes)
        if item in graph.blocks:
            self._show_block(graph, item)
        else:
            self._show_node(graph, item)
        if changed:
            self.name_problem.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.documentation.setIcon(icon("documentation", theme, "text_dim"))

    def _show_node(self, graph: Graph, item: ItemId) -> None:
        node, operator = graph.nodes[item], operator_of(graph, item)
        self.title.setText(operator.title if operator is not None else node.operator)
        path = operator.path.replace(".", f".{BREAK}") if operator is not None else ""
        self.key.setText(path or "not in the catalogue: kept, but not run")
        self.summary.setText(plain_summary(operator.summary) if operator is not None else "")
        self.summary.setVisible(operator is not None)
        self._color_mark(operator.category if operator is not None else "")
        names = ", ".join(node.names)
        self._name_row.setVisible(operator is None or bool(operator.results))
        way = "own line" if node.nested else "named"
        way = "inline" if item in nested_now(graph) else way
        self.name.setPlaceholderText(PLACEHOLDERS[way])
        self.name.setToolTip(NAME_WORDS[way])
        if not self.name.hasFocus() or not self.name.isModified():
            self.name.setText(names)
            self.name.setCursorPosition(0)

    def _show_ran_as(self, item: ItemId) -> None:
        """Of a record the line of the script; looking back the statement as it ran, where the program says another."""
        results = self._session.results
        then = results.tables.names.text(item) if results.looking_back and results.row(item) is not None else ""
        statements = flatten_statements(self._session.run.program.statements) if then else ()
        now = next((statement.text for statement in statements if statement.node == item), "")
        record = self._session.record
        source = record.source(item) if record is not None else None
        if source is not None:
            self.ran_as.setText(f"{source.file}, line {source.line}: {source.text}")
            self.ran_as.setVisible(True)
            return
        self.ran_as.setText(f"When it ran: {then}")
        self.ran_as.setVisible(bool(then) and then != now)

    def _show_block(self, graph: Graph, item: ItemId) -> None:
        block = graph.blocks[item]
        word = block_word(block)
        head, words = BLOCK_WORDS[word]
        count = len(graph.bodies[BodyId(item)])
        self.title.setText(block.title or word)
        self.key.setText(head)
        self.summary.setText(f"{words} {count} statement{'s' if count != 1 else ''}.")
        self.summary.show()
        self._name_row.hide()
        self._color_mark("")

    def _on_documentation_clicked(self) -> None:
        node = self._session.shown_store.graph.nodes.get(self._item or ItemId(""))
        if node is not None:
            self._session.pages.request(node.operator)

    def _color_mark(self, category: str) -> None:
        color = self._theme.category_mark(category).name()
        self._mark.setStyleSheet(f"background: {color}; border-radius: 3px;")

    def _on_name_editing_finished(self) -> None:
        graph = self._session.shown_store.graph
        if self._item is None or self._item not in graph.nodes or not self.name.isModified():
            return
        self.name.setModified(False)
        names = tuple(part.strip() for part in self.name.text().split(",") if part.strip())
        if names == graph.nodes[self._item].names:
            return
        if not self._session.shown_store.attempt(recipes.rename, "Rename", self._item, names):
            self.name_problem.setText(self._why_not)
            self.name_problem.show()
            self.name.setText(", ".join(graph.nodes[self._item].names))

    def _on_store_refused(self, words: object) -> None:
        self._why_not = str(words)


class TroubleBox(QFrame):
    """What is wrong with an item: ours first, torch's words unchanged below, and buttons that take it away."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        """Hidden, until an item with a problem is shown."""
        super().__init__(parent)
        self._session = session
        self._item: ItemId | None = None
        self._problem: Problem | None = None
        self.setProperty("role", "danger")
        self.ours = label("", "", wrap=True)
        self.ours.setFont(ui_font(weight=ui_font().Weight.Medium))
        self.theirs = label("", "danger", wrap=True)
        self.theirs.setFont(mono_font(11))
        narrow = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # for one long word is no reason
        narrow.setHeightForWidth(True)
        self.theirs.setSizePolicy(narrow)
        self.fixes = FixButtons(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        layout.setSpacing(6)
        for part in (self.ours, self.fixes, self.theirs):
            layout.addWidget(part)
        for text in (self.ours, self.theirs):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fixes.chosen.connect(self._on_fixes_chosen)
        session.problems.changed.connect(self._on_problems_changed)
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show the worst problem of an item in a frame of its colour; hidden when it has none at that moment."""
        self._item = item
        ends = (item, *card_groups(self._session.shown_store.graph).whole((item,)) - {item})
        problems = (problem for end in ends for problem in self._session.problems.of(end))
        found = [problem for problem in problems if existed_at_moment(problem, self._session.results)]
        self._problem = problem = found[0] if found else None
        if problem is None:
            self.hide()
            return
        role = "danger" if problem.severity == "error" else "warning"
        if self.property("role") != role:
            self.setProperty("role", role)
            self.style().polish(self)
        for part, text in ((self.ours, in_sentences(problem)), (self.theirs, problem.words)):
            part.setText(text)
            part.setVisible(bool(text))
        self.fixes.show_fixes(problem.fixes)
        self.fixes.setVisible(bool(problem.fixes))
        self.show()

    def _on_fixes_chosen(self, fix: Fix) -> None:
        if self._problem is not None:
            self._session.problems.apply(self._problem, fix)

    def _on_problems_changed(self) -> None:
        if self._item is not None:
            self.show_item(self._item)


class OrderSection(Section):
    """The statement's place in the order, with buttons to move it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__("Order", parent)
        self._session = session
        self._item: ItemId | None = None
        self.place = QLabel("", self)
        self.place.setWordWrap(True)  # a group's title may be long: it never makes the panel wider than its dock
        self.place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.earlier, self.later = QPushButton("Earlier"), QPushButton("Later")
        row = QWidget(self)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.place, 1)
        layout.addWidget(self.earlier)
        layout.addWidget(self.later)
        self.add(row)
        self.earlier.clicked.connect(lambda: self._move(recipes.move_earlier, "Move earlier"))
        self.later.clicked.connect(lambda: self._move(recipes.move_later, "Move later"))

    def show_item(self, item: ItemId) -> None:
        """Show which statement of the program an item is, by the number on its card, and what it can move past."""
        self._item = item
        graph = self._session.shown_store.graph
        body = graph.parents[item]
        order = graph.bodies[body]
        where = "" if body == ROOT else f" in {graph.blocks[ItemId(body)].title or graph.blocks[ItemId(body)].kind}"
        nested = nested_now(graph)
        place = statement_places(graph, nested, (item,))[item]
        count = max(1, len(graph.nodes) - sum(one in graph.nodes for one in nested))
        self.place.setText(f"{min(place, count)} of {count}{where}")
        self.place.setToolTip(self.place.text())
        self.earlier.setEnabled(order.index(item) > 0)
        self.later.setEnabled(order.index(item) < len(order) - 1)

    def _move(self, recipe: object, text: str) -> None:
        if self._item is not None:
            self._session.shown_store.attempt(recipe, text, self._item)  # type: ignore[arg-type]  # earlier or later


class NoteSection(Section):
    """The note on the canvas, printed as a comment above the statement, or beside it where that stood there."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__("Note", parent)
        self._session = session
        self._item: ItemId | None = None
        self.edit = QPlainTextEdit(self)
        self.edit.setObjectName("field")
        self.edit.setPlaceholderText("A comment above the statement")
        self.edit.setToolTip("A comment above the statement, shown on the canvas")
        self.edit.setAccessibleName("Note")
        self.edit.setTabChangesFocus(True)
        self.edit.setFixedHeight(self.edit.fontMetrics().lineSpacing() * 2 + 22)
        self.edit.installEventFilter(self)
        self.add(self.edit)

    def show_item(self, item: ItemId) -> None:
        """Show an item's note, unless the person is writing it."""
        if item != self._item or not self.edit.hasFocus():
            note = self._note(item)
            if note != self.edit.toPlainText():
                self.edit.setPlainText(note)
        self._item = item

    def focus_note(self) -> None:
        """Let the person write."""
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leaving the field takes the note up."""
        if watched is self.edit and event.type() == QEvent.Type.FocusOut:
            self.commit()
        return super().eventFilter(watched, event)

    def commit(self) -> None:
        """Write the note into the graph when it changed."""
        graph = self._session.shown_store.graph
        if self._item is None or self._item not in graph or self.edit.toPlainText() == self._note(self._item):
            return
        self._session.shown_store.attempt(recipes.set_note, "Change note", self._item, self.edit.toPlainText())

    def _note(self, item: ItemId) -> str:
        graph = self._session.shown_store.graph
        owner = graph.nodes.get(item) or graph.blocks.get(item)
        return note_of(owner) if owner is not None else ""
