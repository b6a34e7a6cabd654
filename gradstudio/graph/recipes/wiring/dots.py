"""Recipes for the dots through which wires are led; they change the view alone."""

from collections.abc import Iterable

from gradstudio.graph.edits import Edits, SetPlaces, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Place, Wire
from gradstudio.graph.ports.wire_dots import (
    MOST_DOTS,
    End,
    Point,
    coinciding_dots,
    dots_by_end,
    end_of,
    points_of,
    with_points,
)
from gradstudio.graph.recipes.wiring.connection import connect


def add_dot(graph: Graph, wire: Wire, index: int, point: Point) -> Edits:
    """Lead a wire through a further point, before its dot `index`.

    Raises:
        Refused: it has as many as a wire can have.
    """
    end = (wire.target, wire.port)
    points = points_of(graph, end)
    if len(points) >= MOST_DOTS:
        raise Refused(f"A wire takes at most {MOST_DOTS} dots. Move one of those it has.")
    points.insert(index, point)
    return _places(with_points(graph, end, points))


def remove_dots(graph: Graph, keys: Iterable[str]) -> Edits:
    """Take dots away, and those of other wires that are one with them."""
    gone = coinciding_dots(graph, keys)
    ends = {named[0] for key in gone if (named := end_of(key)) is not None}
    places: dict[str, Place | None] = {}
    for end, dots in dots_by_end(graph).items():
        if end in ends:
            points = [(graph.places[key].x, graph.places[key].y) for key in dots if key not in gone]
            places |= with_points(graph, end, points)
    return _places(places)


def branch(graph: Graph, wire: Wire, dot: int, target: ItemId, port: str) -> Edits:
    """Another wire from the output of a wire, led through its dots up to `dot`.

    Raises:
        WireRefused: the rule-book forbids it.
    """
    points = points_of(graph, (wire.target, wire.port))[: dot + 1]
    edits = connect(graph, wire.source, wire.output, target, port)
    draft = graph.copy()
    apply_all(draft, edits)
    ends = [(w.target, w.port) for w in draft.wires_from(wire.source) if w.output == wire.output]
    new = [end for end in ends if graph.wires.get(end) != draft.wires[end]]
    return (*edits, *(edit for end in new for edit in _places(with_points(draft, end, points))))


def without_dots(graph: Graph, items: Iterable[str]) -> dict[str, Place | None]:
    """Changes of places that take the dots away from all wires of some items."""
    chosen = set(items)
    places = dict[str, Place | None]()
    for end, dots in dots_by_end(graph).items():
        if end[0] in chosen or _source(graph, end) in chosen:
            places |= dict.fromkeys(dots)
    return places


def _source(graph: Graph, end: End) -> str:
    wire = graph.wires.get(end)
    return wire.source if wire is not None else ""


def _places(places: dict[str, Place | None]) -> Edits:
    return (SetPlaces(places),) if places else ()
