"""The timeline of a run: what happened, in order, and what stood where at each moment. No Qt, no torch.

Nothing is computed anew: a state at a tick is what the engine told of it then.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from gradstudio.graph.groups.call_ids import calls_around, is_call_item, outermost
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced, WireGrad
from gradstudio.protocol.messages.events import GradRow, InRecord, Row
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord
from gradstudio.protocol.timeline import backward_steps
from gradstudio.protocol.timeline.backward_steps import BackwardIndex, WireIndex
from gradstudio.protocol.timeline.gradient_log import NO_RECORD, GradientLog
from gradstudio.protocol.timeline.model import Arrival, BackwardStep, Contribution, Phase, Tick, Turns
from gradstudio.protocol.timeline.row_index import RowIndex
from gradstudio.protocol.timeline.tick_trimming import count_until, renumber, select_ticks

__all__ = ["Arrival", "BackwardStep", "Contribution", "Phase", "Tick", "Timeline", "Turns"]

MAX_TICKS = 200_000
TRIM_EVERY, LEAST_TRIM = 4096, 1024
"""After so many ticks more old ones are let go, where few stay after half as many as stay: each time is short."""
MANY = 4096


class Timeline:
    """Every statement and autograd node that was executed since the start from nothing.

    Attributes:
        ticks: in the order they happened; `ticks[k].index == k`.
        backwards: the record of each backward that is still on the timeline.
        repeated: nodes of the repeated part (semantics §5): a new pass forgets their gradients.
        forgotten: ticks that had to go because there were more than `MAX_TICKS`.
        wanted: turns that were asked for: they stay, also of a loop that is sampled.
        is_sampled: long loops are recorded by sample: some of their turns were not told.
        revision: another number whenever something was told or forgotten.
    """

    def __init__(self) -> None:
        """Nothing has happened."""
        self.repeated: frozenset[ItemId] = frozenset()
        self.wanted: frozenset[Turns] = frozenset()
        self.revision = 0
        self.clear()

    def clear(self) -> None:
        """Forget everything: a start from nothing."""
        self.revision += 1
        self.ticks: list[Tick] = []
        self.backwards: dict[int, BackwardTraced] = {}
        self.forgotten = 0
        self.is_sampled = False
        self._begins: dict[int, int] = {}
        self._groups: list[int] = []
        self._rows = RowIndex()
        self._autograd: dict[ItemId, list[int]] = {}
        self._incomplete: dict[int, int] = {}
        self._trimmed_at = self._verb_begins = 0
        self._calling = ItemId("")
        self._wires = WireIndex()
        self._index: BackwardIndex | None = None  # of the backward that was last asked for
        self._gradients = GradientLog()

    # -------------------------------------------------------------- what is told

    def begin(self) -> None:
        """A verb begins: gradients that come before its first tick belong behind the last one."""
        self._verb_begins = len(self.ticks)

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Statements were executed; a row of a step that was not complete takes its place."""
        self.revision += 1
        for row in rows:
            place = self._incomplete.pop(row.step, None)
            outline = self.ticks[place].row if place is not None else None
            if place is not None and outline is not None and (outline.step, outline.node) == (row.step, row.node):
                self.ticks[place] = self.ticks[place]._replace(row=row)
                self._rows.replace(place, row)
            else:
                self._add_row(row)

    def add_backward(self, traced: BackwardTraced) -> None:
        """A backward was recorded; its statement's row follows. Told again, it is the same one with every summary."""
        self.revision += 1
        begin, self._calling = len(self.ticks), ItemId("")
        number = traced.backward or (traced.rows[0].backward if traced.rows else 0)
        if self._complete_backward(traced, number):
            return
        if traced.rows:
            self.backwards[number] = traced
            self._begins[number] = begin
        self._new_pass(traced.pass_number, begin)
        self._gradients.began(traced, number)
        last = None
        for place, row in enumerate(traced.rows):
            index = begin + place
            key = (row.node, row.turns, row.order, row.reduction.bucket if row.reduction is not None else -1)
            if key != last:
                self._groups.append(index)
                last = key
            group = len(self._groups) - 1
            self.ticks.append(
                Tick(index, group, "backward", row.node, row.turns, traced.pass_number, number, place, None, row)
            )
            for owner in (row.node, *(calls_around(row.node) if is_call_item(row.node) else ())):
                self._autograd.setdefault(owner, []).append(index)
            self._gradients.reached(index, traced, number, row)
        self._wires.add(traced, begin)

    def take_changed(self) -> set[ItemId]:
        """The nodes of whose gradients something else is known than when this was last asked."""
        return self._gradients.take_changed()

    def add_gradients(self, rows: Iterable[GradRow], whole: bool, in_record: InRecord = NO_RECORD) -> set[ItemId]:
        """Gradients as they stand now; the nodes for which that says something else."""
        self.revision += 1
        position = len(self.ticks) - 1 if len(self.ticks) > self._verb_begins else len(self.ticks)
        return self._gradients.add_rows(position, rows, whole, in_record)

    def cut(self, step: int) -> None:
        """The run was put back to where this step was the last: what came later is no part of it."""
        count = count_until(self.ticks, step)
        if count < len(self.ticks):
            self._incomplete = {one: place for one, place in self._incomplete.items() if place < count}
            self._rows.cut(count)
            self._rebuild(list(range(count)))

    def trim(self) -> list[int] | None:
        """Let go of the middle turns of long loops and of the oldest ticks; the old indices that stay, or None."""
        if len(self.ticks) - self._trimmed_at < max(LEAST_TRIM, min(TRIM_EVERY, self._trimmed_at // 2)):
            return None
        kept = select_ticks(self.ticks, MAX_TICKS, self.is_sampled, self.wanted)
        self._trimmed_at, is_less = len(kept), len(kept) < len(self.ticks)
        if is_less:
            self._rebuild(kept)
        return kept if is_less else None

    # -------------------------------------------------------------- what stood where

    def row(self, node: ItemId, tick: int | None = None, turns: Turns | None = None) -> Row | None:
        """The newest row of the node at or before the tick (None: now), in these turns (None: whichever)."""
        found = self._rows.at(node, tick, turns)
        return found[1] if found is not None else None

    def made_at(self, node: ItemId, tick: int | None = None, turns: Turns | None = None) -> int | None:
        """The tick at which that row was made; None: there is none."""
        found = self._rows.at(node, tick, turns)
        return found[0] if found is not None else None

    @property
    def wrote_leaves(self) -> bool:
        """Whether a statement wrote into a leaf that is none of its results or into a buffer, or switched a module."""
        return self._rows.leaves.written

    def leaf_at(self, record: TensorRecord, tick: int | None = None) -> TensorRecord:
        """What a leaf that was `record` when it was made had become by the tick (None: now)."""
        return self._rows.leaves.at(record, tick)

    def module_at(self, row: Row, output: int, made: int, tick: int | None = None) -> ModuleRecord | None:
        """What a module that a row made at the tick `made` had become by another; None: it is as it was made."""
        return self._rows.leaves.module_at(row, output, made, tick)

    def leaf_since(self, record: TensorRecord, tick: int | None = None) -> int:
        """The tick that had made of such a leaf what it was at another (None: now); -1: it is not known."""
        return self._rows.leaves.since(record, tick)[0]

    def leaves_of(self, rows: Iterable[Row]) -> set[ItemId]:
        """The nodes that show leaves which these statements wrote into."""
        return self._rows.leaves.owners(rows)

    def nodes(self) -> tuple[ItemId, ...]:
        """Every node that ran, in the order in which they first did."""
        return self._rows.nodes()

    def holders(self, storage: int) -> tuple[ItemId, ...]:
        """Every node that held something in a storage, at whatever tick."""
        return tuple(self._rows.storages().holders.get(storage, ()))

    def sharers(self) -> tuple[ItemId, ...]:
        """Every node that held something in a storage in which another did, too."""
        return tuple({node: None for nodes in self._rows.storages().shared.values() for node in nodes})

    def turns_of(self, node: ItemId, tick: int | None = None) -> tuple[Turns, ...]:
        """The turns the node has run with in that pass, in order."""
        return tuple(dict.fromkeys(row.turns for row in self._rows.in_pass(node, tick)))

    def grad(
        self,
        node: ItemId,
        output: int = 0,
        path: str = "",
        tick: int | None = None,
        backward: int | None = None,
        turns: Turns | None = None,
    ) -> GradRow | None:
        """The gradient of a value as it stood at the tick, of one backward alone, or of what these turns made."""
        key = (node, output, path)
        newest = self._rows.at(node, tick, None)
        if backward is None and (turns is None or (newest is not None and turns == newest[1].turns)):
            return self._gradients.at(key, tick)
        made = self._rows.at(node, tick, turns)
        return self._gradients.alone(key, tick, backward, turns, made[0] if made is not None else None)

    def keys_of(self, node: ItemId) -> tuple[tuple[ItemId, int, str], ...]:
        """Every value of the node (output and path) whose gradient was ever told of."""
        return self._gradients.keys_of(node)

    def gradients(self) -> Iterator[GradRow]:
        """Every gradient as it stands at the end of all that ran."""
        return self._gradients.now()

    def held_by_leaves(self, tick: int) -> Iterator[Summary]:
        """The `.grad` of every leaf at a tick."""
        return self._gradients.held_by_leaves(tick)

    def wire_grad(
        self,
        source: ItemId,
        output: int,
        target: ItemId,
        port: str,
        tick: int | None = None,
        backward: int | None = None,
        turns: Turns | None = None,
    ) -> WireGrad | None:
        """What the target last sent back along the wire at or before the tick.

        None when it has run anew since, or another pass has begun; one backward that is asked for is always told.
        """
        found = self._wires.at((source, output, target, port), tick, backward, turns)
        if found is None or backward is not None:
            return found[1] if found is not None else None
        place, grad = found
        if self.ticks[place].pass_number != self.ticks[-1 if tick is None else tick].pass_number:
            return None
        made = self._rows.at(target, tick, grad.turns)
        return None if made is not None and made[0] > place else grad

    # -------------------------------------------------------------- steps

    def group_of(self, tick: int) -> range:
        """The ticks of the group that the tick belongs to."""
        group = self.ticks[tick].group
        end = self._groups[group + 1] if group + 1 < len(self._groups) else len(self.ticks)
        return range(self._groups[group], end)

    def next(self, tick: int, unfolded: bool = False) -> int | None:
        """The tick of the next step; folded, the last of this group when it is not there yet, else of the next."""
        if tick + 1 >= len(self.ticks):
            return None
        if unfolded:
            return tick + 1
        last = self.group_of(tick)[-1]
        return last if last > tick else self.group_of(tick + 1)[-1]

    def previous(self, tick: int, unfolded: bool = False) -> int | None:
        """The tick of the step before; folded, the last of the group before."""
        if tick >= len(self.ticks):
            return len(self.ticks) - 1 if self.ticks else None
        before = tick - 1 if unfolded else self.group_of(tick)[0] - 1
        return before if before >= 0 else None

    def place_of(self, backward: int, place: int) -> int | None:
        """The tick of a backward's row; None when it is not on the timeline."""
        begin, traced = self._begins.get(backward), self.backwards.get(backward)
        if begin is None or traced is None or not 0 <= place < len(traced.rows):
            return None
        return begin + place

    def backward_step(self, tick: int) -> BackwardStep | None:
        """Everything of the group at that tick, as far as it has gone at that tick; None in the forward."""
        entry = self.ticks[tick] if 0 <= tick < len(self.ticks) else None
        if entry is None or entry.autograd is None:
            return None
        group = self.group_of(tick)
        first = entry.place - (tick - group[0])
        traced = self.backwards[entry.backward]
        if self._index is None or self._index.traced is not traced:
            self._index = BackwardIndex(traced)
        return backward_steps.step(self._index, first, entry.place)._replace(place=self.place_in_backward(tick))

    def place_in_backward(self, tick: int, *, unfolded: bool = False) -> tuple[int, int]:
        """Which step of how many of its backward a tick is, from 1, unfolded which row; (0, 0) in the forward."""
        entry = self.ticks[tick] if 0 <= tick < len(self.ticks) else None
        if entry is None or entry.autograd is None:
            return 0, 0
        return backward_steps.place_of(entry, self.ticks, len(self.backwards[entry.backward].rows), unfolded=unfolded)

    def forming(
        self, source: ItemId, output: int, tick: int | None, turns: Turns | None = None
    ) -> tuple[tuple[WireGrad, ...], int]:
        """The contributions to a value's gradient so far in the backward of the tick, and how many there will be."""
        entry = self.ticks[tick] if tick is not None and 0 <= tick < len(self.ticks) else None
        if entry is None or entry.autograd is None:
            return (), 0
        return backward_steps.partial_sum(self.backwards[entry.backward], source, output, entry.place, turns)

    def changed_between(self, one: int | None, other: int | None) -> set[ItemId] | None:
        """Nodes whose picture differs between two ticks (None: now); None when that is too much to tell."""
        last = len(self.ticks)
        low, high = sorted((last if one is None else one, last if other is None else other))
        if high - low > MANY:
            return None
        changed = {entry.node for entry in self.ticks[low + 1 : high + 1]}
        changed.update(self.leaves_of([entry.row for entry in self.ticks[low + 1 : high + 1] if entry.row is not None]))
        changed.update(self._gradients.changed(low, high), self._wires.changed(low, high))
        changed.update(self.ticks[tick].node for tick in (low, high) if tick < last)
        changed |= set() if one is not None and other is not None else self._rows.leaves.modules()  # pills say the text
        changed.discard(ItemId(""))
        return changed

    # -------------------------------------------------------------- time and memory

    def seconds(self, node: ItemId, tick: int | None = None) -> tuple[float, float]:
        """Seconds the node has taken in that pass: forward, and in the last backward that came to it."""
        forward = sum(row.seconds for row in self._rows.in_pass(node, tick))
        autograd = self._autograd.get(node, [])
        until = len(autograd) if tick is None else bisect_right(autograd, tick)
        return forward, backward_steps.seconds([self.ticks[place] for place in autograd[:until]])

    def saved_bytes(self, node: ItemId, tick: int | None = None) -> int:
        """Bytes the node's autograd nodes keep at the tick, as far as a later backward told of them."""
        made = self._rows.at(node, tick, None)
        if made is None:
            return 0
        entries = [self.ticks[place] for place in self._autograd.get(node, [])]
        return backward_steps.saved_bytes(
            [entry for entry in entries if entry.pass_number == made[1].pass_number],
            len(self.ticks) if tick is None else tick,
            self.backwards,
        )

    # -------------------------------------------------------------- private

    def _add_row(self, row: Row) -> None:
        index = len(self.ticks)
        self._new_pass(row.pass_number, index)
        self._group_row(row, index)
        self.ticks.append(
            Tick(index, len(self._groups) - 1, "forward", row.node, row.turns, row.pass_number, 0, -1, row, None)
        )
        self._rows.add(index, row)
        if not row.complete:
            self._incomplete[row.step] = index
        self._gradients.made(index, row)

    def _group_row(self, row: Row, index: int) -> None:
        """A step is one statement; what ran inside a call belongs to the step of the call, whose row follows."""
        call = outermost(row.node) if is_call_item(row.node) else ItemId("")
        if not self._calling or self._calling not in (call, row.node):
            self._groups.append(index)
        self._calling = call

    def _new_pass(self, pass_number: int, index: int) -> None:
        if self.ticks and pass_number > self.ticks[-1].pass_number:
            self._gradients.new_pass(index, pass_number, self.repeated)

    def _complete_backward(self, traced: BackwardTraced, number: int) -> bool:
        """Whether that backward is here already: its rows take the places of those that were only outlined."""
        known, begin = self.backwards.get(number), self._begins.get(number, 0)
        if known is None or len(known.rows) != len(traced.rows) or known.at_s != traced.at_s or not traced.at_s:
            return False
        self.backwards[number] = traced
        for index in range(max(begin, 0), min(begin + len(traced.rows), len(self.ticks))):
            tick = self.ticks[index]
            if tick.autograd is not None and tick.backward == number:
                self.ticks[index] = tick._replace(autograd=traced.rows[tick.place])
                self._gradients.complete(index, number, traced.rows[tick.place])
        self._wires.complete(traced, number)
        return True

    def _rebuild(self, kept: list[int]) -> None:
        """Number the ticks that stay anew."""
        self.revision += 1
        old = self.ticks
        self.forgotten += len(old) - len(kept)
        stay, groups = list[Tick](), list[int]()
        self.ticks, self._groups, self._autograd = stay, groups, {}
        last = group = -1
        for index, place in enumerate(kept):
            entry = old[place]
            if entry.group != last:
                last = entry.group
                group += 1
                groups.append(index)
            stay.append(entry if place == index and last == group else entry.moved(index, group))
            if entry.autograd is not None:
                for owner in (entry.node, *(calls_around(entry.node) if is_call_item(entry.node) else ())):
                    self._autograd.setdefault(owner, []).append(index)
        ticks = renumber(kept, len(old))
        self._incomplete = {step: ticks.new[place] for step, place in self._incomplete.items()}
        self._verb_begins = ticks.new[self._verb_begins]
        self._begins = {t.backward: t.index - t.place for t in self.ticks if t.autograd is not None}
        self.backwards = {number: self.backwards[number] for number in self._begins}
        self._wires.renumber(ticks)
        self._rows.renumber(ticks)
        self._gradients.renumber(ticks)
