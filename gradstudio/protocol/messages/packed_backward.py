"""A record of a backward as it crosses the pipe: each summary once, and its number wherever it is shown.

A gradient is shown four times: with what comes into an autograd node, with what has left the one before, along the
wire and as the value's. The engine hands the same summary to all; written out, most of a message would be pictures
that it has already.
"""

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import (
    AutogradRow,
    BackwardTraced,
    EdgeValue,
    HookRuns,
    Reduction,
    SavedTensor,
    WireGrad,
)
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Place, Seconds, Size, Turns
from gradstudio.protocol.messages.records import Summary

Number = Size | None
"""Of a summary among those of the message; None where torch gave none."""
_identity = object.__hash__
Shown = tuple[Summary | None, ...]


class PackedRow(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An `AutogradRow` with numbers of summaries."""

    backward: Count
    autograd: str
    node: ItemId
    turns: Turns
    incoming: tuple[Number, ...]
    outgoing: tuple[Number, ...]
    id: Place
    next: tuple[tuple[Place, Count], ...]
    values: tuple[EdgeValue, ...]
    saved: tuple[SavedTensor, ...]
    order: Count
    seconds: Seconds
    before: Number
    after: Number
    reduction: Reduction | None = None
    hooks: HookRuns = ()


class PackedWire(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A `WireGrad` with the number of its summary."""

    source: ItemId
    target: ItemId
    port: str
    output: Count
    turns: Turns
    source_turns: Turns
    place: Place
    grad: Number
    parts: Count


class PackedBackward(Message, frozen=True):
    """A `BackwardTraced` with its summaries apart; `rest` is all else of it."""

    summaries: tuple[Summary, ...]
    rows: tuple[PackedRow, ...]
    wires: tuple[PackedWire, ...]
    rest: BackwardTraced


def packed(traced: BackwardTraced) -> PackedBackward:
    """Each summary once, however many rows and wires show it."""
    shown = [s for row in traced.rows for s in (*row.incoming, *row.outgoing, row.before, row.after)]
    shown += [wire.grad for wire in traced.wires]
    summaries = {_identity(summary): summary for summary in shown if summary is not None}
    numbers: dict[int, Number] = {identity: number for number, identity in enumerate(summaries)}
    numbers[_identity(None)] = None
    number = numbers.__getitem__  # asked for by `map` alone: a message has some hundred thousand of them
    rows = [
        PackedRow(
            row.backward, row.autograd, row.node, row.turns, tuple(map(number, map(_identity, row.incoming))),
            tuple(map(number, map(_identity, row.outgoing))), row.id, row.next, row.values, row.saved, row.order,
            row.seconds, number(_identity(row.before)), number(_identity(row.after)), row.reduction, row.hooks,
        )
        for row in traced.rows
    ]  # fmt: skip
    wires = [
        PackedWire(
            wire.source, wire.target, wire.port, wire.output, wire.turns, wire.source_turns, wire.place,
            number(_identity(wire.grad)), wire.parts,
        )
        for wire in traced.wires
    ]  # fmt: skip
    rest = msgspec.structs.replace(traced, rows=(), wires=())
    return PackedBackward(summaries=tuple(summaries.values()), rows=tuple(rows), wires=tuple(wires), rest=rest)


def unpacked(message: PackedBackward) -> BackwardTraced:
    """The record; what is shown several times is one summary.

    Raises:
        IndexError: a number is of no summary.
    """
    known: tuple[Summary | None, ...] = message.summaries

    def shown(numbers: tuple[Number, ...]) -> Shown:
        if len(numbers) == 1 and (number := numbers[0]) is not None:
            return (known[number],)
        return tuple([None if number is None else known[number] for number in numbers])

    rows = [
        AutogradRow(
            backward=row.backward, autograd=row.autograd, node=row.node, turns=row.turns,
            incoming=shown(row.incoming), outgoing=shown(row.outgoing), id=row.id, next=row.next, values=row.values,
            saved=row.saved, order=row.order, seconds=row.seconds,
            before=None if row.before is None else known[row.before],
            after=None if row.after is None else known[row.after], reduction=row.reduction, hooks=row.hooks,
        )
        for row in message.rows
    ]  # fmt: skip
    wires = [
        WireGrad(
            source=wire.source, target=wire.target, port=wire.port, output=wire.output, turns=wire.turns,
            source_turns=wire.source_turns, place=wire.place,
            grad=None if wire.grad is None else known[wire.grad], parts=wire.parts,
        )
        for wire in message.wires
    ]  # fmt: skip
    return msgspec.structs.replace(message.rest, rows=tuple(rows), wires=tuple(wires))
