"""A backward that failed: what had come to autograd nodes that never ran, so that no hook of theirs told of it."""

from collections.abc import Iterable, Sequence

from torch import Tensor

from gradstudio.engine.backward.backward_reachability import Edge, GraphNode, Reach
from gradstudio.engine.backward.backward_seeds import Seed
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.value.tensor_summary import summarise

Sums = dict[int, Tensor]
"""The gradients that came to an autograd node, summed by input."""


def waiting_nodes(
    reach: Reach, sent: Sequence[tuple[Edge, Tensor | None]], seeds: Iterable[Seed]
) -> list[tuple[GraphNode, Sums]]:
    """The nodes that did not run though all that send to them have, with what came; [] when nothing ran at all.

    Args:
        reach: the graph behind the roots.
        sent: every gradient that has left a node, and where to; None for an undefined one.
        seeds: what the roots began with.
    """
    if not sent:
        return []
    came: dict[int, int] = {}
    sums: dict[int, Sums] = {}
    for (number, index), grad in [*sent, *((reach.edge_of(seed.root), seed.grad) for seed in seeds)]:
        came[number] = came.get(number, 0) + 1
        if grad is not None:
            into = sums.setdefault(number, {})
            into[index] = grad.detach() if index not in into else into[index] + grad.detach()
    still = (seen for seen in reach.seen if seen.place < 0 and came.get(seen.id) == seen.users)
    return [(seen, sums[seen.id]) for seen in still if seen.id in sums]


def note_arrivals(gradients: Gradients, nodes: Iterable[tuple[GraphNode, Sums]]) -> None:
    """Note what came at the values made there; a leaf's was kept by nobody."""
    for seen, came in nodes:
        if seen.leaf is not None:
            gradients.refused(seen.leaf)
        for key, serial, output, _ in seen.marks.values if seen.marks is not None else ():
            value = gradients.find(key, serial)
            if value is not None and output in came:
                gradients.arrived(value, came[output], summarise(came[output], gradients.max_values))
