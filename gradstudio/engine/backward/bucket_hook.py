"""Torch's own communication hook on models of DistributedDataParallel, in a process that is one of several ranks.

The hook does what torch's reducer does without one, in its order: each bucket times one over the number of ranks, then
the sum over ranks. So gradients are the same to the last bit. Where the reducer divides instead
(`gradient_as_bucket_view`), that is the same only for 2, 4, 8 … ranks; with other numbers such models are not watched,
nor are those that have a hook of the program's own.
"""

import time
import weakref

import torch
import torch.distributed
from torch import Tensor, nn
from torch.distributed import GradBucket  # type: ignore[attr-defined]  # public, and not in its list
from torch.futures import Future
from torch.nn.modules.module import register_module_module_registration_hook
from torch.nn.parallel import DistributedDataParallel

from gradstudio.engine.backward.bucket_reductions import under_way
from gradstudio.engine.clean_modes import clean_modes


class Models:
    """The models of this process."""

    def __init__(self) -> None:
        """There are none yet."""
        self._new: weakref.WeakSet[DistributedDataParallel] = weakref.WeakSet()

    def see(self) -> None:
        """Know each that is made from now on."""
        register_module_module_registration_hook(self._on_module_registered)
        under_way.watch_models = self.watch

    def watch(self) -> None:
        """Put the hook on those that have come."""
        for model in list(self._new):
            _watch(model)
        self._new.clear()

    def _on_module_registered(self, module: nn.Module, name: str, part: nn.Module | None) -> None:
        if isinstance(module, DistributedDataParallel) and name == "module":
            self._new.add(module)


def _watch(model: DistributedDataParallel) -> None:
    ranks = model.process_group.size()
    divides = model.gradient_as_bucket_view and ranks & (ranks - 1)
    facts = model._get_ddp_logging_data()  # type: ignore[no-untyped-call]  # torch's own, which says who has a hook
    if not (divides or model._comm_hooks or facts.get("comm_hook")):
        model.register_comm_hook(weakref.ref(model), _all_reduce)


def _all_reduce(reference: "weakref.ref[DistributedDataParallel]", bucket: GradBucket) -> Future[Tensor]:
    """The mean over ranks, as torch's reducer makes it without a hook."""
    model, now, buffer = reference(), under_way.now, bucket.buffer()
    assert model is not None  # its backward runs
    ranks = model.process_group.size()
    noted = None if now is None or buffer.is_sparse else now.note(model, bucket, ranks)
    with clean_modes():
        if buffer.is_sparse:
            buffer.div_(ranks)
        else:
            buffer.mul_(1.0 / ranks)
        work = torch.distributed.all_reduce(buffer, group=model.process_group, async_op=True)

    def take(future: Future[list[Tensor]]) -> Tensor:
        if noted is not None:
            noted.done_s = time.monotonic()
        return future.value()[0]

    found: Future[Tensor] = work.get_future().then(take)
    return found
