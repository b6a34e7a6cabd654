"""Where a run is to pause and what it is to note: breakpoints and watches, asked between statements.

A statement that nobody asked about costs one look-up; a run without breakpoints does not come here at all.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import torch
from msgspec.structs import replace
from torch import Tensor

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.engine.value.value_records import tensors_in
from gradstudio.graph.groups.call_ids import call_item_id
from gradstudio.graph.model import ItemId
from gradstudio.protocol.breakpoint_conditions import holds
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.debugging import Breakpoint, Hit
from gradstudio.protocol.messages.records import Summary

ANY = ItemId("")
"""The node of a breakpoint that means all: break where a NaN or inf appears."""

FINITE, INFINITE, NAN = range(3)
"""How bad a value is; a NaN that comes of infinities is news."""


class BreakpointHit(NamedTuple):
    """A breakpoint whose condition holds, and where in a backward (else 0 and -1)."""

    breakpoint: Breakpoint
    node: ItemId
    summary: Summary | None
    turns: tuple[int, ...] = ()
    backward: int = 0
    place: int = -1

    def hit(self, step: int, stopped: bool) -> Hit:
        """As it is told."""
        return Hit(
            breakpoint=self.breakpoint.id, node=self.node, turns=self.turns, step=step, backward=self.backward,
            place=self.place, summary=self.summary, stopped=stopped,
        )  # fmt: skip


class BreakpointChecks:
    """The breakpoints of one verb, by node.

    Attributes:
        entered: nodes that something is asked of before; those of blocks are asked when the block is entered.
    """

    def __init__(self, breakpoints: Iterable[Breakpoint], max_values: int) -> None:
        """Sort them; values of up to `max_values` elements are told exactly."""
        self._max_values = max_values
        self._before: dict[ItemId, list[Breakpoint]] = {}
        self._after: dict[ItemId, list[Breakpoint]] = {}
        self._backward: list[Breakpoint] = []
        self._any: list[Breakpoint] = []
        self._any_backward: list[Breakpoint] = []
        self._operands: list[object] = []
        self._came = FINITE
        self._inside: dict[str, list[Breakpoint]] = {}
        self._entered: set[ItemId] = set()
        for one in breakpoints:
            if one.group:
                self._inside.setdefault(one.group, []).append(one)
            else:
                self._add(one)
        self.entered = frozenset(self._before)

    def enter(self, call: ItemId, group: str) -> None:
        """What is asked of a group's nodes is asked of those inside this call of it."""
        if group not in self._inside or call in self._entered:
            return
        self._entered.add(call)
        for one in self._inside[group]:
            target = call_item_id(call, one.target) if one.target else one.target
            self._add(replace(one, node=call_item_id(call, one.node), target=target))
        self.entered = frozenset(self._before)

    def leave(self) -> None:
        """Every statement inside a call was asked of: what comes out of the call did not appear in the call itself."""
        self._came = NAN

    def _add(self, one: Breakpoint) -> None:
        if one.node == ANY:
            (self._any_backward if one.phase == "backward" else self._any).append(one)
        elif one.phase == "backward":
            self._backward.append(one)
        else:
            by_node = self._before if one.place == "before" and not one.target else self._after
            by_node.setdefault(one.node, []).append(one)

    # -------------------------------------------------------------- forward

    def before(self, step: Step, namespace: dict[str, object], turns: tuple[int, ...]) -> list[BreakpointHit]:
        """What holds of a statement's inputs, directly before it runs."""
        if self._any:
            self._operands = [namespace.get(name) for name in step.source.operands]
            self._came = FINITE if step.pure else _worst(self._operands)
        asked = self._before.get(step.id)
        if not asked:
            return []
        return self._holding(asked, [namespace.get(name) for name in step.source.operands], step.id, turns)

    def entering(self, block: ItemId, turns: tuple[int, ...]) -> list[BreakpointHit]:
        """What holds before a block is entered; there is no value to ask."""
        return [BreakpointHit(one, block, None, turns) for one in self._before[block] if holds(one.condition, None)]

    def wants(self, step: Step) -> bool:
        """Whether anybody asks for the statement's results."""
        return bool(self._any) or step.id in self._after

    def after(self, step: Step, outputs: tuple[object, ...], turns: tuple[int, ...]) -> list[BreakpointHit]:
        """What holds of a statement's results, directly behind it."""
        found = self._holding(self._after.get(step.id, ()), outputs, step.id, turns)
        if self._any and self._worse(step, outputs):
            found += self._holding(self._any, outputs, step.id, turns)
        self._operands = []
        return found

    def bound(self, block: ItemId, place: int, value: object, turns: tuple[int, ...]) -> list[BreakpointHit]:
        """What holds of a loop variable that another turn has bound."""
        asked = [one for one in self._after.get(block, ()) if one.output in (None, place)]
        return [BreakpointHit(one, block, s, turns) for one in asked for s in self._first(one, [value])]

    def _worse(self, step: Step, outputs: tuple[object, ...]) -> bool:
        """Whether a NaN or an infinity comes out that did not go in; what a statement overwrites was asked before."""
        went = _worst(outputs)
        return went > FINITE and went > (_worst(self._operands) if step.pure else self._came)

    def _holding(
        self, asked: Iterable[Breakpoint], values: Iterable[object], node: ItemId, turns: tuple[int, ...]
    ) -> list[BreakpointHit]:
        values, found = list(values), list[BreakpointHit]()
        for one in asked:
            chosen = values
            if one.output is not None and (one.place == "after" or one.target):
                chosen = values[one.output : one.output + 1]
            found += [BreakpointHit(one, node, summary, turns) for summary in self._first(one, chosen)]
        return found

    def _first(self, one: Breakpoint, values: Iterable[object]) -> list[Summary | None]:
        """The first value the condition holds of, as a list of one; empty when it holds of none."""
        with clean_modes():
            for summary in self._summaries(values):
                if holds(one.condition, summary):
                    return [summary]
        return [None] if holds(one.condition, None) else []

    def _summaries(self, values: Iterable[object]) -> Iterator[Summary]:
        for value in values:
            if isinstance(value, int | float):
                number = torch.tensor(float(value), dtype=torch.float64)
                yield summarise(number, self._max_values)
            for tensor in tensors_in(value):
                if not tensor.is_nested:
                    yield summarise(tensor, self._max_values)

    # -------------------------------------------------------------- backward

    def backward(self, traced: BackwardTraced) -> list[BreakpointHit]:
        """What holds of a backward that has run, in the order torch went."""
        found: list[BreakpointHit] = []
        if self._backward:
            groups = _groups(traced.rows)
            for one in self._backward:
                found += self._along(one, traced) if one.target else self._at_node(one, traced, groups)
        if self._any_backward:
            found += self._born(traced)
        return sorted(found, key=lambda met: met.place)

    def _along(self, one: Breakpoint, traced: BackwardTraced) -> list[BreakpointHit]:
        return [
            BreakpointHit(one, one.node, wire.grad, wire.turns, traced.backward, wire.place)
            for wire in traced.wires
            if (wire.source, wire.target, wire.port) == (one.node, one.target, one.port)
            and one.output in (None, wire.output)
            and holds(one.condition, wire.grad)
        ]

    def _at_node(self, one: Breakpoint, traced: BackwardTraced, groups: list[range]) -> list[BreakpointHit]:
        found: list[BreakpointHit] = []
        for group in groups:
            rows = [traced.rows[place] for place in group]
            if rows[0].node != one.node:
                continue
            if one.place == "before":
                place, tested = group[0], _incoming(rows[0], one.output)
            else:
                place, tested = group[-1], _sent_back(rows, group, traced)
            match = [summary for summary in tested if holds(one.condition, summary)]
            if match or holds(one.condition, None):
                summary = match[0] if match else None
                found.append(BreakpointHit(one, one.node, summary, rows[0].turns, traced.backward, place))
        return found

    def _born(self, traced: BackwardTraced) -> list[BreakpointHit]:
        """Where gradients stopped being finite: an autograd node that got finite ones and sent others, or a sum."""
        found: list[BreakpointHit] = []
        seen = FINITE
        for place, row in enumerate(traced.rows):
            came = max(row.incoming, key=_badness, default=None)
            went = max((*row.outgoing, row.after), key=_badness)
            summary = came if _badness(came) > seen else went
            if _badness(came) > seen or _badness(went) > max(_badness(came), FINITE):
                found += [
                    BreakpointHit(one, row.node, summary, row.turns, traced.backward, place)
                    for one in self._any_backward
                ]
            seen = max(seen, _badness(came), _badness(went))
        return [met for met in found if holds(met.breakpoint.condition, met.summary)]


def _groups(rows: tuple[AutogradRow, ...]) -> list[range]:
    """The places of each run of rows that belong to one canvas node and turns."""
    runs = groupby(range(len(rows)), lambda place: (rows[place].node, rows[place].turns))
    return [range(places[0], places[-1] + 1) for places in (list(run) for _, run in runs)]


def _incoming(row: AutogradRow, output: int | None) -> list[Summary]:
    """What arrives at the first autograd node of a canvas node, at one of its results."""
    wanted = {value.index for value in row.values if value.output == output and value.node == row.node}
    return [
        summary
        for index, summary in enumerate(row.incoming)
        if summary is not None and (output is None or index in wanted or (not row.values and index == output))
    ]


def _sent_back(rows: list[AutogradRow], group: range, traced: BackwardTraced) -> list[Summary]:
    """What a canvas node sends back: along its wires; where none is known, out of its last autograd node."""
    wires = [
        wire.grad
        for wire in traced.wires
        if wire.target == rows[0].node and wire.turns == rows[0].turns and wire.place in group
    ]
    sent = wires or [*rows[-1].outgoing, rows[-1].after]
    return [summary for summary in sent if summary is not None]


def _badness(summary: Summary | None) -> int:
    if summary is None:
        return FINITE
    if summary.nan:
        return NAN
    if summary.posinf or summary.neginf:
        return INFINITE
    return FINITE


def _worst(values: Iterable[object]) -> int:
    """The worst that any of the tensors holds."""
    with clean_modes():
        return max((_worst_of(tensor) for value in values for tensor in _floats_in(value)), default=FINITE)


def _floats_in(value: object) -> list[Tensor]:
    dense = (t for t in tensors_in(value) if t.layout is torch.strided and not t.is_nested)
    return [tensor for tensor in dense if tensor.is_floating_point() or tensor.is_complex()]


def _worst_of(tensor: Tensor) -> int:
    if torch.isfinite(tensor).all():
        return FINITE
    return NAN if torch.isnan(tensor).any() else INFINITE
