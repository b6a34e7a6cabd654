"""The all-reduces of DistributedDataParallel in one backward, bucket by bucket; `bucket_hook` sees them."""

import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from torch import Tensor, nn

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.graph.model import ItemId

HELD_ELEMENTS = 1 << 24
"""Elements of gradients of this rank that are held in one backward; of what is more only the mean is told."""


class Full(Protocol):
    """A bucket of torch's reducer whose gradients are all there (`torch.distributed.GradBucket`)."""

    def index(self) -> int:
        """Which of its model's."""

    def buffer(self) -> Tensor:
        """All of its gradients, flat."""

    def gradients(self) -> list[Tensor]:
        """Each as a view of the buffer."""

    def parameters(self) -> list[Tensor]:
        """Whose they are."""


class Bucket(Struct, eq=False):
    """One bucket.

    Attributes:
        model: whose; `parameters` of it.
        local: their gradients on this rank, copies; () where there were too many.
        came_s: monotonic seconds when they were there; `done_s` when the mean was.
        place: how many autograd nodes had run by then.
    """

    model: nn.Module
    index: int
    ranks: int
    parameters: tuple[Tensor, ...]
    local: tuple[Tensor, ...]
    came_s: float
    place: int
    done_s: float = 0.0


class Reductions:
    """The buckets of one backward.

    Attributes:
        buckets: in the order in which they were full.
    """

    def __init__(self, node_of: Callable[[nn.Module], ItemId], turns: tuple[int, ...]) -> None:
        """`node_of` says which node has given a model; `turns` of the loops around the backward."""
        self.node_of, self.turns = node_of, turns
        self.buckets: list[Bucket] = []
        self._count: Callable[[], int] = lambda: 0
        self._held = 0

    def begin(self, count: Callable[[], int]) -> None:
        """The backward begins; `count` says how many autograd nodes have run."""
        self._count = count
        under_way.begin(self)

    def end(self) -> None:
        """It is over."""
        under_way.now = None

    def local(self) -> dict[int, Tensor]:
        """What leaves, by their identity, held before the mean took its place."""
        found: dict[int, Tensor] = {}
        for bucket in self.buckets:
            found.update(zip(map(id, bucket.parameters), bucket.local, strict=False))  # none where there were too many
        return found

    def note(self, model: nn.Module, full: Full, ranks: int) -> Bucket:
        """A bucket is full."""
        came_s = time.monotonic()
        self._held += full.buffer().numel()
        local = full.gradients() if self._held <= HELD_ELEMENTS else []
        with clean_modes():
            copies = tuple([grad.detach().clone() for grad in local])
        bucket = Bucket(
            model, full.index(), ranks, tuple(full.parameters()), copies, came_s, self._count(), done_s=came_s
        )
        self.buckets.append(bucket)
        return bucket


class UnderWay:
    """The backward under way in this process.

    Attributes:
        now: its reductions; None: there is none, or it is not recorded.
        watch_models: has the models that are there by now watched.
    """

    def __init__(self) -> None:
        """There is none, and no model is known."""
        self.now: Reductions | None = None
        self.watch_models: Callable[[], None] = lambda: None

    def begin(self, reductions: Reductions) -> None:
        """One begins."""
        self.watch_models()
        self.now = reductions


under_way = UnderWay()
