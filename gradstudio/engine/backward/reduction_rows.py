"""The rows of all-reduces: behind the autograd nodes, for torch waits for them and writes the means at the very end."""

from collections.abc import Iterator

import msgspec
from torch import Tensor

from gradstudio.engine.backward.backward_reachability import Reach
from gradstudio.engine.backward.bucket_reductions import Bucket, Reductions
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.value.identity import identity
from gradstudio.engine.value.tensor_summary import outline, summarise
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import ALL_REDUCE, AutogradRow, EdgeValue, Reduction
from gradstudio.protocol.messages.records import Summary


def reduction_rows(
    reductions: Reductions, reach: Reach, gradients: Gradients, number: int, leaves: dict[int, Summary | None]
) -> Iterator[AutogradRow]:
    """A row for each bucket of backward `number`; `leaves` then say what is left in each `.grad`."""
    values = {identity(seen.leaf): seen.values for seen in reach.leaves}
    for bucket in reductions.buckets:
        shown = tuple(_of_leaf(values.get(identity(leaf), ()), place) for place, leaf in enumerate(bucket.parameters))
        owner = reductions.node_of(bucket.model) or next((value.node for each in shown for value in each), ItemId(""))
        nodes = {owner, *(value.node for each in shown for value in each)}
        is_seen = gradients.visible is None or not gradients.visible.isdisjoint(nodes)

        def told(grad: Tensor | None, is_seen: bool = is_seen) -> Summary | None:
            if grad is None:
                return None
            return summarise(grad, gradients.max_values) if is_seen else outline(grad)

        means = tuple([told(leaf.grad) for leaf in bucket.parameters])
        for leaf, mean in zip(bucket.parameters, means, strict=True):
            leaves[identity(leaf)] = mean
            if mean is not None and is_seen:
                gradients.note_grad(leaf, mean)
        yield AutogradRow(
            backward=number, autograd=ALL_REDUCE, node=owner, turns=reductions.turns,
            incoming=tuple([told(grad) for grad in bucket.local]), outgoing=means,
            values=tuple(value for each in shown for value in each), seconds=max(bucket.done_s - bucket.came_s, 0.0),
            reduction=_reduction(bucket),
        )  # fmt: skip


def _of_leaf(values: tuple[EdgeValue, ...], place: int) -> tuple[EdgeValue, ...]:
    return tuple(msgspec.structs.replace(value, index=place) for value in values)


def _reduction(bucket: Bucket) -> Reduction:
    return Reduction(bucket=bucket.index, ranks=bucket.ranks, came_s=bucket.came_s, done_s=bucket.done_s)
