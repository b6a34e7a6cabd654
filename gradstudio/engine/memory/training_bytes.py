"""What training holds beside the results of statements: `.grad` of leaves, and the state of optimizers."""

import time
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor
from torch.optim import Optimizer

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.memory.memory_sampler import LiveBytes

Storages = dict[int, int]
"""Bytes of storages, by torch's address of each."""
PATIENCE = 100
"""So many times as long as a count took, none follows it within a run."""
_COMPRESSED_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_COMPRESSED_COLUMNS = (torch.sparse_csc, torch.sparse_bsc)


class TrainingBytes:
    """Bytes on the CPU for the memory plot, each storage once: a `.grad` that a statement gave is no tensor beside it.

    A sample asks; the program's own thread counts where it sends rows anyway, and when a verb is over. Another thread
    could read a `.grad` that autograd is about to replace.
    """

    def __init__(self, seen: LiveBytes) -> None:
        """Nothing is held."""
        self._seen = seen
        self._is_followed = self._asked = self._has_trained = False
        self._gradients = self._named = self._states = self._shown_twice = 0
        self._rests_until = 0.0

    def series(self, live: Live | None) -> dict[str, int]:
        """What was counted last, by the names of the plot's series; the next count is asked for."""
        self._is_followed = self._asked = True
        recorded = live.gradients.kept.grad_bytes if live is not None else 0
        tensors = max(self._seen.total - self._named, 0)
        kept = {"tensors": tensors, "kept": max(recorded - self._shown_twice, 0)}
        return {**kept, "gradients": self._gradients, "optimizer": self._states} if self._has_trained else kept

    def count_if_asked(self, live: Live) -> None:
        """Count, if a sample was sent since the last time and that took little of the time since."""
        if self._asked and time.perf_counter() >= self._rests_until:
            self._count(live)

    def conclude(self, live: Live) -> None:
        """A verb is over: what it left is what the next samples show."""
        if self._is_followed:
            self._count(live)

    def clear(self) -> None:
        """Nothing is live any more."""
        self._gradients = self._named = self._states = self._shown_twice = 0

    def _count(self, live: Live) -> None:
        began, self._asked = time.perf_counter(), False
        with clean_modes():
            grads = [leaf.tensor.grad for leaf in live.gradients.leaves.values() if leaf.tensor.grad is not None]
            gradients, unnamed = _storages(grads), self._unseen(grads)
            optimizers = {id(one): one for held in _namespaces(live) for one in optimizers_of(held)}.values()
            states = self._unseen(tensor for one in optimizers for tensor in state_tensors(one))
            recorded = [value.grad for value in live.gradients.values.values()]
            shown = self._unseen(grad for grad in recorded if grad is not None)
        self._gradients = sum(gradients.values())
        self._named = self._gradients - sum(unnamed.values())
        self._states = sum(size for key, size in states.items() if key not in gradients)
        only_shown = sum(size for key, size in shown.items() if key not in gradients)
        self._shown_twice = live.gradients.kept.grad_bytes - only_shown
        self._has_trained |= bool(gradients or states)
        ended = time.perf_counter()
        self._rests_until = ended + PATIENCE * (ended - began)

    def _unseen(self, tensors: Iterable[Tensor]) -> Storages:
        return _storages(part for tensor in tensors for part in dense_parts(tensor) if self._seen.of(part) is None)


def _storages(tensors: Iterable[Tensor]) -> Storages:
    found: Storages = {}
    for tensor in tensors:
        for part in dense_parts(tensor):
            if part.is_cpu:
                add_storage(found, part)
    return found


def dense_parts(tensor: Tensor) -> tuple[Tensor, ...]:
    """The tensors with a storage that hold its elements: itself, or of a sparse one indices and values."""
    layout = tensor.layout
    if tensor.is_meta or tensor.is_nested:
        return ()
    if layout is torch.strided:
        return (tensor,)
    if layout is torch.sparse_coo:
        return (tensor._indices(), tensor._values())
    if layout in _COMPRESSED_ROWS:
        return (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    if layout in _COMPRESSED_COLUMNS:
        return (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    return ()


def add_storage(storages: Storages, part: Tensor) -> None:
    """Count the storage of a dense tensor."""
    storage = part.untyped_storage()
    storages[storage._cdata] = storage.nbytes()


def optimizers_of(value: object) -> Iterator[Optimizer]:
    """The optimizers that a value is, or holds in lists and dicts."""
    return (one for one in _within(value) if isinstance(one, Optimizer))


def state_tensors(optimizer: Optimizer) -> Iterator[Tensor]:
    """What it keeps of its own: moments, buffers, counts of steps."""
    return (one for one in _within(dict(optimizer.state)) if isinstance(one, Tensor))


def _within(value: object) -> Iterator[object]:
    known: set[int] = set()
    todo: list[object] = [value]
    while todo:
        one = todo.pop()
        if not isinstance(one, dict | list | tuple):
            yield one
        elif id(one) not in known:
            known.add(id(one))
            todo += one.values() if isinstance(one, dict) else one


def _namespaces(live: Live) -> list[dict[str, object]]:
    """The program's names, and those inside the calls that are being carried out."""
    inside = [live.inside.namespace] if live.inside is not None else []
    return [live.namespace, *inside, *(call.around.namespace for call in live.calls)]
