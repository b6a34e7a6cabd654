"""Breakpoints and watches of a document, and where they were met. No engine and no widget here."""

import itertools
from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.edits import Edits
from gradstudio.graph.groups.definitions import group_holding
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.debugging import Breakpoint, Condition, Hit
from gradstudio.ui.state.document.graph_store import GraphStore

ANYWHERE = ItemId("")
"""The node of a breakpoint that watches every node."""
NOT_FINITE = Condition(kind="not_finite")
KEPT = 1000
"""How many hits of one breakpoint are kept; all are counted."""


class DebugStore(QObject):
    """The breakpoints in the order they were made; those of nodes that are gone wait until undo brings them back.

    Signals:
        changed(): a breakpoint was added, removed, changed, switched, or met.
    """

    changed = Signal()

    def __init__(self, store: GraphStore, parent: QObject | None = None) -> None:
        """None yet, over the graph of a store."""
        super().__init__(parent)
        self._store = store
        self._all: dict[str, Breakpoint] = {}
        self._disabled: set[str] = set()
        self._hits: dict[str, list[Hit]] = {}
        self._counts: dict[str, int] = {}
        self._numbers = itertools.count(1)
        self._shown: tuple[Breakpoint, ...] = ()
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """Those whose node or wire is there, in the order they were made."""
        return self._shown

    @property
    def active(self) -> tuple[Breakpoint, ...]:
        """Those that are switched on: what a run is told."""
        return tuple(each for each in self._shown if each.id not in self._disabled)

    def enabled(self, breakpoint_id: str) -> bool:
        """Whether it is switched on."""
        return breakpoint_id in self._all and breakpoint_id not in self._disabled

    def get(self, breakpoint_id: str) -> Breakpoint | None:
        """The breakpoint of that id, also while its node is gone."""
        return self._all.get(breakpoint_id)

    def at(self, node: ItemId) -> tuple[Breakpoint, ...]:
        """Those of a node, and of the wires that begin at it."""
        return tuple(each for each in self._shown if each.node == node)

    def on_wire(self, source: ItemId, output: int, target: ItemId, port: str) -> tuple[Breakpoint, ...]:
        """Those of one wire."""
        wanted = (source, target, port)
        return tuple(
            each
            for each in self._shown
            if (each.node, each.target, each.port) == wanted and each.output in (None, output)
        )

    def fresh_id(self) -> str:
        """An id that no breakpoint of this document has or had."""
        return f"b{next(self._numbers)}"

    # ------------------------------------------------------------------ changing

    def add(self, made: Breakpoint) -> None:
        """Take up a breakpoint; one of the same id is replaced. Inside a group it is one of every call of it."""
        made = msgspec.structs.replace(made, group=group_holding(self._store.graph, made.node)) if made.node else made
        self._all[made.id] = made
        self._announce()

    def replace(self, changed: Breakpoint) -> None:
        """Change the breakpoint of that id; what met the old condition no longer counts."""
        if self._all.get(changed.id) == changed:
            return
        self._all[changed.id] = changed
        self._forget_hits((changed.id,))
        self._announce()

    def remove(self, breakpoint_id: str) -> None:
        """Take a breakpoint away; one that is not there is no error."""
        if self._all.pop(breakpoint_id, None) is None:
            return
        self._disabled.discard(breakpoint_id)
        self._forget_hits((breakpoint_id,))
        self._announce()

    def set_enabled(self, breakpoint_id: str, enabled: bool) -> None:
        """Switch one on or off."""
        if breakpoint_id not in self._all or enabled == self.enabled(breakpoint_id):
            return
        (self._disabled.discard if enabled else self._disabled.add)(breakpoint_id)
        self._announce()

    def toggle(self, node: ItemId) -> None:
        """Pause before a node in the forward, or no longer."""
        plain = next((each for each in self.at(node) if is_plain(each)), None)
        if plain is not None:
            self.remove(plain.id)
        else:
            self.add(Breakpoint(id=self.fresh_id(), node=node))

    @property
    def breaks_on_not_finite(self) -> bool:
        """Whether a NaN or an infinity anywhere, forward or backward, pauses the run."""
        return sum(self.enabled(each.id) for each in self._not_finite()) == 2

    def break_on_not_finite(self, on: bool) -> None:
        """Pause at the first NaN or infinity anywhere, or no longer."""
        for each in self._not_finite():
            self._all.pop(each.id)
            self._disabled.discard(each.id)
            self._forget_hits((each.id,))
        if on:
            for phase in ("forward", "backward"):
                made = Breakpoint(id=self.fresh_id(), node=ANYWHERE, place="after", phase=phase, condition=NOT_FINITE)
                self._all[made.id] = made
        self._announce()

    # ------------------------------------------------------------------ what a run says

    def hits(self, breakpoint_id: str) -> int:
        """How often it was met since the run began from nothing."""
        return self._counts.get(breakpoint_id, 0)

    def last(self, breakpoint_id: str) -> Hit | None:
        """Where it was met last."""
        met = self._hits.get(breakpoint_id)
        return met[-1] if met else None

    def all_hits(self) -> tuple[Hit, ...]:
        """The latest `KEPT` of every breakpoint, for the marks of the timeline."""
        return tuple(hit for met in self._hits.values() for hit in met)

    def next_stop(self, backward: int, place: int) -> Hit | None:
        """The first hit behind row `place` of a backward, of a breakpoint that is switched on and pauses."""
        stops = [each.id for each in self.active if each.stops]
        met = [hit for each in stops for hit in self._hits.get(each, ()) if hit.backward == backward]
        return min((hit for hit in met if hit.place > place), key=lambda hit: hit.place, default=None)

    def begin(self, fresh: bool) -> None:
        """A verb begins; `fresh`: from nothing, so earlier hits belong to another run."""
        if fresh and self._counts:
            self._forget_hits(tuple(self._counts))
            self.changed.emit()

    def add_hit(self, hit: Hit) -> None:
        """A breakpoint was met."""
        if hit.breakpoint not in self._all:
            return  # it was taken away while the run went on
        self._counts[hit.breakpoint] = self.hits(hit.breakpoint) + 1
        met = self._hits.setdefault(hit.breakpoint, [])
        met.append(hit)
        del met[:-KEPT]
        self.changed.emit()

    # ------------------------------------------------------------------ inner workings

    def _not_finite(self) -> tuple[Breakpoint, ...]:
        return tuple(each for each in self._all.values() if each.node == ANYWHERE and each.condition == NOT_FINITE)

    def _forget_hits(self, ids: Iterable[str]) -> None:
        for each in ids:
            self._hits.pop(each, None)
            self._counts.pop(each, None)

    def _announce(self) -> None:
        self._shown = self._there()
        self.changed.emit()

    def _there(self) -> tuple[Breakpoint, ...]:
        graph = self._store.graph
        return tuple(each for each in self._all.values() if is_there(each, graph))

    def _on_store_edited(self, _edits: Edits) -> None:
        if self._all and self._there() != self._shown:
            self._announce()

    def _on_store_replaced(self) -> None:
        self._all.clear()
        self._disabled.clear()
        self._hits.clear()
        self._counts.clear()
        self._announce()


def is_plain(each: Breakpoint) -> bool:
    """Whether it is what F9 sets: pause before a node runs, always."""
    bare = msgspec.structs.replace(each, id="", node=ANYWHERE, group="")
    return bare == Breakpoint(id="", node=ANYWHERE)


def is_there(each: Breakpoint, graph: Graph) -> bool:
    """Whether its node, or the wire it is on, is in the graph."""
    if each.node == ANYWHERE:
        return True
    if each.group:
        definition = graph.definitions.get(each.group)
        graph = definition.graph if definition is not None else Graph()
    if each.node not in graph:
        return False
    if not each.target:
        return True
    wire = graph.wire_into(each.target, each.port)
    return wire is not None and wire.source == each.node
