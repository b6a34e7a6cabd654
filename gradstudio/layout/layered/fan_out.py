"""A value that many statements read, each for itself, does not make one column as high as a tower.

What only reads such values moves to the right in groups, until all of it has about the shape of a screen.
"""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from gradstudio.layout.layered.components import connected_components
from gradstudio.layout.layered.coordinates import GAP_X, GAP_Y
from gradstudio.layout.layered.model import Box

MANY = 5
"""So many users make a fan."""
MANY_JOINED = 12
"""What takes from so many joins them: they may stand in several columns before it."""
MOST_BEFORE_A_JOIN = 3
"""So many groups at most: each has wires of its own to the join, past those behind it."""
HIGH = 1800.0
"""A fan that is not as high stays as it is, pixels."""
ASPECT = 1.7


def spread_fan_out(
    boxes: Sequence[Box],
    pairs: Sequence[tuple[int, int]],
    layer: Sequence[int],
    first: AbstractSet[int],
    last: AbstractSet[int],
) -> tuple[list[int], set[int]]:
    """The columns, with the blades of fans in several of them, and the boxes that were moved.

    Args:
        boxes: in program order.
        pairs: of numbers that stand left to right.
        layer: the column of each box.
        first, last: numbers that stay in the first column, or right of all others.
    """
    made = list(layer)
    moved = set[int]()
    joins = _joins(len(boxes), pairs, last)
    blades = _blades(len(boxes), pairs, first, last, joins)
    size = {blade[0]: _size(boxes, layer, blade) for blade in blades}
    height = sum(size[blade[0]][1] for blade in blades)
    if len(blades) < MANY or height < HIGH:
        return made, moved
    width = max(size[blade[0]][0] for blade in blades)
    groups = max(1, round(math.sqrt(ASPECT * height / width)))
    groups = min(groups, MOST_BEFORE_A_JOIN) if joins else groups
    full = height / groups
    shift = 0
    deepest = 0
    start = min(min(layer[n] for n in blade) for blade in blades)
    filled = 0.0
    for blade in blades:
        if filled and filled + size[blade[0]][1] / 2 > full:
            shift = deepest + 1 - start
            deepest = 0
            filled = 0.0
        for number in blade:
            made[number] = layer[number] + shift
            if shift:
                moved.add(number)
            deepest = max(deepest, made[number])
        filled += size[blade[0]][1]
    _push_on(made, pairs, joins)
    end = max((made[number] for number in range(len(boxes)) if number not in last), default=0)
    return [end + 1 if number in last else made[number] for number in range(len(boxes))], moved


def _joins(count: int, pairs: Sequence[tuple[int, int]], last: AbstractSet[int]) -> set[int]:
    """The boxes that bring many together, and all that follows them."""
    sources: list[set[int]] = [set() for _ in range(count)]
    for source, target in pairs:
        sources[target].add(source)
    joins = {number for number in range(count) if len(sources[number]) >= MANY_JOINED and number not in last}
    for number in range(count):  # in program order: sources first
        if not sources[number].isdisjoint(joins) and number not in last:
            joins.add(number)
    return joins


def _push_on(layer: list[int], pairs: Sequence[tuple[int, int]], joins: AbstractSet[int]) -> None:
    """Put joins, and what follows them, right of what they take from; what only they use goes along."""
    users: dict[int, set[int]] = {}
    for source, target in sorted(pairs, key=lambda pair: pair[1]):
        users.setdefault(source, set()).add(target)
        if target in joins:
            layer[target] = max(layer[target], layer[source] + 1)
    takes = {target for _, target in pairs}
    for number, targets in users.items():
        if number not in takes and targets <= joins:
            layer[number] = max(layer[number], min(layer[target] for target in targets) - 1)


def _blades(
    count: int,
    pairs: Sequence[tuple[int, int]],
    first: AbstractSet[int],
    last: AbstractSet[int],
    joins: AbstractSet[int],
) -> list[list[int]]:
    """What hangs together without hubs and joins and gives nothing back to hubs, in program order."""
    users: list[set[int]] = [set() for _ in range(count)]
    for source, target in pairs:
        users[source].add(target)
    hubs = {number for number in range(count) if len(users[number]) >= MANY}
    stays = set(first)
    reads = set()
    joined: list[tuple[int, int]] = []
    for source, target in pairs:
        if source in hubs:
            reads.add(target)
        elif target in hubs:
            stays.add(source)
        elif target not in last and target not in joins:
            joined.append((source, target))
    blades = list[list[int]]()
    for part in connected_components(count, joined):
        blade = [number for number in part if number not in hubs and number not in last and number not in joins]
        if stays.isdisjoint(blade) and not reads.isdisjoint(blade):
            blades.append(blade)
    return sorted(blades)


def _size(boxes: Sequence[Box], layer: Sequence[int], blade: Sequence[int]) -> tuple[float, float]:
    """About how wide and high a blade is, with the gap beside it."""
    columns: dict[int, list[Box]] = {}
    for number in blade:
        columns.setdefault(layer[number], []).append(boxes[number])
    width = sum(max(box.width for box in column) + GAP_X for column in columns.values())
    return width, max(sum(box.height + GAP_Y for box in column) for column in columns.values())
