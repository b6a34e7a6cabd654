"""What can be read off the record of one backward: steps, wires, sums being formed, bytes kept. No Qt, no torch."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from operator import itemgetter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, SavedTensor, WireGrad
from gradstudio.protocol.timeline.model import Arrival, BackwardStep, Contribution, Tick, Turns
from gradstudio.protocol.timeline.tick_trimming import Renumbering

WireKey = tuple[ItemId, int, ItemId, str]
"""Source, output, target, port."""


class WireIndex:
    """The gradients that went back along each wire, by the tick at which they were complete."""

    def __init__(self) -> None:
        """No backward has run."""
        self._entries: dict[WireKey, list[tuple[int, int, WireGrad]]] = {}
        self._ticks: list[int] = []
        self._ends: list[tuple[ItemId, ItemId]] = []

    def add(self, traced: BackwardTraced, begin: int) -> None:
        """Take the wires of a backward whose first tick is `begin`."""
        number = traced.backward or (traced.rows[0].backward if traced.rows else 0)
        for wire in sorted(traced.wires, key=lambda wire: wire.place):
            tick = begin + wire.place
            key = (wire.source, wire.output, wire.target, wire.port)
            self._entries.setdefault(key, []).append((tick, number, wire))
            self._ticks.append(tick)
            self._ends.append((wire.source, wire.target))

    def complete(self, traced: BackwardTraced, number: int) -> None:
        """The wires of a backward that is here, told again with every summary."""
        for wire in traced.wires:
            key = (wire.source, wire.output, wire.target, wire.port)
            self._entries[key] = [
                (tick, n, wire if n == number and (old.turns, old.place) == (wire.turns, wire.place) else old)
                for tick, n, old in self._entries.get(key, [])
            ]

    def at(
        self, key: WireKey, tick: int | None, backward: int | None, turns: Turns | None
    ) -> tuple[int, WireGrad] | None:
        """The newest at or before the tick (None: now) and its tick, of this backward and in these turns if given."""
        entries = self._entries.get(key, [])
        end = len(entries) if tick is None else bisect_right(entries, tick, key=itemgetter(0))
        for index in range(end - 1, -1, -1):
            place, number, wire = entries[index]
            if backward in (None, number) and (turns is None or turns == wire.turns):
                return place, wire
        return None

    def changed(self, low: int, high: int) -> set[ItemId]:
        """Nodes at the ends of wires whose gradients came behind `low`, up to `high`."""
        ends = self._ends[bisect_right(self._ticks, low) : bisect_right(self._ticks, high)]
        return {node for pair in ends for node in pair}

    def renumber(self, ticks: Renumbering) -> None:
        """Only some ticks stay, numbered anew; what a wire last carried between two holds from the second on.

        What it carried behind all of them is gone with the turns that a run was put back before.
        """
        count = ticks.new[-1]
        for key, known in self._entries.items():
            entries = [entry for entry in known if ticks.new[entry[0]] < count]
            moved = [(ticks.new[tick], number, wire) for tick, number, wire in entries]
            after = [*(tick for tick, _, _ in moved[1:]), -1][: len(moved)]
            self._entries[key] = [
                new
                for old, new, following in zip(entries, moved, after, strict=True)
                if following != new[0] or ticks.stays[old[0]]
            ]
        # Once a tick and pair of ends: what was between ticks that stay would else be carried along for ever.
        pairs = zip((ticks.new[tick] for tick in self._ticks), self._ends, strict=True)
        told = dict.fromkeys(pair for pair in pairs if pair[0] < count)
        self._ticks = [tick for tick, _ in told]
        self._ends = [ends for _, ends in told]


class BackwardIndex:
    """The record of one backward by what is asked for at each of its steps.

    Attributes:
        senders: by an edge (autograd node and input), the rows that send something there, and their branches.
        into: the wires of each target; `out_of`: those of each source, output and turns.
    """

    def __init__(self, traced: BackwardTraced) -> None:
        """Look at every row and wire once."""
        self.traced = traced
        self.senders: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.into: dict[ItemId, list[WireGrad]] = {}
        self.out_of: dict[tuple[ItemId, int, Turns], list[WireGrad]] = {}
        for number, row in enumerate(traced.rows):
            for branch, target in enumerate(row.next):
                if target[0] >= 0:  # else it goes nowhere
                    self.senders.setdefault(target, []).append((number, branch))
        for wire in traced.wires:
            self.into.setdefault(wire.target, []).append(wire)
            self.out_of.setdefault((wire.source, wire.output, wire.source_turns), []).append(wire)


def step(index: BackwardIndex, first: int, place: int) -> BackwardStep:
    """The rows from `first` up to `place`, which belong to one node: what came, what left along its wires."""
    rows = index.traced.rows[first : place + 1]
    head = rows[0]
    inside = {row.id for row in rows}
    arrivals = tuple(
        [arrival for offset, row in enumerate(rows) for arrival in _arrivals(index, row, first + offset, inside)]
    )
    wires = tuple(
        [wire for wire in index.into.get(head.node, ()) if wire.turns == head.turns and first <= wire.place <= place]
    )
    saved = tuple([tensor for row in rows for tensor in row.saved])
    return BackwardStep(head.node, head.turns, head.backward, head.order, rows, arrivals, wires, saved)


def place_of(entry: Tick, ticks: Sequence[Tick], count: int, *, unfolded: bool) -> tuple[int, int]:
    """Which step of how many a tick of a backward of `count` rows is, unfolded which row; (0, 0) where some went."""
    begin = entry.index - entry.place
    end = begin + count - 1
    if begin < 0 or end >= len(ticks) or ticks[begin].backward != entry.backward:
        return 0, 0
    if unfolded:
        return entry.place + 1, count
    before = ticks[begin].group
    return entry.group - before + 1, ticks[end].group - before + 1


def partial_sum(
    traced: BackwardTraced, source: ItemId, output: int, place: int, turns: Turns | None
) -> tuple[tuple[WireGrad, ...], int]:
    """The contributions to a value that were complete at `place`, in torch's order, and how many there will be."""
    wires = sorted(
        (wire for wire in traced.wires if wire.source == source and wire.output == output), key=lambda wire: wire.place
    )
    if turns is None and wires:
        begun = [wire for wire in wires if wire.place <= place]
        turns = (begun[-1] if begun else wires[0]).source_turns
    wires = [wire for wire in wires if wire.source_turns == turns]
    return tuple(wire for wire in wires if wire.place <= place), len(wires)


def seconds(entries: Sequence[Tick]) -> float:
    """What the newest backward among ticks of a node has taken there."""
    newest = entries[-1].backward if entries else None
    told = takewhile(lambda entry: entry.backward == newest, reversed(entries))
    return sum((entry.autograd.seconds for entry in told if entry.autograd is not None), 0.0)


def saved_bytes(entries: Iterable[Tick], tick: int, backwards: Mapping[int, BackwardTraced]) -> int:
    """Bytes kept at a tick by autograd nodes that a backward has executed since: released behind their execution."""
    kept: dict[tuple[object, ...], int] = {}
    seen: set[tuple[Turns, int, str]] = set()
    for entry in entries:
        row = entry.autograd
        if row is None or (entry.index <= tick and not backwards[entry.backward].retained):
            continue
        if (row.turns, row.id, row.autograd) in seen:
            continue
        seen.add((row.turns, row.id, row.autograd))
        for tensor in row.saved:
            kept[_storage_key(row, tensor)] = tensor.size_bytes
    return sum(kept.values())


def _arrivals(index: BackwardIndex, row: AutogradRow, place: int, inside: set[int]) -> Iterable[Arrival]:
    values = {value.index: value for value in reversed(row.values)}
    for number, grad in enumerate(row.incoming):
        value = values.get(number)
        parts = tuple(_parts(index, row, place, number, value))
        if value is None and parts and all(sender in inside for sender, _ in parts):
            continue
        yield Arrival(value, grad, tuple(part for _, part in parts))


def _parts(
    index: BackwardIndex, row: AutogradRow, place: int, edge: int, value: EdgeValue | None
) -> Iterable[tuple[int, Contribution]]:
    for number, branch in index.senders.get((row.id, edge), ()) if row.id >= 0 else ():
        if number < place:
            sender = index.traced.rows[number]
            grad = sender.outgoing[branch] if branch < len(sender.outgoing) else None
            yield sender.id, Contribution(sender.node, sender.autograd, grad, _port(index, sender, number, value))


def _port(index: BackwardIndex, sender: AutogradRow, place: int, value: EdgeValue | None) -> str:
    """The port of the canvas along which the sender's share came; "" when several or none fit."""
    if value is None:
        return ""
    wires = [
        wire
        for wire in index.out_of.get((value.node, value.output, value.turns), ())
        if (wire.target, wire.turns) == (sender.node, sender.turns)
    ]
    exact = [wire for wire in wires if wire.place == place] or wires
    return exact[0].port if len(exact) == 1 else ""


def _storage_key(row: AutogradRow, tensor: SavedTensor) -> tuple[object, ...]:
    if tensor.node:
        return tensor.node, tensor.output, tensor.version, tensor.size_bytes
    return row.turns, row.id, row.autograd, tensor.name
