"""The lines of a document that is written again and again."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from gradstudio.graph.slices import Slices, portions

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class LineMemo:
    """Lines whose records are the same are taken as they were."""

    def __init__(self) -> None:
        """Nothing was written yet."""
        self._known: dict[object, tuple[object, str]] = {}
        self._met: dict[object, tuple[object, str]] = {}

    def lines(self, records: Sequence[tuple[K, R]], make: Callable[[K, R], str]) -> Slices[list[str]]:
        """What `make` gives for frozen records; the key of each tells its place from those of others."""
        before, met = self._known, self._met
        found: list[str] = []
        for number, portion in enumerate(portions(records)):
            if number:
                yield
            for key, record in portion:
                known = before.get(key)
                if known is None or known[0] is not record:
                    known = record, make(key, record)
                met[key] = known
                found.append(known[1])
        return found

    def end(self) -> None:
        """The document is written: forget the lines that it has no more."""
        self._known, self._met = self._met, {}
