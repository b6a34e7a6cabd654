"""Modules, tensors, optimizers and lists as they stand now: training, averages and persons write to them since."""

from collections.abc import Iterator, Sequence

from torch import Tensor, nn
from torch.optim import Optimizer

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.value.tensor_shards import distributed
from gradstudio.engine.value.value_records import record_of
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import ValueNow
from gradstudio.protocol.messages.records import ModuleRecord, OptimizerRecord, Record, TensorRecord, TupleRecord

NOBODY = (ItemId(""), 0)
_WATCHED = (Tensor, nn.Module)
_PLAIN = (bool, int, float, complex, str)


def values_now(live: Live, max_values: int, visible: frozenset[ItemId] | None) -> tuple[ValueNow, ...]:
    """The modules, tensors and lists in view that something wrote to since they were recorded.

    Where a person has changed numbers in the middle of the run, all optimizers too.

    Call it outside the program's modes.
    """
    numbers = _optimizers(live) if live.changed_by_hand else ()
    return (*_changed(live, max_values, visible), *_grown_lists(live, max_values, visible), *numbers)


def _changed(live: Live, max_values: int, visible: frozenset[ItemId] | None) -> Iterator[ValueNow]:
    places = live.gradients.places_of_leaves() | live.modules.places.keys()
    get = live.namespace.get
    for name, place in list(live.binder.items()):
        value = get(name)
        if not isinstance(value, _WATCHED):
            continue
        if place not in places and (isinstance(value, nn.Module) or value.requires_grad):
            continue
        node, index = place
        if visible is not None and node not in visible:
            continue
        row = live.last_rows.get(node)
        before = row.outputs[index] if row is not None and index < len(row.outputs) else None
        if row is None or before is None or not _differs(value, before):
            continue
        now = record_of(value, max_values)
        if isinstance(now, ModuleRecord | TensorRecord):
            yield ValueNow(node=node, step=row.step, record=now, output=index)


def _grown_lists(live: Live, max_values: int, visible: frozenset[ItemId] | None) -> Iterator[ValueNow]:
    """Lists that have other items than when they were made: what a loop appends to one is in no row of its own."""
    lists = [(name, value) for name, value in live.namespace.items() if isinstance(value, list)]
    for name, value in lists:
        node, index = live.binder.get(name, NOBODY)
        if visible is not None and node not in visible:
            continue
        row = live.last_rows.get(node)
        before = row.outputs[index] if row is not None and index < len(row.outputs) else None
        if row is None or not isinstance(before, TupleRecord) or not _has_other_items(value, before):
            continue
        now = record_of(value, max_values)
        if isinstance(now, TupleRecord):
            yield ValueNow(node=node, step=row.step, record=now, output=index)


def _has_other_items(items: Sequence[object], before: TupleRecord) -> bool:
    """Whether there are more or fewer, or other plain ones; what else is among them is told by rows of its own."""
    if len(items) != before.length:
        return True
    pairs = zip(items, before.items, strict=False)
    return any(record_of(item, 0) != known for item, known in pairs if item is None or isinstance(item, _PLAIN))


def _optimizers(live: Live) -> Iterator[ValueNow]:
    """All optimizers that a row told of, as they stand."""
    for name, (node, index) in live.binder.items():
        value, row = live.namespace.get(name), live.last_rows.get(node)
        if not isinstance(value, Optimizer) or row is None or index >= len(row.outputs):
            continue
        now = record_of(value, 0)
        if isinstance(now, OptimizerRecord) and isinstance(row.outputs[index], OptimizerRecord):
            yield ValueNow(node=node, step=row.step, record=now, output=index)


def _differs(value: nn.Module | Tensor, before: Record) -> bool:
    if isinstance(value, nn.Module):
        return isinstance(before, ModuleRecord) and _is_other_module(value, before)
    return isinstance(before, TensorRecord) and _is_other_tensor(value, before)


def _is_other_tensor(tensor: Tensor, before: TensorRecord) -> bool:
    """Whether a leaf was trained, or a value without a gradient written into, an average or a count.

    What is written into a value within a graph makes a value of its own (semantics §8).
    """
    if tensor.is_inference() or not is_leaf(tensor) or not before.is_leaf:
        return False
    return before.requires_grad == tensor.requires_grad and before.version != tensor._version


def _is_other_module(module: nn.Module, before: ModuleRecord) -> bool:
    """Whether its mode, what learns of it, or a version of its leaves is another."""
    known = before.parameters | before.buffers
    leaves = (*module.named_parameters(), *module.named_buffers())
    if module.training != before.training or len(leaves) != len(known):
        return True
    return any(
        (record := known.get(name)) is None
        or record.requires_grad != leaf.requires_grad
        or (record.summary.shard is None) != (distributed(leaf) is None)
        or (not leaf.is_inference() and record.version != leaf._version)
        for name, leaf in leaves
    )
