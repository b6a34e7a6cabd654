"""Layers in a row that are alike are drawn once: calls of modules with the same nodes, joined in the same way."""

from collections import defaultdict
from itertools import pairwise

from msgspec.structs import replace

from gradstudio.engine.sketch.raw_sketch import RawSketch
from gradstudio.protocol.sketch import CallPath, SketchEdge, SketchGroup

Members = list[int]
DIGITS = "0123456789"


def fold_repeated(sketch: RawSketch) -> RawSketch:
    """Each row of calls that differ only in their number as its first one, which says how many there are."""
    depths = sorted({len(path) for path in sketch.groups})
    for depth in depths:
        for row in _rows(sketch, depth):
            sketch = _fold(sketch, row)
    return sketch


def _rows(sketch: RawSketch, depth: int) -> list[list[CallPath]]:
    """Runs of at least two neighbours of that depth that are alike and feed only onwards."""
    members = _members(sketch, depth)
    shapes = {path: _shape(sketch, numbers) for path, numbers in members.items()}
    by_family: dict[tuple[object, ...], list[CallPath]] = defaultdict(list)
    for path in members:
        family = _family(path)
        if family is not None:
            by_family[family].append(path)
    rows = []
    for paths in by_family.values():
        paths.sort(key=_number)
        row = paths[:1]
        for one, other in pairwise(paths):
            if _number(other) == _number(one) + 1 and shapes[one] == shapes[other]:
                row.append(other)
            else:
                rows.append(row)
                row = [other]
        rows.append(row)
    return [row for row in rows if len(row) > 1 and _is_chain(sketch, row, members)]


def _family(path: CallPath) -> tuple[object, ...] | None:
    """What the calls of a row have in common: all but the number at the end of the innermost module's path."""
    stem = stem_of(path[-1])
    return (*path[:-1], stem) if stem is not None else None


def stem_of(name: str) -> str | None:
    """What stands before the number at the end of a module's path: `h.` of `h.3`, `block` of `block3`; not of `h#2`."""
    stem = name.rstrip(DIGITS)
    return None if stem == name or "#" in name else stem


def _number(path: CallPath) -> int:
    name = path[-1]
    return int(name[len(name.rstrip(DIGITS)) :])


def _members(sketch: RawSketch, depth: int) -> dict[CallPath, Members]:
    found: dict[CallPath, Members] = defaultdict(list)
    for number, node in sketch.nodes.items():
        if len(node.path) >= depth:
            found[node.path[:depth]].append(number)
    return found


def _shape(sketch: RawSketch, numbers: Members) -> tuple[object, ...]:
    place = {number: k for k, number in enumerate(numbers)}
    nodes = tuple(sketch.nodes[number].alike for number in numbers)
    inner = sorted((place[e.source], place[e.target], e.is_held, e.output) for e in sketch.edges if _is_inner(e, place))
    return nodes, tuple(inner)


def _is_inner(edge: SketchEdge, place: dict[int, int]) -> bool:
    return edge.source in place and edge.target in place


def _is_chain(sketch: RawSketch, row: list[CallPath], members: dict[CallPath, Members]) -> bool:
    """Whether each takes only from the one before or from what came before them all, and in the same places."""
    owner = {number: k for k, path in enumerate(row) for number in members[path]}
    place = {number: k for path in row for k, number in enumerate(members[path])}
    first = members[row[0]]
    takes: list[set[tuple[int, int]]] = [set() for _ in row]
    for edge in sketch.edges:
        one, other = owner.get(edge.source), owner.get(edge.target)
        if one is not None and other == one + 1:
            takes[other].add((place[edge.source], place[edge.target]))
        elif one is not None and other is not None and one != other:
            return False
        source = edge.source if one is None else first[place[edge.source]]
        target = edge.target if other is None else first[place[edge.target]]
        if (one is None) != (other is None) and source >= target:
            return False
    return all(taken == takes[1] for taken in takes[2:])


def _fold(sketch: RawSketch, row: list[CallPath]) -> RawSketch:
    """The first stands for all: what goes into any of them goes into it, and what comes out of any comes out of it."""
    members = _members(sketch, len(row[0]))
    owner = {number: path for path in row for number in members[path]}
    stands_for = {
        number: first for path in row[1:] for number, first in zip(members[path], members[row[0]], strict=True)
    }
    edges: dict[SketchEdge, None] = {}
    for edge in sketch.edges:
        one, other = owner.get(edge.source), owner.get(edge.target)
        if one is None or other is None or one == other:
            source, target = stands_for.get(edge.source, edge.source), stands_for.get(edge.target, edge.target)
            edges[replace(edge, source=source, target=target)] = None
    kind = sketch.groups[row[0]].title.rpartition(" · ")[2]
    group = SketchGroup(row[0], f"{row[0][-1]} … {row[-1][-1].rpartition('.')[2]} · {kind}", len(row))
    folded = sketch.without(set(stands_for), tuple(edges))
    return folded._replace(groups=folded.groups | {row[0]: group})
