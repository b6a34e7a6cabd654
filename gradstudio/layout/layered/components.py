"""Which boxes hang together."""

from collections.abc import Sequence


def connected_components(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The connected parts of `count` boxes, each in program order, ordered by their first box."""
    leader = list(range(count))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for one, other in pairs:
        low, high = sorted((find(one), find(other)))
        leader[high] = low
    parts: dict[int, list[int]] = {}
    for number in range(count):
        parts.setdefault(find(number), []).append(number)
    return list(parts.values())
