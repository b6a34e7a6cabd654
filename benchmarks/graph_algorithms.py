"""Graph algorithms written by hand, against networkx on the same program of 1,000 nodes, and what networkx costs.

networkx is given what our walks read: the wires. Its graph has to be built of them first, for the program is edited
between two questions; the ratio is with that, the words say it without.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import networkx as nx

from benchmarks._drawing import row
from benchmarks._graphs import random_dag
from gradstudio.graph.model import ROOT, Graph
from gradstudio.graph.order import _sorted, wire_needs
from gradstudio.graph.rules import ancestors_of, chain, descendants_of
from gradstudio.graph.structure.gradient_flows import GradientFlows
from gradstudio.graph.structure.graph_questions import components, gates, longest_path
from gradstudio.layout.layered.components import connected_components
from gradstudio.layout.layered.layer_assignment import assign_layers
from gradstudio.layout.layered.model import Edge

COUNT, TIMES = 1000, 9
IMPORT = "import numpy, time; start = time.perf_counter(); import networkx; print(time.perf_counter() - start)"


def measure() -> list[dict[str, Any]]:
    """A row an algorithm: how many times as long networkx takes."""
    graph = random_dag(COUNT)
    return [*_walks(graph), *_orders(graph), *_layouts(graph), *_questions(graph), _import()]


def _walks(graph: Graph) -> list[dict[str, Any]]:
    items = list(graph.order())
    first, last = items[0], items[-1]
    network = _network(graph)
    return [
        _compared("what feeds a node", lambda: ancestors_of(graph, last), lambda: nx.ancestors(_network(graph), last)),
        _compared(
            "what a node feeds", lambda: descendants_of(graph, first), lambda: nx.descendants(_network(graph), first)
        ),
        _compared(
            "a shortest chain",
            lambda: chain(graph, first, last),
            lambda: nx.shortest_path(_network(graph), first, last),
        ),
        row(
            "networkx: what feeds a node, its graph built before", _ms(lambda: nx.ancestors(network, last)), None, "ms"
        ),
    ]


def _orders(graph: Graph) -> list[dict[str, Any]]:
    items, needs = graph.bodies[ROOT], {item: {} for item in graph.order()} | wire_needs(graph)
    place = {item: number for number, item in enumerate(items)}

    def by_networkx() -> list[Any]:
        return list(nx.lexicographical_topological_sort(_network(graph), key=place.__getitem__))

    return [_compared("the nearest order", lambda: _sorted(graph, ROOT, items, needs), by_networkx)]


def _layouts(graph: Graph) -> list[dict[str, Any]]:
    place = {item: number for number, item in enumerate(graph.order())}
    pairs = [(place[wire.source], place[wire.target]) for wire in graph.wires.values()]
    edges = [Edge(source, target, 0.0, 0.0) for source, target in pairs]

    def parts() -> list[list[int]]:
        network = nx.Graph()
        network.add_nodes_from(range(COUNT))
        network.add_edges_from(pairs)
        return sorted(sorted(part) for part in nx.connected_components(network))

    def generations() -> list[list[int]]:
        network = nx.DiGraph()
        network.add_nodes_from(range(COUNT))
        network.add_edges_from(pairs)
        return [list(generation) for generation in nx.topological_generations(network)]

    return [
        _compared("connected boxes", lambda: connected_components(COUNT, pairs), parts),
        _compared("columns, pulled right as ours are", lambda: assign_layers(COUNT, edges), generations),
    ]


def _questions(graph: Graph) -> list[dict[str, Any]]:
    weights = dict.fromkeys(graph.nodes, 1.0)
    asked: dict[str, Callable[[], object]] = {
        "Analyse: components": lambda: components(graph),
        "Analyse: longest path": lambda: longest_path(graph, weights),
        "Analyse: gates of all leaves": lambda: gates(GradientFlows(graph)),
    }
    return [row(name, _ms(ask), None, "ms") for name, ask in asked.items()]


def _import() -> dict[str, Any]:
    taken = [float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True).stdout)]
    taken += [float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True).stdout)]
    return row("importing networkx, once a process", min(taken) * 1e3, None, "ms", "numpy is there already")


def _network(graph: Graph) -> Any:
    network = nx.DiGraph()
    network.add_nodes_from(graph.nodes)
    network.add_edges_from((wire.source, wire.target) for wire in graph.wires.values())
    return network


def _compared(name: str, by_hand: Callable[[], object], by_networkx: Callable[[], object]) -> dict[str, Any]:
    ours, theirs = _ms(by_hand), _ms(by_networkx)
    return row(f"networkx: {name}", theirs / ours, None, "×", f"{ours:.2f} ms by hand, {theirs:.2f} ms with networkx")


def _ms(ask: Callable[[], object]) -> float:
    """The median of several times, in milliseconds."""
    ask()
    taken = []
    for _ in range(TIMES):
        start = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1e3
