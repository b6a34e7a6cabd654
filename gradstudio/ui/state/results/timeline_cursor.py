"""The moment that is looked at: the timeline as the person's attention cuts it. It holds no results of its own."""

from collections.abc import Callable
from functools import partial

from gradstudio.graph.groups.call_ids import calls_around, is_call_item
from gradstudio.graph.memo_table import KeyedMemo
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.ports.item_ports import written_wire
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.events import GradRow, Row, ValueNow
from gradstudio.protocol.messages.records import ModuleRecord, OptimizerRecord, Record, TensorRecord, TupleRecord
from gradstudio.protocol.timeline.leaf_states import learns
from gradstudio.protocol.timeline.row_index import storages_of
from gradstudio.protocol.timeline.run_timeline import BackwardStep, Tick, Timeline, Turns
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore

View = tuple[int | None, int | None, dict[ItemId, int]]
"""Moment, backward, chosen turns."""


class Moment:
    """What is looked at, and what was answered about it already."""

    def __init__(
        self,
        timeline: Timeline,
        attention: Attention,
        graph: Graph | None,
        turns: Callable[[ItemId], Turns | None],
    ) -> None:
        """The moment of `attention` on the timeline as it is now, with the loops of `graph` as they are now.

        Args:
            turns: which turns of the loops around a node are looked at then.
        """
        moment = attention.moment
        self.graph, self.edits = graph, graph.revision if graph is not None else 0
        self._timeline = timeline
        self.revision, self.moment, self.chosen = timeline.revision, moment, attention.backward
        self.chosen_turns = dict(attention.chosen_turns)
        self.tick = None if moment is None or not 0 <= moment < len(timeline.ticks) else moment
        self.active = timeline.ticks[self.tick] if self.tick is not None else None
        inside = self.active.backward if self.active is not None else 0
        self.backward = inside if self.chosen is not None and inside else self.chosen
        self.in_turns = self.active is not None and bool(self.active.turns) and self.active.phase == "backward"
        self.wrote_leaves = timeline.wrote_leaves
        self.turns = turns if self.chosen_turns or self.in_turns else None
        self.rows = KeyedMemo[ItemId, Row | None](
            self._find_row if self.turns else partial(timeline.row, tick=self.tick)
        )
        self.gradients: dict[tuple[ItemId, int, str], GradRow | None] = {}
        self.wires: dict[tuple[ItemId, int, ItemId, str], WireGrad | None] = {}

    def _find_row(self, node: ItemId) -> Row | None:
        return self._timeline.row(node, self.tick, self.turns(node) if self.turns is not None else None)


class TimelineCursor:
    """Answers as of the moment, the backward and the turns that are looked at.

    In a loop the last turn counts until another is chosen; at a step of a backward, the turn it stands in.
    Each is looked up once a moment: cards, panels and wires ask for it hundreds of times.
    """

    def __init__(self, timeline: Timeline, attention: Attention, store: GraphStore | None) -> None:
        """Look at `timeline` through `attention`; the loops around a node are those of the store's graph."""
        self.timeline = timeline
        self._attention, self._store = attention, store
        self._moment = Moment(timeline, attention, store.graph if store is not None else None, self.turns)
        self._shared: tuple[tuple[int, int | None], tuple[tuple[ItemId, ItemId], ...]] | None = None

    def now(self) -> Moment:
        """The moment, with what is known of it; another one when something was told or something else is looked at."""
        now, attention, store = self._moment, self._attention, self._store
        graph = store.graph if store is not None else None
        if (
            now.moment == attention.moment
            and now.chosen == attention.backward
            and now.chosen_turns == attention.chosen_turns
            and now.revision == self.timeline.revision
            and now.graph is graph
            and (graph is None or now.edits == graph.revision)
        ):
            return now
        self._moment = Moment(self.timeline, attention, graph, self.turns)
        return self._moment

    @property
    def tick(self) -> int | None:
        """Index of the tick that is looked at; None: now."""
        return self.now().tick

    def statement_count(self) -> int | None:
        """How many statements had run at the moment; within a backward, those before it; None: now."""
        if self.tick is None:
            return None
        rows = (self.timeline.ticks[index].row for index in range(self.tick, -1, -1))
        return next((row.step for row in rows if row is not None), 0)

    @property
    def active(self) -> Tick | None:
        """The tick that is looked at; None: now."""
        return self.now().active

    @property
    def active_group(self) -> tuple[Tick, ...]:
        """The ticks of the step that is looked at; one tick when the timeline is unfolded."""
        active = self.now().active
        if active is None:
            return ()
        if self._attention.unfolded:
            return (active,)
        return tuple(self.timeline.ticks[index] for index in self.timeline.group_of(active.index))

    @property
    def backward(self) -> int | None:
        """The backward that is shown alone: inside of another one, that one; None: all of them."""
        return self.now().backward

    def row(self, node: ItemId) -> Row | None:
        """When and how the node last ran, in the turns that are looked at."""
        return self.now().rows[node]

    def grad(self, node: ItemId, output: int, path: str) -> GradRow | None:
        """The gradient of a value."""
        now, key = self.now(), (node, output, path)
        if key not in now.gradients:
            now.gradients[key] = self.timeline.grad(
                node, output, path, now.tick, now.backward, now.turns and now.turns(node)
            )
        return now.gradients[key]

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        """All gradients known of a node, parameters included."""
        rows = [self.grad(node, output, path) for _, output, path in self.timeline.keys_of(node)]
        return tuple([row for row in rows if row is not None])

    def wire_grad(self, source: ItemId, output: int, target: ItemId, port: str) -> WireGrad | None:
        """What the target sent back along the wire."""
        now, key = self.now(), (source, output, target, port)
        if key not in now.wires:
            now.wires[key] = self._find_wire_grad(source, output, target, port)
        return now.wires[key]

    def backward_step(self) -> BackwardStep | None:
        """What happens at the step of a backward that is looked at."""
        tick = self.now().tick
        return self.timeline.backward_step(tick) if tick is not None else None

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        """Pairs (base, view) of nodes whose results share a storage; the base is the one that was made first."""
        key = (len(self.timeline.ticks), self.now().tick)
        if self._shared is None or self._shared[0] != key:
            self._shared = (key, self._find_shared())
        return self._shared[1]

    def trained(self, row: Row, output: int, now: ValueNow | None) -> Record:
        """A tensor or list that was written into, as of the moment; of what has no gradient only as it is now.

        Args:
            now: what was told of it at the end of the last verb.
        """
        record = row.outputs[output]
        if isinstance(record, TupleRecord) and self.tick is not None:
            return self._list_then(row, output, record)
        if isinstance(record, OptimizerRecord | TupleRecord):
            is_known = now is not None and now.step == row.step and self.tick is None
            return now.record if now is not None and is_known else record
        if not isinstance(record, TensorRecord):
            return record
        found = self.timeline.leaf_at(record, self.tick) if learns(record) else record
        if self.tick is not None or now is None or now.step != row.step or not isinstance(now.record, TensorRecord):
            return found
        return now.record if (now.record.version or 0) > (found.version or 0) else found

    def _list_then(self, row: Row, output: int, record: TupleRecord) -> Record:
        """A list as the last statement before the moment that wrote into it has left it."""
        graph = self.now().graph
        if graph is None:
            return record
        wires = [wire for wire in graph.wires_from(row.node) if wire.output == output]
        writers = [wire.target for wire in wires if written_wire(graph, wire.target) == wire]
        rows = [found for found in map(self.row, writers) if found is not None and found.step > row.step]
        last = max(rows, key=lambda found: found.step, default=None)
        left = last.outputs[0] if last is not None and last.outputs else None
        return left if isinstance(left, TupleRecord) else record

    def module(self, row: Row, output: int) -> ModuleRecord | None:
        """A module as the last statements before the moment left it; None where it is as it was made."""
        made = self.timeline.made_at(row.node, self.tick, row.turns)
        return None if made is None else self.timeline.module_at(row, output, made, self.tick)

    def went_in(self, source: ItemId, output: int, target: ItemId) -> TensorRecord | None:
        """Of a leaf, what it was when the target last took it; None where it is none, or the target has not run."""
        taken = self.timeline.made_at(target, self.tick)
        made = self._leaf(source, output, "")
        return None if taken is None or made is None else self.timeline.leaf_at(made, taken)

    def left_by(self, node: ItemId, output: int, path: str) -> Tick | None:
        """The statement that made of a leaf what it is at the moment; None where it is no leaf, or none is known."""
        made = self._leaf(node, output, path)
        since = self.timeline.leaf_since(made, self.tick) if made is not None else -1
        return self.timeline.ticks[since] if since >= 0 else None

    def version_now(self, storage: int) -> int:
        """The highest version at which anything in a storage was seen, as of the moment; 0 when nothing was."""
        rows = [self.row(node) for node in self.timeline.holders(storage)]
        records = (record for row in rows if row is not None for record in row.outputs)
        held = (record for record in records if isinstance(record, TensorRecord) and record.storage == storage)
        return max((record.version or 0 for record in held), default=0)

    def turns(self, node: ItemId) -> Turns | None:
        """The turns of the loops around the node that are looked at; None: the last it ran with."""
        chosen, now = self._attention.chosen_turns, self.now()
        if not chosen and not now.in_turns:
            return None
        loops = self._loops(node)
        if not loops:
            return None
        active_turns = self._active_turns(now.active) if now.active is not None and now.in_turns else {}
        wanted = [chosen.get(loop, active_turns.get(loop)) for loop in loops]
        if all(turn is None for turn in wanted):
            return None
        for turns in reversed(self.timeline.turns_of(node, now.tick)):
            if all(turn in (None, real) for turn, real in zip(wanted, turns, strict=False)):
                return turns
        return tuple(-1 if turn is None else turn for turn in wanted)

    def loop_turns(self) -> dict[ItemId, int]:
        """The turns that are looked at, by loop: those around the moment, and those that were chosen; empty: now.

        A step of a backward stands in the loops around its statement, too.
        """
        active = self.now().active
        if active is None:
            return dict(self._attention.chosen_turns)
        traced = self.timeline.backwards.get(active.backward)
        around = zip(self._loops(traced.statement), traced.turns, strict=False) if traced is not None else ()
        return {**dict(around), **self._active_turns(active), **self._attention.chosen_turns}

    def turns_looked_at(self, loop: ItemId, node: ItemId) -> Turns | None:
        """Which turn of a loop, and of those around it, is looked at; outside of it the last in which a node of it ran.

        None: now, or a moment before that.
        """
        looked_at, around, row = self.loop_turns(), self._loops(loop), self.row(node)
        if around and looked_at.keys() >= set(around):
            return tuple([looked_at[each] for each in around])
        return row.turns if row is not None and (looked_at or self.active is not None) else None

    def view(self) -> View:
        """What is looked at, to compare with later."""
        return self._attention.moment, self.now().backward, dict(self._attention.chosen_turns)

    def changed_since(self, old: View) -> frozenset[ItemId] | None:
        """Nodes whose picture is another than when `old` was looked at; None: all may be."""
        moment, backward, chosen = old
        if backward != self.now().backward:
            return None
        changed = self.timeline.changed_between(moment, self._attention.moment)
        if changed is None:
            return None
        now = self._attention.chosen_turns
        graph = self._graph
        loops = {loop for loop in chosen.keys() | now.keys() if chosen.get(loop) != now.get(loop)}
        for tick in (moment, self._attention.moment):
            entry = self.timeline.ticks[tick] if tick is not None and tick < len(self.timeline.ticks) else None
            if entry is not None and entry.phase == "backward" and entry.turns:
                loops.update(self._loops(entry.node)[:1])
        if graph is not None and any(loop not in graph for loop in loops):
            return None  # one inside a definition
        return frozenset(changed.union(*map(self._inside, loops)))

    # -------------------------------------------------------------- private

    def _leaf(self, node: ItemId, output: int, path: str) -> TensorRecord | None:
        """A leaf as it was made: a result, or a parameter of a module; None where that is none."""
        row = self.row(node)
        made = row.outputs[output] if row is not None and output < len(row.outputs) else None
        if isinstance(made, ModuleRecord):
            made = made.parameters.get(path)
        return made if isinstance(made, TensorRecord) and learns(made) else None

    def _find_wire_grad(self, source: ItemId, output: int, target: ItemId, port: str) -> WireGrad | None:
        turns, now = self.turns(target), self.now()
        if turns is None:
            row = self.row(target)
            turns = (row.turns or None) if row is not None else None  # none outside of loops
        return self.timeline.wire_grad(source, output, target, port, now.tick, now.backward, turns)

    @property
    def _graph(self) -> Graph | None:
        return self._store.graph if self._store is not None else None

    def _loops(self, node: ItemId) -> tuple[ItemId, ...]:
        return loops_around(self._graph, node) if self._graph is not None else ()

    def _inside(self, block: ItemId) -> set[ItemId]:
        graph = self._graph
        return {block, *graph.order(BodyId(block))} if graph is not None and block in graph.blocks else set()

    def _active_turns(self, active: Tick) -> dict[ItemId, int]:
        return dict(zip(self._loops(active.node), active.turns, strict=False))

    def _find_shared(self) -> tuple[tuple[ItemId, ItemId], ...]:
        first: dict[int, tuple[int, ItemId]] = {}
        held: list[tuple[int, ItemId, int]] = []
        for node in self.timeline.sharers():
            row = self.row(node)
            if row is None:
                continue
            for storage in storages_of(row):
                held.append((row.step, node, storage))
                first[storage] = min(first.get(storage, (row.step, node)), (row.step, node))
        return tuple((first[storage][1], node) for _, node, storage in sorted(held) if first[storage][1] != node)


def loops_around(graph: Graph, item: ItemId | None) -> tuple[ItemId, ...]:
    """The `for` blocks an item stands in, outermost first; a loop stands in itself. Inside calls: loops around each."""
    if item is not None and is_call_item(item):
        from gradstudio.graph.analysis.call_addresses import locate_item  # nothing has run at a start

        places = [locate_item(graph, at) for at in (*calls_around(item), item)]
        return tuple(loop for place in places if place is not None for loop in loops_around(*place))
    if item is None or item not in graph:
        return ()
    chain = [item, *map(ItemId, graph.ancestors(item))]
    blocks = [graph.blocks[each] for each in chain if each in graph.blocks]
    return tuple(block.id for block in reversed(blocks) if block.kind == "for")
