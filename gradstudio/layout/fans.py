"""A value that many statements read, each for itself, does not make one column as high as a tower.

What only reads such values moves to the right in groups, until all of it has about the shape of a screen.
"""

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from gradstudio.layout.coordinates import GAP_X, GAP_Y
from gradstudio.layout.model import Box

MANY = 5
"""So many users make a fan."""
HIGH = 1800.0
"""A fan that is not as high stays as it is, pixels."""
ASPECT = 1.7


def spread_fans(
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
    made, moved = list(layer), set[int]()
    blades = _blades(len(boxes), pairs, first, last)
    size = {blade[0]: _size(boxes, layer, blade) for blade in blades}
    height = sum(size[blade[0]][1] for blade in blades)
    if len(blades) < MANY or height < HIGH:
        return made, moved
    width = max(size[blade[0]][0] for blade in blades)
    groups = max(1, round(math.sqrt(ASPECT * height / width)))
    full, shift, deepest, start = height / groups, 0, 0, min(min(layer[n] for n in blade) for blade in blades)
    filled = 0.0
    for blade in blades:
        if filled and filled + size[blade[0]][1] / 2 > full:
            shift, deepest, filled = deepest + 1 - start, 0, 0.0
        for number in blade:
            made[number] = layer[number] + shift
            if shift:
                moved.add(number)
            deepest = max(deepest, made[number])
        filled += size[blade[0]][1]
    end = max((made[number] for number in range(len(boxes)) if number not in last), default=0)
    return [end + 1 if number in last else made[number] for number in range(len(boxes))], moved


def _blades(
    count: int, pairs: Sequence[tuple[int, int]], first: AbstractSet[int], last: AbstractSet[int]
) -> list[list[int]]:
    """What hangs together when the hubs are gone and gives nothing back to them, in program order."""
    users: list[set[int]] = [set() for _ in range(count)]
    for source, target in pairs:
        users[source].add(target)
    hubs = {number for number in range(count) if len(users[number]) >= MANY}
    leader = list(range(count))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    stays, reads = set(first), set()
    for source, target in pairs:
        if source in hubs:
            reads.add(target)
        elif target in hubs:
            stays.add(source)
        elif target not in last:
            low, high = sorted((find(source), find(target)))
            leader[high] = low
    blades: dict[int, list[int]] = {}
    for number in range(count):
        if number not in hubs and number not in last:
            blades.setdefault(find(number), []).append(number)
    return [blade for blade in blades.values() if stays.isdisjoint(blade) and not reads.isdisjoint(blade)]


def _size(boxes: Sequence[Box], layer: Sequence[int], blade: Sequence[int]) -> tuple[float, float]:
    """About how wide and high a blade is, with the gap beside it."""
    columns: dict[int, list[Box]] = {}
    for number in blade:
        columns.setdefault(layer[number], []).append(boxes[number])
    width = sum(max(box.width for box in column) + GAP_X for column in columns.values())
    return width, max(sum(box.height + GAP_Y for box in column) for column in columns.values())
