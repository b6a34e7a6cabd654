"""Rows of statements that have run: what each gave, and what that makes of gradients and memory."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from msgspec import Struct
from torch import Tensor
from torch.autograd.graph import Node
from torch.nn import Module, Parameter

from gradstudio.engine.gradient.gradient_states import cut_here, inherit_cut
from gradstudio.engine.gradient.leaf_writes import LeafWrite
from gradstudio.engine.gradient.tensor_watch import Cut
from gradstudio.engine.gradient.wire_edges import Call
from gradstudio.engine.live.live_state import Binding, Live
from gradstudio.engine.memory.memory_sampler import LiveBytes, alive_bytes
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.rank_spread import Here
from gradstudio.engine.value.summary_batches import summarise_alike
from gradstudio.engine.value.tensor_summary import dtype_name, outline, summarise
from gradstudio.engine.value.value_records import DEVICES, device_name, record_of, serial_of, tensor_record
from gradstudio.engine.value.view_state import is_nodeless_view
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import LeafState, ModeState, Row
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.messages.records import Summary, TensorRecord

Outputs = tuple[object, ...]
AT_ONCE, AT_ONCE_BYTES = 16, 1 << 20
"""So many small values are told, and no larger one, before Stop is asked for."""
_STRIDED = torch.strided
_PLAIN = frozenset({Tensor, Parameter})


class Pending(Struct, eq=False):
    """A statement that ran and is not told yet.

    Attributes:
        seconds: it took; `at_s` when it was over; `allocated` by accelerators then.
        inputs: who bound its operands; `needs`: one of them requires grad.
        block: around it, that switches gradients off; `call` what its wires brought in.
        summary: of its one result, where it was summarised with those of others.
        writes: leaves and buffers that it wrote into, other than its results; `modes` modules that it switched.
        has_met: it did something together with other ranks.
        caught_up: it ran in a turn without a record, and what it gave is told behind that.
    """

    step: Step
    outputs: Outputs
    turns: tuple[int, ...]
    seconds: float
    pass_number: int
    at_s: float
    allocated: tuple[int, ...]
    needs: bool = False
    inputs: tuple[Binding | None, ...] = ()
    block: ItemId | None = None
    call: Call | None = None
    made_bytes: int = 0
    alive_bytes: int = 0
    summary: Summary | None = None
    writes: tuple[LeafWrite, ...] = ()
    modes: tuple[ModeState, ...] = ()
    has_met: bool = False
    caught_up: bool = False


class Telling(NamedTuple):
    """What the runner lends: where a statement's row waits, and how they are sent."""

    enqueue: Callable[[Pending], None]
    flush: Callable[[], None]
    waiting: Callable[[], int]
    """How many statements have run that `Live.step_count` does not count yet."""


class Rows:
    """Makes rows; those of nodes that are not in view are only outlined.

    Attributes:
        visible: nodes whose values are summarised at once; None: all.
        later: what was only outlined, with its step.
        max_values: exact values are told up to so many elements.
    """

    def __init__(self, stopped: Callable[[], bool], memory: LiveBytes) -> None:
        """Storages are counted in `memory`; once `stopped` says so, rows are only outlined."""
        self._stopped, self._memory = stopped, memory
        self.visible: frozenset[ItemId] | None = None
        self.later: list[tuple[int, Pending]] = []
        self.max_values = 64

    def summarise(self, entries: list[Pending]) -> None:
        """Summarise what several statements gave, those in view, as far as it goes together."""
        if self._stopped():
            return
        visible, shown, tensors = self.visible, list[Pending](), list[Tensor]()
        for entry in entries:
            if len(entry.outputs) == 1 and (visible is None or entry.step.id in visible):
                output = entry.outputs[0]
                if isinstance(output, Tensor):
                    shown.append(entry)
                    tensors.append(output)
        for entry, summary in zip(shown, summarise_alike(tensors, self.max_values), strict=True):
            entry.summary = summary

    def first(self, live: Live, entry: Pending) -> Row:
        """The row of a statement that was not told yet, in the order they ran."""
        step, outputs = entry.step, entry.outputs
        if len(outputs) == 1 and not (entry.writes or entry.modes or entry.has_met or step.statement.writes):
            tensor = outputs[0]
            if (
                isinstance(tensor, Tensor)
                and tensor.__class__ in _PLAIN
                and tensor.layout is _STRIDED
                and tensor.is_cpu
                and not (tensor.is_nested or tensor.is_inference())
            ):
                try:
                    nodeless = tensor._is_view() and is_nodeless_view(tensor)
                    grad_fn = None if nodeless else tensor.grad_fn
                except RuntimeError:
                    nodeless = True
                if not nodeless:
                    return self._of_tensor(live, entry, tensor, grad_fn)
        return self._of_any(live, entry)

    def complete(self, live: Live, entry: Pending, number: int) -> Row:
        """Told again, with every summary."""
        return self._told(live, entry, number, light=False)

    def _of_tensor(self, live: Live, entry: Pending, tensor: Tensor, grad_fn: Node | None) -> Row:
        """The common case, with nothing asked twice: a dense tensor on the CPU."""
        node = entry.step.id
        turns = entry.turns
        memory = self._memory
        visible = self.visible
        number = live.step_count = live.step_count + 1
        memory.begin_step(number)
        requires, version, device = tensor.requires_grad, tensor._version, tensor.device
        value = live.gradients.note(entry.step.key, tensor, turns, requires, grad_fn, version, entry.call)
        if not requires:
            value.cut = self._cut(live, entry, tensor)
        elif grad_fn is not None:
            value.has_row = True
            value.telling = live.gradients.telling
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        entry.made_bytes = memory.see_storage(storage, size, "cpu", node, number)
        entry.alive_bytes = memory.total
        may_wait = size > AT_ONCE_BYTES or not number % AT_ONCE
        light = (visible is not None and node not in visible) or (may_wait and self._stopped())
        if light:
            self.later.append((number, entry))
        summary = outline(tensor) if light else entry.summary or summarise(tensor, self.max_values)
        record = TensorRecord(
            device=DEVICES.get(device) or device_name(device), summary=summary,
            stride=tensor.stride(), requires_grad=requires, is_leaf=grad_fn is None,
            grad_fn=None if grad_fn is None else type(grad_fn).__name__, version=version,
            contiguous=tensor.is_contiguous(), size_bytes=size, storage=serial_of(storage),
        )  # fmt: skip
        row = Row(
            step=number, node=node, outputs=(record,), turns=turns, pass_number=entry.pass_number,
            seconds=entry.seconds, at_s=entry.at_s, made_bytes=entry.made_bytes, alive_bytes=entry.alive_bytes,
            complete=not light, caught_up=entry.caught_up,
        )  # fmt: skip
        live.record(row)
        return row

    def _of_any(self, live: Live, entry: Pending) -> Row:
        step, outputs, memory = entry.step, entry.outputs, self._memory
        number = live.step_count = live.step_count + 1
        memory.begin_step(number)
        live.gradients.made(
            step.id, entry.turns, outputs, lambda tensor: self._cut(live, entry, tensor), call=entry.call
        )
        for place, output in enumerate(outputs):
            if isinstance(output, Module):
                live.modules.made((step.id, place), output)
        if entry.call is not None and step.statement.writes:
            live.gradients.written(outputs, entry.call)
        entry.made_bytes = sum([memory.see_all(output, step.id, number) for output in outputs])
        entry.alive_bytes = alive_bytes(outputs, memory, entry.allocated)
        hidden = self.visible is not None and step.id not in self.visible
        light = bool(outputs or entry.writes) and (hidden or self._stopped())  # Stop is answered before what may wait
        if light:
            self.later.append((number, entry))
        return self._told(live, entry, number, light)

    def _told(self, live: Live, entry: Pending, number: int, light: bool) -> Row:
        row = Row(
            step=number,
            node=entry.step.id,
            outputs=tuple([record_of(output, self.max_values, light=light) for output in entry.outputs]),
            turns=entry.turns,
            pass_number=entry.pass_number,
            seconds=entry.seconds,
            at_s=entry.at_s,
            made_bytes=entry.made_bytes,
            alive_bytes=entry.alive_bytes,
            complete=not light,
            writes=self._leaf_states(entry, light) if entry.writes else (),
            modes=entry.modes,
            came=_came(entry) if entry.has_met else None,
            caught_up=entry.caught_up,
        )
        last = live.last_rows.get(row.node)
        if last is None or last.step <= number:
            live.record(row)
        return row

    def _leaf_states(self, entry: Pending, light: bool) -> tuple[LeafState, ...]:
        """The leaves and buffers that a statement wrote into, as they stand behind it."""
        records = [(storage, tensor_record(tensor, self.max_values, light=light)) for tensor, storage in entry.writes]
        return tuple([LeafState(storage, record) for storage, record in records if isinstance(record, TensorRecord)])

    def _cut(self, live: Live, entry: Pending, tensor: Tensor) -> Cut | None:
        if entry.needs:
            operator = entry.step.statement.operator
            differentiable = tensor.is_floating_point() or tensor.is_complex()
            return cut_here(entry.step.id, operator, entry.block, dtype_name(tensor.dtype), differentiable)
        for binding in entry.inputs:
            value = live.gradients.values.get((*binding, "")) if binding is not None else None
            if value is not None and value.cut is not None:
                return inherit_cut(value.cut)
        return None


def _came(entry: Pending) -> Range | None:
    """When this rank came to a statement at which all meet."""
    if Here.rank is None:
        return None
    at_s = max(entry.at_s - entry.seconds, 0.0)
    return Range(at_s, Here.rank, at_s, Here.rank)
