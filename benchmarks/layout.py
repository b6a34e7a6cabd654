"""The layout of programs that have no places: what covers or crosses what, and how long it takes.

The nets are those of the packages that were compared: a residual chain with its weights as leaves and a random graph.
"""

import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._drawing import Floats, figures, row, straight_crossings
from gradstudio.document.file import load
from gradstudio.graph.model import Graph
from gradstudio.layout.layered.arrangement import arrange_boxes
from gradstudio.layout.layered.model import Box, Edge
from gradstudio.layout.tidy import layout
from gradstudio.program.reading.reader import read_script

ROOT = Path(__file__).parent.parent
WIDTH, HEIGHT = 140.0, 60.0
HEADER, ROW = 20.0, 20.0


def measure() -> list[dict[str, Any]]:
    """Nets of boxes, 1,000 statements from text to places, and all programs of the repository."""
    return [*_nets(), *_statements(), *_programs()]


def residual(count: int) -> list[Edge]:
    """A chain of ``h + relu(h @ w1) @ w2`` with its weights as leaves; inputs in the order of their ports."""
    edges: list[Edge] = []
    state, number = 0, 1
    while number < count - 5:
        first, product, relu, second, other, total = range(number, number + 6)
        edges += [_edge(state, product, 0), _edge(first, product, 1), _edge(product, relu, 0), _edge(relu, other, 0)]
        edges += [_edge(second, other, 1), _edge(state, total, 0), _edge(other, total, 1)]
        state, number = total, number + 6
    return edges


def at_random(count: int, seed: int = 7) -> list[Edge]:
    """Two inputs for each box, from the twenty before it."""
    generator = random.Random(seed)
    return [
        _edge(generator.randrange(max(0, number - 20), number), number, port)
        for number in range(1, count)
        for port in (0, 1)
    ]


def statements(count: int) -> str:
    """A text of so many statements: layers of a network, one after another."""
    lines, number = ["import torch", "x = torch.randn(8, 16)"], 1
    while len(lines) <= count - 4:
        lines += [f"w{number} = torch.randn(16, 16, requires_grad=True)", f"b{number} = torch.zeros(16)"]
        lines += [f"h{number} = torch.relu(x @ w{number} + b{number})", f"x = x + h{number}"]
        number += 1
    return "\n".join([*lines, "loss = x.sum()", "loss.backward()", ""])


def _edge(source: int, target: int, port: int) -> Edge:
    return Edge(source, target, HEADER, HEADER + ROW * port)


def _nets() -> list[dict[str, Any]]:
    rows = []
    for name, make, goal in (("residual", residual, 10.0), ("random", at_random, None)):
        for count in (100, 1000):
            edges = make(count)
            start = time.process_time()
            points = arrange_boxes([Box(WIDTH, HEIGHT)] * count, edges)
            seconds = time.process_time() - start
            crossings, backward = _crossings(edges, points), _backward(edges, points)
            title = f"layout, {name} net of {count}"
            compared = "nine packages: 0 to 186" if goal is not None and count == 100 else ""
            rows.append(row(f"{title}: crossings", crossings, goal if count == 100 else None, "", compared))
            rows.append(row(f"{title}: wires that run back", backward, 0.0))
            rows.append(row(f"{title}: time", seconds, 0.5, "s", "CPU time"))
    return rows


def _lines(edges: list[Edge], points: list[tuple[float, float]]) -> Floats:
    ends = [(*_out(points[edge.source], edge), *_into(points[edge.target], edge)) for edge in edges]
    return np.array(ends, dtype=np.float64).reshape(-1, 4)


def _out(at: tuple[float, float], edge: Edge) -> tuple[float, float]:
    return at[0] + WIDTH, at[1] + edge.start


def _into(at: tuple[float, float], edge: Edge) -> tuple[float, float]:
    return at[0], at[1] + edge.end


def _crossings(edges: list[Edge], points: list[tuple[float, float]]) -> float:
    return float(straight_crossings(_lines(edges, points)))


def _backward(edges: list[Edge], points: list[tuple[float, float]]) -> float:
    lines = _lines(edges, points)
    return float((lines[:, 2] < lines[:, 0]).sum())


def _statements() -> list[dict[str, Any]]:
    text = statements(1000)
    start = time.process_time()
    graph = read_script(text).graph
    read = time.process_time()
    corners = layout(graph)
    done = time.process_time()
    found = figures(graph, corners)
    title = "1,000 statements"
    return [
        row(f"{title}: from text to places, catalogue and all", done - start, 1.0, "s", "CPU time"),
        row(f"{title}: layout alone", done - read, 0.5, "s", f"{len(graph.nodes)} nodes, {len(graph.wires)} wires"),
        row(f"{title}: cards that cover one another", found["overlaps"], 0.0),
        row(f"{title}: wires that run back", found["backward"], 0.0),
    ]


def _programs() -> list[dict[str, Any]]:
    """Sums over the examples and over the snippets that are read, as far as they are."""
    found = [figures(graph, layout(graph)) for graph in (*_examples(), *_snippets())]
    total = {name: sum(one[name] for one in found) for name in found[0]}
    title, cards = f"{len(found)} programs", f"{total['cards']:.0f} cards"
    shape = sorted(one["width"] / max(one["height"], 1.0) for one in found)[len(found) // 2]
    return [
        row(f"{title}: cards that cover one another", total["overlaps"], 0.0, "", cards),
        row(f"{title}: wires that run back", total["backward"], 0.0),
        row(f"{title}: wires behind cards that are not theirs", total["behind"], None),
        row(f"{title}: crossings, of straight lines", total["crossings"], None),
        row(f"{title}: width by height, median", shape, None),
        row(f"{title}: covered by cards, mean", 100 * total["filled"] / len(found), None, "%"),
    ]


def _examples() -> list[Graph]:
    return [load(path) for path in sorted((ROOT / "examples").glob("*.gsg"))]


def _snippets() -> list[Graph]:
    paths = sorted((ROOT / "tests" / "corpus" / "accepted").glob("*.py"))
    return [read_script(path.read_text(encoding="utf-8")).graph for path in paths]
