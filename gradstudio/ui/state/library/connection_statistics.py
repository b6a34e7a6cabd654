"""What a person usually wires next: which operator followed which, in this session and in earlier ones."""

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QObject, Signal

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.edits import AddWire, Edits, RemoveWire
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.module_calls import maker_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.search.next_operators import usually_after, usually_before
from gradstudio.ui.state.library.user_groups import is_data_set

FADE: Final = 0.94
"""What a count keeps each time something else follows the same operator."""
LEAST: Final = 0.2
MOST: Final = 400
MOST_AT_ONCE: Final = 8
"""Gestures with more wires, such as a pasted program, are nobody's habit."""
SHOWN: Final = 5
STORED: Final = "python.stored"
"""Data sets that are made are followed by what follows those that are stored."""
Pair = tuple[str, str, float]


class ConnectionStatistics(QObject):
    """How often one operator followed another, as counts that fade.

    Signals:
        changed(): something was learnt; on the window's thread.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is known yet."""
        super().__init__(parent)
        self._counts: dict[str, dict[str, float]] = {}

    def restore(self, pairs: Iterable[Pair]) -> None:
        """Begin with what was kept."""
        self._counts = {}
        for before, after, count in tuple(pairs)[:MOST]:
            self._counts.setdefault(before, {})[after] = count

    @property
    def kept(self) -> tuple[Pair, ...]:
        """What is worth keeping, the strongest first."""
        pairs = [(a, b, round(count, 2)) for a, row in self._counts.items() for b, count in row.items()]
        return tuple(sorted(pairs, key=lambda pair: (-pair[2], pair))[:MOST])

    def learn(self, graph: Graph, edits: Edits) -> None:
        """A person has made these edits: the wires that are new are what followed."""
        gone = {edit.wire for edit in edits if isinstance(edit, RemoveWire)}
        wires = [edit.wire for edit in edits if isinstance(edit, AddWire) and edit.wire not in gone]
        wires = [wire for wire in wires if wire.port != CALLED]
        if not 0 < len(wires) <= MOST_AT_ONCE:
            return
        for wire in wires:
            before, after = visible_operator(graph, wire.source), visible_operator(graph, wire.target)
            if before and after:
                self._count(before, after)
        self.changed.emit()

    def after(self, key: str) -> tuple[str, ...]:
        """What usually follows an operator: what the person wired, then what everybody does."""
        row = self._counts.get(key, {})
        own = sorted(row, key=lambda other: (-row[other], other))
        return _known((*own, *usually_after(load().get(STORED if is_data_set(key) else key))))

    def before(self, key: str) -> tuple[str, ...]:
        """What usually comes before an operator."""
        row = {first: after[key] for first, after in self._counts.items() if key in after}
        return _known((*sorted(row, key=lambda other: (-row[other], other)), *usually_before(key)))

    def _count(self, before: str, after: str) -> None:
        row = {other: count * FADE for other, count in self._counts.get(before, {}).items()}
        row[after] = row.get(after, 0.0) + 1.0
        self._counts[before] = {other: count for other, count in row.items() if count >= LEAST}


def visible_operator(graph: Graph, item: ItemId) -> str:
    """The operator that a person sees at an item: of a call the module's; "" for blocks."""
    node = graph.nodes.get(item)
    if node is None:
        return ""
    if node.operator != CALL:
        return node.operator
    maker = maker_of(graph, node)
    return maker.key if maker is not None else node.operator


def _known(keys: Iterable[str]) -> tuple[str, ...]:
    catalogue = load()
    return tuple(key for key in dict.fromkeys(keys) if key in catalogue)[:SHOWN]
