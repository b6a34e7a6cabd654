"""Dots: places through which a wire is led. View, not program: kept in `Graph.places` under keys of their own.

The key of dot k of the wire into a port is ``dot:<target>/<port>:<k>``, k counting from the source. It is read from
its end: k is digits, a port has no slash, so whatever an id holds, the key names one wire.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gradstudio.graph.graph_index import DOT, index_of
from gradstudio.graph.model import Graph, ItemId, Place, Wire

NOTE: Final = "note:"
MOST_DOTS: Final = 8
"""A wire is led through no more dots than these."""
End = tuple[ItemId, str]
"""The port a wire ends in; an input has at most one wire."""
Point = tuple[float, float]


def dot_key(end: End, k: int) -> str:
    """The key of a dot of the wire into a port."""
    return f"{DOT}{end[0]}/{end[1]}:{k}"


def end_of(key: str) -> tuple[End, int] | None:
    """Which dot of the wire into which port a key names; None: it is no dot's."""
    if not key.startswith(DOT):
        return None
    wire, _, number = key.removeprefix(DOT).rpartition(":")
    target, slash, port = wire.rpartition("/")
    return ((ItemId(target), port), int(number)) if slash and port and number.isdecimal() else None


def item_of(key: str) -> ItemId:
    """The item to which a place belongs: its own, its note's, or that of a wire into it."""
    found = end_of(key)
    return found[0][0] if found is not None else ItemId(key.removeprefix(NOTE))


def wire_of(graph: Graph, end: End) -> Wire | None:
    """The wire into a port, muted or not."""
    wire = graph.wires.get(end)
    node = graph.nodes.get(end[0])
    if wire is not None or node is None or end[1] not in node.muted_wires:
        return wire
    source, output = node.muted_wires[end[1]]
    return Wire(source, output, *end)


def dots_by_end(graph: Graph) -> dict[End, list[str]]:
    """The keys of the dots of every wire that has some, from the source on."""
    found: dict[End, list[tuple[int, str]]] = {}
    for key in index_of(graph).dots:
        named = end_of(key)
        if named is not None and wire_of(graph, named[0]) is not None:
            found.setdefault(named[0], []).append((named[1], key))
    return {end: [key for _, key in sorted(dots)] for end, dots in found.items()}


def points_of(graph: Graph, end: End) -> list[Point]:
    """Where the dots of the wire into a port are, from the source on."""
    found: list[Point] = []
    while (place := graph.places.get(dot_key(end, len(found)))) is not None:
        found.append((place.x, place.y))
    return found


def with_points(graph: Graph, end: End, points: Sequence[Point]) -> dict[str, Place | None]:
    """The changes of `Graph.places` after which these are the dots of the wire into a port."""
    dots = ((key, end_of(key)) for key in index_of(graph).dots)
    old = {key: graph.places[key] for key, named in dots if named is not None and named[0] == end}
    new = {dot_key(end, k): Place(*point) for k, point in enumerate(points)}
    changed: dict[str, Place | None] = {key: place for key, place in new.items() if old.get(key) != place}
    return changed | dict.fromkeys(key for key in old if key not in new)


def coinciding_dots(graph: Graph, keys: Iterable[str]) -> frozenset[str]:
    """The dots with those of the same output's other wires that lie at the same place: they are one dot."""
    chosen = [key for key in keys if key in graph.places]
    if not chosen:
        return frozenset()
    spots: dict[tuple[object, ...], set[str]] = {}
    for end, dots in dots_by_end(graph).items():
        wire = wire_of(graph, end)
        assert wire is not None
        for key in dots:
            place = graph.places[key]
            spots.setdefault((wire.source, wire.output, place.x, place.y), set()).add(key)
    return frozenset(key for together in spots.values() if together.intersection(chosen) for key in together)


def renumber_dots(places: Mapping[str, Place], there: Iterable[str]) -> dict[str, Place]:
    """Dots as a file has them, numbered from 0 without gaps; those of wires that are not there are dropped."""
    ends: dict[End, list[tuple[int, Place]]] = {}
    for key in there:
        named = end_of(key)
        if named is not None:
            ends.setdefault(named[0], []).append((named[1], places[key]))
    return {
        dot_key(end, k): place
        for end, dots in ends.items()
        for k, (_, place) in enumerate(sorted(dots, key=lambda dot: dot[0])[:MOST_DOTS])
    }
