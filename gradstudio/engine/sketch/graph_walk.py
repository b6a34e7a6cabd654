"""A walk through autograd's graph from tensors back to its leaves; it reads edges and asks nothing else."""

from collections.abc import Iterable
from typing import NamedTuple

from torch import Tensor
from torch.autograd.graph import Node

from gradstudio.engine.value.view_state import grad_fn_of

MOST_NODES = 50_000
"""Beyond so many a walk ends; what is drawn of them is far less."""


class Walk(NamedTuple):
    """The nodes behind some tensors.

    Attributes:
        nodes: in an order in which what was made comes before what used it.
        edges: (made, user, place among the results of what was made), by place in `nodes`.
        is_whole: nothing was left out.
    """

    nodes: list[Node]
    edges: list[tuple[int, int, int]]
    is_whole: bool


def origin_of(tensor: Tensor) -> Node | None:
    """Its `grad_fn`; None of a leaf, whose own node torch would make only when it is asked for."""
    return grad_fn_of(tensor)


def walk(origins: Iterable[Node]) -> Walk:
    """All that is reached from there, each node once; ended by number, nearest first."""
    reached = _nearest(origins)
    order = _made_first(reached)
    place = {node: number for number, node in enumerate(order)}
    edges = []
    is_whole = True
    for user, number in place.items():
        for made, output in user.next_functions:
            if made is None:
                continue
            if made in place:
                edges.append((place[made], number, output))
            else:
                is_whole = False
    return Walk(order, edges, is_whole)


def _nearest(origins: Iterable[Node]) -> dict[Node, None]:
    reached = dict.fromkeys(origins)
    todo = list(reached)
    for node in todo:
        for made, _ in node.next_functions:
            if made is not None and made not in reached and len(reached) < MOST_NODES:
                reached[made] = None
                todo.append(made)
    return reached


def _made_first(reached: dict[Node, None]) -> list[Node]:
    """Depth first without recursion, so that a graph of any depth is walked."""
    order: list[Node] = []
    done: set[Node] = set()
    for origin in reached:
        stack = [(origin, False)]
        while stack:
            node, is_left = stack.pop()
            if is_left:
                order.append(node)
                continue
            if node in done:
                continue
            done.add(node)
            stack.append((node, True))
            made = [made for made, _ in node.next_functions if made is not None and made in reached]
            stack += [(each, False) for each in reversed(made) if each not in done]
    return order
