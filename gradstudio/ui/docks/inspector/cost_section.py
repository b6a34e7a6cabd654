"""Memory and time of the selected node: bytes alive and saved, storage shared with other nodes, milliseconds."""

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.ranks.arrival_words import late_words
from gradstudio.protocol.timeline import step_numbering as numbering
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.scene import value_format
from gradstudio.ui.docks.inspector.display_names import milliseconds, name_of
from gradstudio.ui.docks.inspector.ledger import Ledger, Line
from gradstudio.ui.docks.inspector.value_facts import Facts
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import Section

WEIGH_MS = 250
"""The engine is asked for the memory of each node at most this often."""


class CostSection(Section):
    """What one node costs; hidden before it has run."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No node yet."""
        super().__init__("Memory and time", parent)
        self._session = session
        self.ledger = Ledger(session.attention, theme)
        self.add(self.ledger)
        self._throttle = Throttle(WEIGH_MS, self)
        self._throttle.due.connect(self._on_throttle_due)
        session.run.state_changed.connect(self._on_run_state_changed)
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show what is known of a node at the moment that is looked at."""
        results, attention = self._session.results, self._session.attention
        graph = results.tables.names.graph_or(self._session.shown_store.graph)
        row = results.row(item)
        self.setVisible(row is not None)
        if row is None:
            return
        forward, backward = results.seconds(item)
        lines = [Line("forward", milliseconds(forward))]
        if backward:
            lines.append(Line("backward", milliseconds(backward)))
        if words := late_words(row.came):
            lines.append(Line(kind="words", text=f"{words[0].upper()}{words[1:]}."))
        if results.moment is None:
            found = results.node_memory(item)
            freed = step_number(results.timeline, found.freed_step, attention.unfolded) if found is not None else None
            module = card_groups(self._session.shown_store.graph).modules.get(item)
            held = layer_facts(results.node_memory(module)) if module is not None else ()
            lines.extend(Line(name, text) for name, text in (*memory_facts(found, freed), *held))
        elif row.made_bytes:
            lines.append(Line("made", value_format.size(row.made_bytes)))
        lines.extend(Line(name, text) for name, text in saved_facts(results, item))
        for base, view in results.shared_storage():
            if item in (base, view):
                other = view if item == base else base
                words = "is a view of it" if other == view else "the base of this view"
                lines.append(Line(f"shares memory with {name_of(graph, other)}", words, link=other))
        self.ledger.show_lines(tuple(lines))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.ledger.set_theme(theme)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._throttle.request()

    def _on_run_state_changed(self, state: RunState) -> None:
        if state.outcome and not state.busy and self.isVisible():
            self._throttle.request()

    def _on_throttle_due(self) -> None:
        state = self._session.run.state
        if self.isVisible() and state.live and not state.busy and not state.stale:
            self._session.run.questions.weigh_memory()


def saved_facts(results: ResultStore, item: ItemId) -> Facts:
    """What is saved for a backward at the moment: its size, and as a backward has told it, how many tensors."""
    size, (count, number) = results.saved_bytes(item), saved_count(results.timeline, item)
    if size:
        tensors = ""
        if count:
            tensors = " in 1 tensor" if count == 1 else f" in {count} tensors"
        return (("saved for backward", f"{value_format.size(size)}{tensors}"),)
    moment = results.moment
    last = results.timeline.place_of(number, 0) if count else None
    if last is None or (moment is not None and last > moment):
        return ()
    return (("saved for backward", f"{count} tensor{'s' if count != 1 else ''}, released in backward {number}"),)


def saved_count(timeline: Timeline, item: ItemId) -> tuple[int, int]:
    """How many tensors the node's autograd nodes had saved, as the newest backward through it told; and which it is."""
    for number in sorted(timeline.backwards, reverse=True):
        rows = [row for row in timeline.backwards[number].rows if row.node == item]
        if rows:
            return sum(len(row.saved) for row in rows), number
    return 0, 0


def step_number(timeline: Timeline, row_step: int, unfolded: bool) -> int | None:
    """The timeline's number of the step in which the statement of that `Row.step` was executed; None: it is gone."""
    found = (tick.index for tick in timeline.ticks if row_step and tick.row is not None and tick.row.step == row_step)
    index = next(found, None)
    return numbering.step_number(timeline, index, unfolded) if index is not None else None


def memory_facts(memory: NodeMemory | None, freed: int | None = None) -> Facts:
    """What a node holds now, in words; nothing when it was not weighed. `freed`: number of the step that freed it."""
    if memory is None:
        return ()
    facts = list(
        _sizes(
            ("alive", memory.alive_bytes),
            ("kept for showing", memory.kept_bytes),
            ("gradients", memory.grad_bytes),
            ("optimizer state", memory.state_bytes),
        )
    )
    if memory.freed_step:
        facts.append(("freed", f"at step {freed:,}" if freed is not None else "at an earlier step"))
    elif not facts:
        facts.append(("alive", "0 B"))
    return tuple(facts)


def layer_facts(memory: NodeMemory | None) -> Facts:
    """What the module holds whose call a card shows."""
    if memory is None:
        return ()
    return _sizes(("parameters, buffers", memory.alive_bytes), ("gradients", memory.grad_bytes))


def _sizes(*pairs: tuple[str, int]) -> Facts:
    return tuple((name, value_format.size(size)) for name, size in pairs if size)
