"""*What if*: a value or gradient changed by hand in a run on the side, and what came out otherwise."""

import msgspec
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals import parser
from gradstudio.protocol.messages.debugging import Change, Difference, WhatIfAnswered
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format
from gradstudio.ui.docks.inspector.display_names import in_a_line, name_of, turn_words
from gradstudio.ui.docks.inspector.ledger import Ledger, Line
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import Section, label

MAX_LINES = 24
WORDS = "The program is unchanged: this is a second run on the side."


class WhatIfSection(Section):
    """The answer to the last *What if*; hidden when there is none."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing was asked yet."""
        super().__init__("What if", parent)
        self._session = session
        self._item: ItemId | None = None
        self.title, self.words = label("", "title", wrap=True), label(WORDS, "dim", wrap=True)
        self.ledger = Ledger(session.attention, theme)
        self.drop, self.keep = QPushButton("Drop"), QPushButton("Set it in the program")
        self.drop.setToolTip("Forget this what-if")
        self.keep.setToolTip("Write the number into the program: one undo step")
        buttons = QWidget(self)
        layout = QHBoxLayout(buttons)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.keep)
        layout.addStretch(1)
        layout.addWidget(self.drop)
        self.add(self.title, self.words, self.ledger, buttons)
        self.heading.hide()
        self.drop.clicked.connect(session.experiments.clear)
        self.keep.clicked.connect(self._on_keep_clicked)
        session.experiments.changed.connect(lambda _items: self.refresh())
        self.refresh()

    def show_item(self, item: ItemId | None) -> None:
        """Where another node is shown than the one that was changed, only what came out otherwise there."""
        if item != self._item:
            self._item = item
            self.refresh()

    def refresh(self) -> None:
        """Show the newest answer."""
        answer, graph = self._session.experiments.what_if, self._session.shown_store.graph
        self.setVisible(answer is not None)
        if answer is None:
            return
        self.title.setText(title_of(graph, answer))
        elsewhere = self._item is not None and self._item != answer.change.node
        self.words.setVisible(not elsewhere)
        self.ledger.show_lines(lines_at(graph, answer, self._item) if elsewhere else lines_of(graph, answer))
        self.keep.setVisible(not answer.error and is_settable(graph, answer.change))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.ledger.set_theme(theme)

    def _on_keep_clicked(self) -> None:
        answer, store = self._session.experiments.what_if, self._session.shown_store
        if answer is not None:
            text = set_in(store.graph.nodes[answer.change.node].literals["data"], answer.change)
            store.attempt(recipes.set_literal, "Set what was tried", answer.change.node, "data", text)


def title_of(graph: Graph, answer: WhatIfAnswered) -> str:
    """``What if x[1] = 3 (was 2)``."""
    change = answer.change
    name = name_of(graph, change.node, change.output, change.path) or "a value inside a group"
    name = f"the gradient of {name}" if change.grad else name
    place = f"[{', '.join(map(str, change.index))}]" if change.index else ""
    own = next((each for each in answer.differences if _is_of(each, change)), None)
    old = element(own.before, change.index or ()) if own is not None and own.before is not None else None
    was = f" (was {value_format.number(old)})" if old is not None else ""
    return f"What if {name}{place} = {value_format.number(change.value)}{was}"


def lines_of(graph: Graph, answer: WhatIfAnswered) -> tuple[Line, ...]:
    """A line for each value and gradient that came out otherwise."""
    lines: list[Line] = []
    if answer.error:
        name = name_of(graph, answer.failed)
        where = f" at {name}" if name else ""
        lines.append(Line(kind="words", role="danger", text=f"{answer.error}{where}"))
    elif not answer.differences:
        lines.append(Line(kind="words", text="Nothing comes out otherwise."))
    for grad in (False, True):
        changed = [each for each in answer.differences if each.grad == grad]
        if changed:
            lines.append(Line(kind="heading", text="Gradients" if grad else "Values"))
        lines.extend(_difference(graph, each) for each in changed[:MAX_LINES])
        if len(changed) > MAX_LINES:
            lines.append(Line(kind="words", role="dim", text=f"and {len(changed) - MAX_LINES} more"))
    return tuple(lines)


def lines_at(graph: Graph, answer: WhatIfAnswered, item: ItemId | None) -> tuple[Line, ...]:
    """The lines of one node, and how many there are of others."""
    own = tuple(each for each in answer.differences if each.node == item)
    others = len(answer.differences) - len(own)
    if answer.error or not answer.differences:
        return lines_of(graph, answer)
    lines = lines_of(graph, msgspec.structs.replace(answer, differences=own)) if own else ()
    lead = "" if own else "Nothing comes out otherwise here. "
    told = f"{lead}{others} more elsewhere" if others else lead.strip()
    return (*lines, Line(kind="words", role="dim", text=told)) if told else lines


def element(summary: Summary, index: tuple[int, ...]) -> float | int | None:
    """One number of a tensor that was told exactly; None when it was not."""
    value = summary.value
    for place in index:
        if not isinstance(value, list | tuple) or place >= len(value):
            return None
        value = value[place]
    return value if isinstance(value, float | int) else None


def is_settable(graph: Graph, change: Change) -> bool:
    """Whether the number stands in the program as a literal of ``torch.tensor``."""
    node = graph.nodes.get(change.node)
    if node is None or change.grad or change.path or node.operator != "torch.tensor" or "data" not in node.literals:
        return False
    return set_in(node.literals["data"], change) != ""


def set_in(literal: str, change: Change) -> str:
    """The literal of nested lists with one number replaced; "" when there is no such place."""
    try:
        data = parser.value_of(literal)
    except LiteralError:
        return ""
    if not change.index:
        return repr(change.value) if isinstance(data, float | int) else ""
    inner = data
    for place in change.index[:-1]:
        inner = inner[place] if isinstance(inner, list) and place < len(inner) else None
    if not isinstance(inner, list) or change.index[-1] >= len(inner):
        return ""
    inner[change.index[-1]] = change.value
    return repr(data)


def _is_of(each: Difference, change: Change) -> bool:
    return (each.node, each.output, each.path, each.grad) == (change.node, change.output, change.path, change.grad)


def _difference(graph: Graph, each: Difference) -> Line:
    turns = f" {turn_words(each.turns)}" if each.turns else ""
    is_scalar = each.after is not None and each.after.shape == ()
    says_more = each.largest is not None and not is_scalar
    largest = f"largest |difference| {value_format.number(each.largest)}" if says_more else ""
    text = f"{in_a_line(each.before, grad=each.grad)} → {in_a_line(each.after, grad=each.grad)}"
    name = f"{name_of(graph, each.node, each.output, each.path)}{turns}"
    return Line(name, text, link=each.node, note=largest)
