"""What a recorded step made: its values until they are summarised, and what is known of their gradients.

Tensors are held, and summarised when the step is over, or before something writes into one that is held. Ids are
provisional here: the canvas's are known when the drawing is made (`canvas_mapping`).
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from torch import Tensor, nn

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.gradient_states import cut_here, inherit_cut
from gradstudio.engine.gradient.leaf_writes import LeafWrite
from gradstudio.engine.gradient.tensor_watch import Cut
from gradstudio.engine.gradient.wire_edges import Call, Source, WireEdge, edge_of
from gradstudio.engine.value.lazy_modules import tensors_of
from gradstudio.engine.value.tensor_summary import dtype_name, figures_shared
from gradstudio.engine.value.value_records import record_of, tensor_record
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Gradients as GradientsTold
from gradstudio.protocol.messages.events import LeafState, Row, ValueNow
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord

MAX_VALUES = 64
"""Exact values are told up to so many elements, as in a run."""
NOWHERE: Source = (ItemId(""), 0)
Told = Row | BackwardTraced | GradientsTold


class HeldRow(Struct, eq=False):
    """A row whose values are held until they are summarised."""

    number: int
    node: ItemId
    outputs: tuple[Any, ...]
    versions: tuple[int | None, ...]
    writes: tuple[LeafWrite, ...] = ()
    seconds: float = 0.0
    at_s: float = 0.0
    told: Row | None = None


class StepValues:
    """The values of one step, in the order they were made.

    Attributes:
        gradients: of all of them.
        sources: by identity of a tensor, who gave it last.
        overwritten: how many values were written into before they were summarised.
    """

    def __init__(self) -> None:
        """None yet."""
        self.gradients = Gradients(lambda: 1 << 62, MAX_VALUES)
        self.sources: dict[int, Source] = {}
        self.overwritten = 0
        self._log: list[HeldRow | BackwardTraced | GradientsTold] = []
        self._waiting: list[HeldRow] = []
        self._modules: list[tuple[ItemId, nn.Module, HeldRow]] = []
        self._leaves: list[tuple[ItemId, Tensor, HeldRow]] = []
        self._kept: list[Any] = []
        self._numbers = 0

    # ------------------------------------------------------------------ what is made

    def meet(self, node: ItemId, value: nn.Module | Tensor, at_once: bool = False) -> None:
        """A layer, a leaf or a constant is used that was there before the step."""
        row = self._hold(node, (value,), at_once=at_once)
        self.gradients.made(node, (), (value,), lambda _: None)
        if isinstance(value, nn.Module):
            self._modules.append((node, value, row))
            for tensor in tensors_of(value):
                self.sources.setdefault(id(tensor), NOWHERE)
        else:
            self.sources[id(value)] = (node, 0)
            self._leaves.append((node, value, row))

    def show(self, node: ItemId, value: object) -> None:
        """Something is used that has no gradient: an optimizer."""
        self._hold(node, (value,))

    def source_of(self, tensor: Tensor) -> Source | None:
        """Who gave a tensor last."""
        return self.sources.get(id(tensor))

    def call_of(self, node: ItemId, tensors: Sequence[Tensor]) -> Call | None:
        """What goes into a call that is about to run; None when nothing of it requires grad."""
        edges: list[WireEdge] = []
        for place, tensor in enumerate(tensors):
            if tensor.requires_grad:
                edges.append(edge_of(str(place), self.sources.get(id(tensor), NOWHERE), tensor))
        return Call(node, (), tuple(edges)) if edges else None

    def made(
        self,
        node: ItemId,
        outputs: tuple[Any, ...],
        given: Sequence[Tensor],
        call: Call | None,
        name: str,
        since: float,
    ) -> None:
        """A call has given something; `since` is when it began, by `perf_counter`."""
        ended = time.perf_counter()
        if call is not None:
            call.settle()
        row = self._hold(node, outputs, seconds=ended - since)
        origins = [self.sources.get(id(tensor), NOWHERE) for tensor in given]
        self.gradients.made(node, (), outputs, lambda tensor: self._cut(node, name, tensor, call, origins), call=call)
        if call is not None and any(output is tensor for output in outputs for tensor in given):
            self.gradients.written(outputs, call)
        for place, output in enumerate(outputs):
            if isinstance(output, Tensor):
                self.sources[id(output)] = (node, place)
        row.at_s = time.monotonic()

    def effect(self, node: ItemId, since: float, writes: tuple[LeafWrite, ...] = ()) -> None:
        """A statement has run that gives nothing: a backward, an optimizer's step."""
        row = self._hold(node, (), writes=writes, seconds=time.perf_counter() - since)
        row.at_s = time.monotonic()

    def traced(self, backward: BackwardTraced) -> None:
        """A backward was recorded."""
        self._log.append(backward)

    def look_at_leaves(self) -> None:
        """Tell of leaves whose `.grad` is another than when it was last looked at."""
        with clean_modes():
            changed = self.gradients.observe()
            if changed:
                rows = self.gradients.rows_of(changed)
                self._log.append(GradientsTold(revision=0, rows=rows, whole=False))

    # ------------------------------------------------------------------ what is told

    def flush(self) -> None:
        """Summarise what is held."""
        waiting, self._waiting = self._waiting, []
        with clean_modes(), figures_shared():
            for row in waiting:
                self._tell(row)

    def told(self) -> list[Told]:
        """All of it in order, and the gradients as they stand now."""
        with figures_shared():
            return self._told()

    def _told(self) -> list[Told]:
        self.flush()
        found: list[Told] = []
        for one in self._log:
            if not isinstance(one, HeldRow):
                found.append(one)
            elif one.told is not None:
                found.append(one.told)
        with clean_modes():
            now = tuple(self._values_now())
            found.append(GradientsTold(revision=0, rows=self.gradients.rows(), written=now))
        return found

    def _hold(
        self,
        node: ItemId,
        outputs: tuple[Any, ...],
        writes: tuple[LeafWrite, ...] = (),
        seconds: float = 0.0,
        *,
        at_once: bool = False,
    ) -> HeldRow:
        versions = tuple([_version(output) if isinstance(output, Tensor) else None for output in outputs])
        self._numbers += 1
        row = HeldRow(self._numbers, node, outputs, versions, writes, seconds)
        self._log.append(row)
        self._kept.append(outputs)  # an identity is one only while its tensor is there
        if at_once:
            with clean_modes():
                self._tell(row)
        else:
            self._waiting.append(row)
        return row

    def _tell(self, row: HeldRow) -> None:
        states = [
            LeafState(write.storage, record)
            for write in row.writes
            if isinstance(record := tensor_record(write.tensor, MAX_VALUES), TensorRecord)
        ]
        row.told = Row(
            step=row.number,
            node=row.node,
            outputs=tuple(map(self._record, row.outputs, row.versions)),
            seconds=row.seconds,
            at_s=row.at_s,
            writes=tuple(states),
        )
        row.outputs, row.writes = (), ()

    def _record(self, output: Any, version: int | None) -> Record:
        """Of a value that was written into unseen only what no write changes."""
        is_other = isinstance(output, Tensor) and version != _version(output)
        self.overwritten += is_other
        return record_of(output, MAX_VALUES, light=is_other)

    def _values_now(self) -> Iterable[ValueNow]:
        """Modules and leaves that were written into since they were met."""
        for node, module, row in self._modules:
            now = record_of(module, MAX_VALUES) if row.told is not None and _was_trained(module, row.told) else None
            if isinstance(now, ModuleRecord) and row.told is not None:
                yield ValueNow(node=node, step=row.told.step, record=now)
        for node, tensor, row in self._leaves:
            before = row.told.outputs[0] if row.told is not None else None
            if isinstance(before, TensorRecord) and tensor.requires_grad and before.version != _version(tensor):
                now = record_of(tensor, MAX_VALUES)
                if isinstance(now, TensorRecord) and row.told is not None:
                    yield ValueNow(node=node, step=row.told.step, record=now)

    def _cut(self, node: ItemId, name: str, tensor: Tensor, call: Call | None, origins: list[Source]) -> Cut | None:
        if call is not None:
            differentiable = tensor.is_floating_point() or tensor.is_complex()
            return cut_here(node, name, None, dtype_name(tensor.dtype), differentiable)
        for source, output in origins:
            value = self.gradients.values.get((source, output, ""))
            if value is not None and value.cut is not None:
                return inherit_cut(value.cut)
        return None


def _version(tensor: Tensor) -> int | None:
    return None if tensor.is_inference() else tensor._version


def _was_trained(module: nn.Module, before: Row) -> bool:
    record = before.outputs[0]
    if not isinstance(record, ModuleRecord):
        return False
    known = record.parameters | record.buffers
    return any(
        name in known and known[name].version != _version(tensor)
        for name, tensor in (*module.named_parameters(), *module.named_buffers())
    )
