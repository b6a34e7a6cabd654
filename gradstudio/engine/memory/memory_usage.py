"""What each node holds now: alive for the program, saved for a backward, `.grad`, optimizer state, or kept for showing.

"Alive" is decided by reachability when asked: a storage that the program's names reach, or the graph behind them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.graph import Node

from gradstudio.engine.backward.saved_tensors import saved_tensors
from gradstudio.engine.gradient.wire_edges import MARK, Marks
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.memory.memory_sampler import LiveBytes
from gradstudio.engine.memory.training_bytes import Storages, add_storage, dense_parts, optimizers_of, state_tensors
from gradstudio.engine.value.lazy_modules import tensors_of
from gradstudio.engine.value.value_records import device_name
from gradstudio.engine.value.view_state import grad_fn_of, is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory

NOBODY = ItemId("")


def memory_by_node(live: Live | None, seen: LiveBytes) -> MemoryByNode:
    """What the nodes of the live state hold; call it outside the program's modes.

    A node's `freed_step` is the statement behind which the last storage of its results was let go: by torch, or (while
    it is still kept for showing) by the program's names and the graph, as the records of the run tell it.
    """
    if live is None:
        return MemoryByNode(revision=0)
    return _Scale(live, seen).weighed()


class _Holding:
    """Storages that a set of tensors and the graph behind them hold."""

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        self.named: Storages = {}
        self.saved: dict[ItemId, Storages] = defaultdict(dict)
        self.leaves: dict[int, Tensor] = {}
        self._walked: set[Node] = set()
        todo: list[tuple[Node, ItemId]] = []
        for tensor in tensors:
            self._hold(tensor)
            node = grad_fn_of(tensor)
            if node is not None:
                todo.append((node, NOBODY))
        while todo:
            self._visit(todo, *todo.pop())

    @property
    def all(self) -> Storages:
        """Those of both kinds."""
        return {**self.named, **_union(self.saved.values())}

    @property
    def grads(self) -> list[tuple[Tensor, Tensor]]:
        """Each leaf with its `.grad`."""
        return [(leaf, leaf.grad) for leaf in self.leaves.values() if leaf.grad is not None]

    def _visit(self, todo: list[tuple[Node, ItemId]], node: Node, user: ItemId) -> None:
        if node in self._walked:
            return
        self._walked.add(node)
        owner = _owner(node) or user
        variable = getattr(node, "variable", None)
        if isinstance(variable, Tensor):
            self._hold(variable)
        for _, tensor in saved_tensors(node):
            _add(self.saved[owner], tensor)
        todo += [(after, owner) for after, _ in node.next_functions if after is not None]

    def _hold(self, tensor: Tensor) -> None:
        _add(self.named, tensor)
        if is_leaf(tensor):
            self.leaves[id(tensor)] = tensor


class _Scale:
    """One weighing."""

    def __init__(self, live: Live, seen: LiveBytes) -> None:
        self._live, self._seen = live, seen
        for name, (node, _) in live.binder.items():
            seen.see_all(live.namespace.get(name), node, 0)  # what a run without trace has bound
        values = list(live.gradients.values.values())
        self._program = _Holding(_reachable(live.namespace))
        self._shown = _Holding(value.tensor for value in values if value.tensor is not None)
        self._steps: dict[ItemId, list[int]] = defaultdict(list)
        for row in live.rows.values():
            self._steps[row.node].append(row.step)
        self._recorded = [(value.key[0], value.grad) for value in values if value.grad is not None]

    def weighed(self) -> MemoryByNode:
        """The answer."""
        alive, saved = self._alive(), self._program.saved
        grads, states = self._grads(), self._states()
        named, of_leaves, of_optimizers = (_union(some.values()) for some in (alive, grads, states))
        kept = self._kept({**self._program.all, **of_leaves})
        nodes = {*alive, *saved, *grads, *states, *kept, *self._seen.freed, *self._live.executed} - {NOBODY}
        rows = [
            NodeMemory(
                node=node, device=self._devices.get(node, "cpu"), alive_bytes=_sum(alive.get(node)),
                saved_bytes=_sum(saved.get(node)), kept_bytes=_sum(kept.get(node)), grad_bytes=_sum(grads.get(node)),
                state_bytes=_sum(states.get(node)),
                freed_step=0 if alive.get(node) else self._freed_step(node),
            )
            for node in self._in_order(nodes)
        ]  # fmt: skip
        return MemoryByNode(
            revision=self._live.loaded.revision, rows=tuple(row for row in rows if _tells(row)),
            alive_bytes=_sum(named), saved_bytes=_sum(_union(saved.values())),
            kept_bytes=_sum(_union(kept.values())), grad_bytes=_sum(_without(of_leaves, named)),
            state_bytes=_sum(_without(of_optimizers, {**named, **of_leaves})),
        )  # fmt: skip

    def _alive(self) -> dict[ItemId, Storages]:
        """By the node whose results brought them into being."""
        found: dict[ItemId, Storages] = defaultdict(dict)
        self._devices: dict[ItemId, str] = {}
        held = self._program.all
        for key, known in self._seen.storages():
            self._devices.setdefault(known.node, known.device)
            if key in held:
                found[known.node][key] = known.size_bytes
        return found

    def _grads(self) -> dict[ItemId, Storages]:
        found: dict[ItemId, Storages] = defaultdict(dict)
        for leaf, grad in self._program.grads:
            known = self._seen.of(leaf)
            _add(found[known.node if known is not None else NOBODY], grad)
        return found

    def _states(self) -> dict[ItemId, Storages]:
        """By the node that made the optimizer."""
        found: dict[ItemId, Storages] = defaultdict(dict)
        for name, (node, _) in self._live.binder.items():
            for optimizer in optimizers_of(self._live.namespace.get(name)):
                for tensor in state_tensors(optimizer):
                    self._devices.setdefault(node, device_name(tensor.device))
                    _add(found[node], tensor)
        return found

    def _kept(self, others: Storages) -> dict[ItemId, Storages]:
        """What nobody but the records holds: values let go, graphs behind them, recorded gradients."""
        found: dict[ItemId, Storages] = defaultdict(dict)
        for node, grad in self._recorded:
            _add(found[node], grad)
        for owner, storages in self._shown.saved.items():
            found[owner].update(storages)
        creators = {key: known.node for key, known in self._seen.storages()}
        for key, size in self._shown.named.items():
            found[creators.get(key, NOBODY)][key] = size
        return {node: _without(some, others) for node, some in found.items()}

    def _freed_step(self, node: ItemId) -> int:
        """Behind which statement the node's results were let go; 0 when it made none, or they cannot be told."""
        last = self._live.last_rows.get(node)
        if last is None or last.made_bytes == 0:
            return 0
        if node in self._seen.freed:
            return max(self._seen.freed[node], last.step)
        return max(self._unbound_step(node, last.step), self._released_step(node, last.step)) or self._live.step_count

    def _unbound_step(self, node: ItemId, since: int) -> int:
        """The statement that dropped the part, or bound its names again."""
        live = self._live
        names = set(live.executed[node].statement.names) if node in live.executed else set()
        steps = [
            number
            for other, step in live.executed.items()
            if names.intersection((*step.statement.drops, *step.statement.names))
            for number in self._steps[other]
            if number > since
        ]
        return min(steps, default=0)

    def _released_step(self, node: ItemId, since: int) -> int:
        """The backward that released it, if autograd had saved it."""
        backwards = [
            row.step
            for step in self._live.loaded.backwards
            if (row := self._live.last_rows.get(step.id)) is not None and row.step > since
        ]
        was_saved = any(saved.node == node for row in self._live.autograd_rows for saved in row.saved)
        return max(backwards, default=0) if was_saved else 0

    def _in_order(self, nodes: set[ItemId]) -> list[ItemId]:
        known = [step.id for step in self._live.loaded.steps if step.id in nodes]
        return [*known, *sorted(nodes.difference(known))]


def _reachable(namespace: dict[str, Any]) -> Iterator[Tensor]:
    """Tensors that names hold: in lists, modules, optimizers and their state too."""
    known: set[int] = set()
    todo: list[object] = list(namespace.values())
    while todo:
        value = todo.pop()
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple | dict | nn.Module | torch.optim.Optimizer) and id(value) not in known:
            known.add(id(value))
            todo += _inside(value)


def _inside(value: object) -> list[object]:
    if isinstance(value, nn.Module):
        return [*tensors_of(value)]
    if isinstance(value, torch.optim.Optimizer):
        return [*value.state.values(), *(group["params"] for group in value.param_groups)]
    if isinstance(value, dict):
        return [item for item in value.values() if not isinstance(item, str | int | float | np.ndarray)]
    return list(value) if isinstance(value, list | tuple) else []


def _owner(node: Node) -> ItemId:
    """The canvas node an autograd node belongs to; "" when nothing is noted at it."""
    marks: Marks | None = node.metadata.get(MARK)  # type: ignore[attr-defined]  # a dict, typed as a method by torch
    if marks is None:
        return NOBODY
    if marks.call is not None:
        return marks.call.node
    if marks.values:
        return marks.values[0][0][0]
    return marks.owner[0] if marks.owner is not None else NOBODY


def _add(storages: Storages, tensor: Tensor) -> None:
    for part in dense_parts(tensor):
        add_storage(storages, part)


def _union(several: Iterable[Storages]) -> Storages:
    return {key: size for storages in several for key, size in storages.items()}


def _without(storages: Storages, others: Storages) -> Storages:
    return {key: size for key, size in storages.items() if key not in others}


def _sum(storages: Storages | None) -> int:
    return sum(storages.values()) if storages else 0


def _tells(row: NodeMemory) -> bool:
    held = (row.alive_bytes, row.saved_bytes, row.kept_bytes, row.grad_bytes, row.state_bytes)
    return any(held) or bool(row.freed_step)
