"""Where each wire stands in the order of the wiring, and what an edit changed of that order. No Qt."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final, NamedTuple, TypeVar

from gradstudio.graph.ports.wire_dots import End

FEW: Final = 32
"""So many are taken out of a list one by one; of more the list is made anew."""
Value = TypeVar("Value")


class WireChange(NamedTuple):
    """What an edit did to the order: what stays keeps its order, and what came stands behind it.

    Attributes:
        gone: the places of those that went, from the first to the last.
        came: so many came.
    """

    gone: tuple[int, ...]
    came: int

    def kept(self, values: Sequence[Value]) -> list[Value]:
        """Of something for each wire before, that of those that stay."""
        found = list(values)
        if len(self.gone) > FEW:
            stays = bytearray(b"\1") * len(found)
            for k in self.gone:
                stays[k] = 0
            return list(compress(found, stays))
        for k in reversed(self.gone):
            del found[k]
        return found


class WirePlaces:
    """The place of each wire by the port where it ends, also while others come and go: each has a number that stays."""

    def __init__(self, ends: Iterable[End]) -> None:
        """In the order of these."""
        self._numbers = {end: k for k, end in enumerate(ends)}
        self._order = list(self._numbers.values())
        self._next = len(self._order)

    def follow(self, change: WireChange, gone: Iterable[End], came: Iterable[End]) -> None:
        """Some went, others came behind all that stayed."""
        for end in gone:
            del self._numbers[end]
        self._order = change.kept(self._order)
        for end in came:
            self._numbers[end] = self._next
            self._order.append(self._next)
            self._next += 1

    def get(self, end: End) -> int | None:
        """The place; None of a port where no wire ends."""
        number = self._numbers.get(end)
        return bisect_left(self._order, number) if number is not None else None

    def among(self, ends: Iterable[End]) -> list[int]:
        """The places of the wires that end in these ports, without those where none ends."""
        numbers, order = self._numbers, self._order
        return [bisect_left(order, numbers[end]) for end in ends if end in numbers]

    def __getitem__(self, end: End) -> int:
        """The place of the wire that ends there."""
        return bisect_left(self._order, self._numbers[end])
