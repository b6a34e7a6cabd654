"""Modules as they stand now: training, initialisers and batch norms write to them after they were made."""

from collections.abc import Iterator

from torch import nn

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.value.value_records import record_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import ModuleNow
from gradstudio.protocol.messages.records import ModuleRecord


def modules_now(live: Live, max_values: int, visible: frozenset[ItemId] | None) -> tuple[ModuleNow, ...]:
    """The modules in view that something wrote to since they were recorded; call it outside the program's modes."""
    return tuple(_changed(live, max_values, visible))


def _changed(live: Live, max_values: int, visible: frozenset[ItemId] | None) -> Iterator[ModuleNow]:
    for name, (node, index) in live.binder.items():
        module = live.namespace.get(name)
        if not isinstance(module, nn.Module) or (visible is not None and node not in visible):
            continue
        row = live.last_rows.get(node)
        before = row.outputs[index] if row is not None and index < len(row.outputs) else None
        if row is None or not isinstance(before, ModuleRecord) or not _differs(module, before):
            continue
        now = record_of(module, max_values)
        if isinstance(now, ModuleRecord):
            yield ModuleNow(node=node, step=row.step, record=now)


def _differs(module: nn.Module, before: ModuleRecord) -> bool:
    """Whether its mode, what learns of it, or a version of its leaves is another."""
    known = before.parameters | before.buffers
    leaves = (*module.named_parameters(), *module.named_buffers())
    if module.training != before.training or len(leaves) != len(known):
        return True
    return any(
        (record := known.get(name)) is None
        or record.requires_grad != leaf.requires_grad
        or (not leaf.is_inference() and record.version != leaf._version)
        for name, leaf in leaves
    )
