"""The step of a backward at the selected node: the gradient that arrives, the local rule, what leaves."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.timeline.run_timeline import BackwardStep, Timeline, Turns
from gradstudio.ui.docks.inspector.backward_lines import lines_of
from gradstudio.ui.docks.inspector.display_names import turn_words
from gradstudio.ui.docks.inspector.ledger import Ledger
from gradstudio.ui.docks.inspector.operands import operands_of
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import Section, label

ORDINALS = {2: "double backward", 3: "triple backward"}


class BackwardSection(Section):
    """What happened at one node, or the module on its card, in one backward; hidden when it took part in none.

    Attributes:
        is_looked_at: whether it is the step that the timeline stands at.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No node yet."""
        super().__init__("Backward step", parent)
        self._session, self.is_looked_at = session, False
        attention = session.attention
        self.where = label("", "dim", wrap=True)
        self.arrives, self.rule = Ledger(attention, theme), Ledger(attention, theme)
        self.leaves, self.autograd = Ledger(attention, theme), Ledger(attention, theme)
        self.source = label("", "dim", wrap=True)
        self.unfold = QToolButton(self)
        self.unfold.setCheckable(True)
        self.unfold.setText("Autograd nodes")
        self.unfold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unfold.setArrowType(Qt.ArrowType.RightArrow)
        self.unfold.setStyleSheet(
            "QToolButton, QToolButton:checked { background: transparent; border: 0; padding: 2px; }"
        )
        self.unfold.toggled.connect(self._on_unfold_toggled)
        self._unfolded = False
        self.add(
            self.where,
            label("Gradient that arrives", "heading"),
            self.arrives,
            label("Local rule", "heading"),
            self.source,
            self.rule,
            label("Gradient that leaves", "heading"),
            self.leaves,
            self._at_left(self.unfold),
            self.autograd,
        )
        self.heading.hide()
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show the node's part in the backward that is looked at."""
        results, now = self._session.results, self._session.shown_store.graph
        active, module = results.active, card_groups(now).modules.get(item)
        looked_at = active.node if active is not None and active.phase == "backward" else None
        self.is_looked_at = looked_at in (item, module) and looked_at is not None
        if module is not None and looked_at == module:
            item = module
        graph = results.tables.names.graph_or(now)
        row = results.row(item)
        turns = row.turns if row is not None and self._session.attention.chosen_turns else None
        step = step_of(results.timeline, item, results.moment, self._session.attention.backward, turns)
        self.setVisible(step is not None and item in graph.nodes and item in now.nodes)
        if step is None or item not in graph.nodes or item not in now.nodes:
            return
        traced = results.timeline.backwards.get(step.backward)
        retained = traced is not None and traced.retained
        operands = operands_of(graph, item, results.outputs, results.wire_record)
        all_rows = traced.rows if traced is not None else ()
        made = lines_of(graph, step, operands, results.gradients_of(item), retained, all_rows)
        self.where.setText(backward_words(graph, step))
        self.arrives.show_lines(made.arrives)
        self.rule.show_lines(made.rule)
        self.source.setText(made.source)
        self.source.setVisible(bool(made.source))
        self.leaves.show_lines(made.leaves)
        is_reduction = step.rows[-1].reduction is not None
        self.unfold.setText("Time waited" if is_reduction else f"Autograd nodes ({len(step.rows)})")
        self.autograd.show_lines(made.autograd)
        self._follow_folding()
        self.autograd.setVisible(self.unfold.isChecked() or is_reduction)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        for ledger in (self.arrives, self.rule, self.leaves, self.autograd):
            ledger.set_theme(theme)

    def _at_left(self, widget: QWidget) -> QWidget:
        row = QWidget(self)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.addWidget(widget)
        layout.addStretch(1)
        return row

    def _follow_folding(self) -> None:
        """Open the list where the timeline is unfolded, and close it again with it."""
        if self._unfolded != self._session.attention.unfolded:
            self._unfolded = self._session.attention.unfolded
            self.unfold.setChecked(self._unfolded)

    def _on_unfold_toggled(self, on: bool) -> None:
        self.unfold.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.autograd.setVisible(on and bool(self.autograd.lines))


def step_of(
    timeline: Timeline, item: ItemId, moment: int | None, backward: int | None, turns: Turns | None = None
) -> BackwardStep | None:
    """The node's newest step at or before the moment (None: now), of this backward and in these turns if given."""
    for number in sorted(timeline.backwards, reverse=True):
        if backward not in (None, number):
            continue
        rows = timeline.backwards[number].rows
        for place in range(len(rows) - 1, -1, -1):
            if rows[place].node != item or turns not in (None, rows[place].turns):
                continue
            tick = timeline.place_of(number, place)
            if tick is not None and (moment is None or tick <= moment):
                return timeline.backward_step(tick)
    return None


def backward_words(graph: Graph, step: BackwardStep) -> str:
    """Which backward, which order, which turn; of an all-reduce, of which bucket, over how many ranks."""
    words = [f"backward {step.backward}"]
    if (reduction := step.rows[-1].reduction) is not None:
        words.append(f"all-reduce of bucket {reduction.bucket + 1} over {reduction.ranks} ranks")
    if step.order > 1:
        words.append(f"{ORDINALS.get(step.order, 'higher order')}, order {step.order}")
    if step.turns:
        words.append(turn_words(step.turns))
    return " · ".join(words)
