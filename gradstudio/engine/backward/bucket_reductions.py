"""The all-reduces of DistributedDataParallel in one backward, bucket by bucket.

Nothing stands between torch's reducer and what it reduces, so gradients are what they are without us. It is looked at
from both sides: a leaf's gradient is copied as soon as it is there, before the reducer has it; the reducer's own times
say whether it reduced, and its buckets what it did together; the means are in `.grad` when the backward is over.
"""

import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.graph.model import ItemId

HELD_ELEMENTS = 1 << 24
"""Elements of gradients of this rank that are held in one backward; of what is more only the mean is told."""


class Bucket(Struct, eq=False):
    """One bucket.

    Attributes:
        model: whose; `parameters` of it.
        local: their gradients on this rank, copies; () where there were too many.
        came_s: monotonic seconds when they were there; `done_s` when the backward, which waits for all means, was over.
    """

    model: nn.Module
    index: int
    ranks: int
    parameters: tuple[Tensor, ...]
    local: tuple[Tensor, ...]
    came_s: float
    done_s: float


class Replicas:
    """The models of DistributedDataParallel in this process, if it is one of several ranks."""

    def __init__(self) -> None:
        """None is known."""
        self._models: list[weakref.ref[DistributedDataParallel]] = []

    def see(self) -> None:
        """Know each that is made from now on."""
        register_module_module_registration_hook(self._on_module_registered)

    def models(self) -> list[DistributedDataParallel]:
        """Those that are there, in the order in which they were made: the same on all ranks."""
        self._models = [one for one in self._models if one() is not None]
        found = [one() for one in self._models]
        return [model for model in found if model is not None and hasattr(model, "reducer")]

    def _on_module_registered(self, module: nn.Module, name: str, part: nn.Module | None) -> None:
        if isinstance(module, DistributedDataParallel) and name == "module":
            self._models.append(weakref.ref(module))


replicas = Replicas()


class Reductions:
    """The buckets of one backward.

    Attributes:
        buckets: in the order in which the reducers of the models reduce them; known when it is over.
    """

    def __init__(self, node_of: Callable[[nn.Module], ItemId], turns: tuple[int, ...]) -> None:
        """`node_of` says which node has given a model; `turns` of the loops around the backward."""
        self.node_of, self.turns = node_of, turns
        self.buckets: list[Bucket] = []
        self._watches: list[_ModelWatch] = []

    def begin(self) -> None:
        """The backward begins."""
        copies = _Copies()
        self._watches = [_ModelWatch(model, copies) for model in replicas.models()]

    def end(self) -> None:
        """It is over."""
        done_s = time.monotonic()
        for watch in self._watches:
            watch.end()
        with clean_modes():
            for watch in self._watches:
                self.buckets += watch.buckets(done_s)
        self._watches = []

    def local(self) -> dict[int, Tensor]:
        """What leaves, by their identity, held before the mean took its place."""
        found: dict[int, Tensor] = {}
        for bucket in self.buckets:
            found.update(zip(map(id, bucket.parameters), bucket.local, strict=False))  # none where there were too many
        return found


class LocalGrads:
    """Gradients as autograd made them, where means were written into the same memory since."""

    def __init__(self) -> None:
        """Nothing was overwritten."""
        self._memories: dict[int, torch.UntypedStorage] = {}
        self._restored: dict[int, tuple[Tensor, Tensor]] = {}

    def note(self, taken: Tensor, local: Tensor) -> None:
        """A leaf has `taken` this over as its `.grad`, which was `local`."""
        address = _address(taken)
        if not address:
            return
        if address not in self._memories:
            whole = torch.empty(0, dtype=torch.uint8, device=taken.device).set_(taken.untyped_storage())
            self._memories[address] = whole.clone().untyped_storage()
        _at(taken, self._memories[address]).copy_(local)

    def of(self, grads: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
        """Each as it was: another tensor, of the same shape and strides, where its memory was overwritten."""
        return tuple(map(self._of, grads))

    def _of(self, grad: Tensor | None) -> Tensor | None:
        memory = None if grad is None else self._memories.get(_address(grad))
        if grad is None or memory is None:
            return grad
        if id(grad) not in self._restored:
            self._restored[id(grad)] = grad, _at(grad, memory)
        return self._restored[id(grad)][1]


def _address(grad: Tensor) -> int:
    """Where its memory begins; 0: it has none that could be looked at."""
    is_plain = type(grad) is Tensor and grad.layout is torch.strided
    return grad.untyped_storage().data_ptr() if is_plain else 0


def _at(grad: Tensor, memory: torch.UntypedStorage) -> Tensor:
    """What lies in other memory where a gradient lies in its own."""
    empty = torch.empty(0, dtype=grad.dtype, device=grad.device)
    return empty.set_(memory, grad.storage_offset(), grad.size(), grad.stride())


class _Copies:
    """Copies of gradients, until they are too many."""

    def __init__(self) -> None:
        self._held = 0

    def of(self, grad: Tensor) -> Tensor | None:
        """One more; None: there are too many."""
        self._held += grad.numel()
        if self._held > HELD_ELEMENTS:
            return None
        with clean_modes():
            return grad.detach().clone()


class _Arrival(Struct, eq=False):
    """A leaf had its gradient: a copy, and when."""

    grad: Tensor | None
    came_s: float


class _ModelWatch:
    """One model in one backward."""

    def __init__(self, model: DistributedDataParallel, copies: _Copies) -> None:
        """It begins: copies are made of what arrives at each parameter."""
        self._model, self._copies = model, copies
        self._began_s = time.monotonic()
        self._reduced = _reduced(model)
        self._arrivals: dict[int, _Arrival] = {}
        leaves = [leaf for leaf in model.parameters() if leaf.requires_grad and leaf.is_leaf]
        if model.find_unused_parameters or model.static_graph:
            self._keep(leaves)
        self._handles = list(map(self._listen, leaves))

    def end(self) -> None:
        """It is over: nothing is looked at any more."""
        for handle in self._handles:
            handle.remove()

    def buckets(self, done_s: float) -> list[Bucket]:
        """What was reduced in it as torch does it by itself, by `done_s`."""
        model, found = self._model, list[Bucket]()
        if _reduced(model) == self._reduced or _is_reduced_otherwise(model):
            return found
        with _ZerosAreNotMade():  # type: ignore[no-untyped-call]  # torch's own
            full = model.reducer._get_zeros_like_grad_buckets()
        came_s = self._began_s
        for bucket in full:
            parameters = tuple(bucket.parameters())
            arrivals = [self._arrivals[id(leaf)] for leaf in parameters if id(leaf) in self._arrivals]
            came_s = max([came_s, *(one.came_s for one in arrivals)])
            if not bucket.buffer().is_sparse:
                local = self._local(parameters)
                ranks = model.process_group.size()
                found.append(Bucket(model, bucket.index(), ranks, parameters, local, came_s, done_s))
        return found

    def _keep(self, leaves: Iterable[Tensor]) -> None:
        """A parameter that nothing arrives at brings what is in its `.grad`."""
        for leaf in leaves:
            if leaf.grad is not None:
                self._arrivals[id(leaf)] = _Arrival(self._copies.of(leaf.grad), self._began_s)

    def _listen(self, leaf: Tensor) -> Any:
        return leaf.register_post_accumulate_grad_hook(self._on_arrival)  # type: ignore[no-untyped-call]  # torch's own

    def _on_arrival(self, leaf: Tensor) -> None:
        assert leaf.grad is not None  # torch has just put it there
        came_s = time.monotonic()
        self._arrivals[id(leaf)] = _Arrival(self._copies.of(leaf.grad), came_s)

    def _local(self, parameters: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """What this rank brought of them; () where copies are missing."""
        found = list[Tensor]()
        for leaf in parameters:
            arrival = self._arrivals.get(id(leaf))
            grad = self._copies.of(torch.zeros_like(leaf)) if arrival is None else arrival.grad
            if grad is None:
                return ()
            found.append(grad)
        return tuple(found)


class _ZerosAreNotMade(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    """The reducer tells its buckets with as many zeros, which nobody needs; with the buckets themselves instead."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Its own tensor for zeros like it."""
        if func is torch.ops.aten.zeros_like.default:
            return args[0]
        return func(*args, **(kwargs or {}))


def _reduced(model: DistributedDataParallel) -> tuple[Any, bool]:
    """What changes when the reducer reduces: when it had each gradient, and whether a static graph had its first."""
    has_first = getattr(model, "_static_graph_delay_allreduce_enqueued", False)
    return model.reducer.get_backward_stats(), has_first


def _is_reduced_otherwise(model: DistributedDataParallel) -> bool:
    """Whether it is no mean over all ranks: by a hook of the program, or of those alone that have not joined yet."""
    facts = model._get_ddp_logging_data()  # type: ignore[no-untyped-call]  # torch's own, which says who has a hook
    joins_by_others = model._join_config.enable and not getattr(model, "_divide_by_initial_world_size", True)
    return bool(model._comm_hooks or facts.get("comm_hook") or joins_by_others)
