"""Programs as networkx graphs, and the questions asked of them. Import it where networkx may load, never at a start.

Every function imports networkx itself, so that importing this module costs nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.structure.dependencies import Dependency, dependencies
from gradstudio.graph.structure.gradient_flows import GradientFlows

START = ItemId("@start")
"""Stands before every beginning of a way; no item is called so."""


class Gates(msgspec.Struct, frozen=True):
    """The nodes that no way of a leaf's gradient leads around.

    Attributes:
        through: from the root to the leaf, both left out; the last is the nearest to the leaf.
    """

    leaf: ItemId
    through: tuple[ItemId, ...]


def components(graph: Graph) -> tuple[tuple[ItemId, ...], ...]:
    """The connected parts of a program, the largest first, each in program order.

    Breadth-first search over dependencies in both directions (`networkx.connected_components`). A block that nothing
    leads to or from, such as a `with`, is no part; a node that is wired to nothing is one of its own.
    """
    import networkx as nx

    found = dependencies(graph)
    network = nx.Graph()
    network.add_nodes_from(graph.nodes)
    network.add_edges_from((edge.source, edge.target) for edge in found)
    place = {item: number for number, item in enumerate(graph.order())}
    parts = [tuple(sorted(part, key=place.__getitem__)) for part in nx.connected_components(network)]
    return tuple(sorted(parts, key=lambda part: (-len(part), place[part[0]])))


def longest_path(graph: Graph, weights: Mapping[ItemId, float]) -> tuple[ItemId, ...]:
    """The chain of items, each feeding the next, with the largest sum of weights; () of an empty graph.

    Longest path in topological order (`networkx.dag_longest_path`). The weight of an item, in whatever unit, stands on
    the edges into it; a start before all gives the first items theirs. What loops carry back is left out.

    Args:
        graph: a program.
        weights: of items, 0 or more; those that are missing weigh nothing.
    """
    import networkx as nx

    network = _forward(dependencies(graph), graph)
    beginnings = [item for item, degree in network.in_degree() if degree == 0]
    network.add_edges_from((START, item) for item in beginnings)
    for _, target, data in network.edges(data=True):
        data["weight"] = weights.get(target, 0.0)
    path: list[ItemId] = nx.dag_longest_path(network, weight="weight")
    return _without_weightless_ends([item for item in path if item != START], weights)


def between(graph: Graph, first: ItemId, second: ItemId) -> tuple[ItemId, ...]:
    """Every item on some way from the one to the other, both left out, in program order; () when no way leads there.

    What is reached from the first and reaches the second (`networkx.descendants`, `networkx.ancestors`).
    """
    import networkx as nx

    network = _forward(dependencies(graph), graph)
    on_the_way = nx.descendants(network, first) & nx.ancestors(network, second)
    return tuple(item for item in graph.order() if item in on_the_way)


def reaches(graph: Graph, first: ItemId, second: ItemId) -> bool:
    """Whether some way leads from the one to the other (`networkx.has_path`)."""
    import networkx as nx

    return bool(nx.has_path(_forward(dependencies(graph), graph), first, second))


def gates(known: GradientFlows) -> tuple[Gates, ...]:
    """For each leaf that a gradient reaches, the nodes through which all of it must pass, leaves in program order.

    They are the dominators of the leaf in the flow of the gradient, which begins at the roots (Cooper, Harvey and
    Kennedy, *A simple, fast dominance algorithm*, 2001: `networkx.immediate_dominators`). Of several roots one start
    stands before all, so that a node counts only if every backward takes it.
    """
    import networkx as nx

    dominators: Mapping[ItemId, ItemId | None] = nx.immediate_dominators(gradient_network(known), START)
    return tuple(Gates(leaf, _chain(dominators, leaf, known.roots)) for leaf in known.leaves if leaf in dominators)


def gradient_network(known: GradientFlows) -> Any:
    """The flow of the gradient as a `networkx.DiGraph`: from `START` to the roots, and on to the leaves."""
    import networkx as nx

    network = nx.DiGraph()
    network.add_node(START)
    network.add_edges_from((START, root) for root in known.roots)
    network.add_edges_from((target, source) for source, target in known.ways)
    return network


def _chain(dominators: Mapping[ItemId, ItemId | None], leaf: ItemId, roots: Sequence[ItemId]) -> tuple[ItemId, ...]:
    """The dominators of a leaf from the root on; without the root, if there is but one, and without the leaf."""
    found: list[ItemId] = []
    here = dominators.get(leaf)
    while here is not None and here != START:
        found.append(here)
        here = dominators.get(here)
    if found and len(roots) == 1:
        found.pop()
    return tuple(reversed(found))


def _forward(found: Sequence[Dependency], graph: Graph) -> Any:
    """The dependencies within one turn as a `networkx.DiGraph` without rings."""
    import networkx as nx

    network = nx.DiGraph()
    network.add_nodes_from(graph.order())
    network.add_edges_from((edge.source, edge.target) for edge in found if edge.by != "turn")
    return network


def _without_weightless_ends(path: list[ItemId], weights: Mapping[ItemId, float]) -> tuple[ItemId, ...]:
    """The path from the first to the last item that weighs something; the whole one if none does."""
    heavy = [number for number, item in enumerate(path) if weights.get(item, 0.0) > 0]
    return tuple(path[heavy[0] : heavy[-1] + 1] if heavy else path)
