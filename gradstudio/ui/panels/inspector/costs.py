"""Memory and time of the selected node: bytes alive and saved, storage shared with other nodes, milliseconds."""

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from gradstudio.graph.model import ItemId
from gradstudio.protocol.debugging import NodeMemory
from gradstudio.ui.canvas import formatting
from gradstudio.ui.panels.inspector.facts import Facts
from gradstudio.ui.panels.inspector.form import Section
from gradstudio.ui.panels.inspector.ledger import Ledger, Line
from gradstudio.ui.panels.inspector.naming import milliseconds, name_of
from gradstudio.ui.state.run_controller import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme

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
        results, graph = self._session.results, self._session.graph_store.graph
        row = results.row(item)
        self.setVisible(row is not None)
        if row is None:
            return
        forward, backward = results.seconds(item)
        lines = [Line("forward", milliseconds(forward))]
        if backward:
            lines.append(Line("backward", milliseconds(backward)))
        if results.moment is None:
            lines.extend(Line(name, text) for name, text in memory_facts(results.node_memory(item)))
        elif row.made_bytes:
            lines.append(Line("made", formatting.size(row.made_bytes)))
        if results.moment is not None and (saved := results.saved_bytes(item)):
            lines.append(Line("saved for backward", formatting.size(saved)))
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
            self._session.run.weigh_memory()


def memory_facts(memory: NodeMemory | None) -> Facts:
    """What a node holds now, in words; nothing when it was not weighed."""
    if memory is None:
        return ()
    pairs = (
        ("alive", memory.alive_bytes),
        ("saved for backward", memory.saved_bytes),
        ("kept for showing", memory.kept_bytes),
        (".grad", memory.grad_bytes),
    )
    facts = [(name, formatting.size(size)) for name, size in pairs if size]
    if memory.freed_step:
        facts.append(("freed", f"at step {memory.freed_step}"))
    elif not facts:
        facts.append(("alive", "0 B"))
    return tuple(facts)
