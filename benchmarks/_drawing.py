"""How good a drawing of a program is: what it covers, what its wires cross, and how large it is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import Graph, ItemId
from gradstudio.layout import card_sizes
from gradstudio.layout.card_boxes import without_joined
from gradstudio.scene.arrays import wire_paths
from gradstudio.scene.wire.routing import each_routed

Corners = dict[str, tuple[float, float]]
Floats = NDArray[np.float64]


def figures(graph: Graph, corners: Corners) -> dict[str, float]:
    """Figures of a drawing, wires drawn as the canvas draws them between estimated ports.

    Returns:
        cards; overlaps: pairs of cards and notes that cover one another; backward: wires that run to the left;
        crossings: pairs of wires without a common end that cross, as straight lines; behind: wires that run behind a
        card or a note; width and height in scene pixels; filled: the part of that which cards cover.
    """
    rects, keys = _rects(graph, corners)
    ends, owners = _wires(graph, corners)
    width, height = _extent(rects)
    covered = float(((rects[:, 2] - rects[:, 0]) * (rects[:, 3] - rects[:, 1])).sum()) if len(rects) else 0.0
    return {
        "cards": float(sum(not key.startswith("note:") for key in keys)),
        "overlaps": float(_overlaps(rects)),
        "backward": float((ends[:, 2] < ends[:, 0]).sum()),
        "crossings": float(straight_crossings(ends)),
        "behind": float(_behind(ends, owners, rects, keys)),
        "width": width,
        "height": height,
        "filled": covered / (width * height) if width * height else 0.0,
    }


def straight_crossings(ends: Floats) -> int:
    """Pairs of lines (x, y, x, y) that cross, without a common end."""
    total = 0
    for k in range(len(ends) - 1):
        one, others = ends[k], ends[k + 1 :]
        apart = (others[:, :2] != one[:2]).any(1) & (others[:, 2:] != one[2:]).any(1)
        through = _side(one, others[:, :2]) * _side(one, others[:, 2:]) < 0
        across = _sides(others, one[:2]) * _sides(others, one[2:]) < 0
        total += int((apart & through & across).sum())
    return total


def _side(line: Floats, points: Floats) -> Floats:
    made: Floats = (line[2] - line[0]) * (points[:, 1] - line[1]) - (line[3] - line[1]) * (points[:, 0] - line[0])
    return made


def _sides(lines: Floats, point: Floats) -> Floats:
    across, down = lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1]
    made: Floats = across * (point[1] - lines[:, 1]) - down * (point[0] - lines[:, 0])
    return made


def _rects(graph: Graph, corners: Corners) -> tuple[Floats, list[str]]:
    rows, keys, inside = [], [], card_groups(graph).insides()
    for key, (x, y) in corners.items():
        item = ItemId(key.removeprefix("note:"))
        if key == item and (item in inside or item in graph.blocks):
            continue
        width, height = card_sizes.card_size(graph, item) if key == item else card_sizes.note_size(graph, item)
        rows.append((x, y, x + width, y + height))
        keys.append(key)
    return np.array(rows, dtype=np.float64).reshape(-1, 4), keys


def _wires(graph: Graph, corners: Corners) -> tuple[Floats, list[tuple[ItemId, ItemId]]]:
    """Both ends of each wire between cards, and the cards."""
    graph = without_joined(graph)
    rows, owners = [], []
    for wire in graph.wires.values():
        if wire.source not in graph.nodes or wire.target not in graph.nodes:
            continue
        (x, y), (right, down) = corners[wire.source], corners[wire.target]
        width, _ = card_sizes.card_size(graph, wire.source)
        out = card_sizes.port_offsets(graph, wire.source)[1].get(wire.output, 18.0)
        rows.append(
            (x + width, y + out, right, down + card_sizes.port_offsets(graph, wire.target)[0].get(wire.port, 47.0))
        )
        owners.append((wire.source, wire.target))
    return np.array(rows, dtype=np.float64).reshape(-1, 4), owners


def _overlaps(rects: Floats) -> int:
    total = 0
    for k in range(len(rects) - 1):
        one, others = rects[k], rects[k + 1 :]
        aside = (others[:, 0] < one[2]) & (one[0] < others[:, 2])
        total += int((aside & (others[:, 1] < one[3]) & (one[1] < others[:, 3])).sum())
    return total


def _behind(ends: Floats, owners: list[tuple[ItemId, ItemId]], rects: Floats, keys: list[str]) -> int:
    """How many wires run behind a card or a note that is not theirs, once they are led around."""
    if not len(ends):
        return 0
    nothing, number = np.zeros((len(ends), 4)), {key: k for k, key in enumerate(keys)}
    paths = wire_paths(ends[:, :2], ends[:, 2:], nothing, nothing)
    source, target = (np.array([number[pair[side]] for pair in owners]) for side in (0, 1))
    list(each_routed(paths, rects, source, target))
    total = 0
    for k, path in enumerate(paths):
        x, y = path[:, :1], path[:, 1:]
        hit = (rects[:, 0] < x) & (x < rects[:, 2]) & (rects[:, 1] < y) & (y < rects[:, 3])
        hit[:, [source[k], target[k]]] = False
        total += bool(hit.any())
    return total


def _extent(rects: Floats) -> tuple[float, float]:
    if not len(rects):
        return 0.0, 0.0
    low, high = rects[:, :2].min(0), rects[:, 2:].max(0)
    return float(high[0] - low[0]), float(high[1] - low[1])


def row(name: str, measured: float, goal: float | None, unit: str = "", compared_with: str = "") -> dict[str, Any]:
    """One figure for `benchmarks.__main__`."""
    ok = None if goal is None else measured <= goal
    return {
        "name": name,
        "measured": measured,
        "goal": goal,
        "unit": unit,
        "ok": ok,
        "compared_with": compared_with,
    }
