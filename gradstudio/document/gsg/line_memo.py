"""The lines of a document that is written again and again."""

from collections.abc import Callable


class LineMemo:
    """Lines whose records are the same are taken as they were."""

    def __init__(self) -> None:
        """Nothing was written yet."""
        self._known: dict[object, tuple[object, str]] = {}
        self._met: dict[object, tuple[object, str]] = {}

    def line(self, key: object, record: object, make: Callable[[], str]) -> str:
        """What `make` gives for a frozen record; `key` tells its place from those of other records."""
        known = self._known.get(key)
        if known is None or known[0] is not record:
            known = record, make()
        self._met[key] = known
        return known[1]

    def end(self) -> None:
        """The document is written: forget the lines that it has no more."""
        self._known, self._met = self._met, {}
