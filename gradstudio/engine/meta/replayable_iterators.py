"""Iterators in inference: a statement is tried more than once, and each try has to find them as the first did.

`parameters()`, `zip`, `map` … give what is used up by whoever reads it. In place of such a value stands a list that
remembers how far it was read and can be wound back.
"""

import itertools
from collections.abc import Iterable, Iterator
from types import GeneratorType
from typing import Any, NoReturn

from torch import Tensor, nn

from gradstudio.engine.meta.inference_results import UNKNOWN

LONGEST = 10_000
"""Items; of a longer one, which may have no end, only a run tells."""
_NOTHING: tuple[Any, ...] = ([], (), {}, {}.values(), {}.items(), set(), "", range(0), range(1 << 70))
_BUILT_IN: tuple[type, ...] = (zip, map, filter, enumerate, reversed, itertools.chain, itertools.islice)
_KINDS = (GeneratorType, *_BUILT_IN, type(reversed([])), *(type(iter(each)) for each in _NOTHING))
"""Whose items cost nothing but time to have. Of others, such as a loader's, nothing is read before a run."""


class ReplayableIterator(Iterator[Any]):
    """The items of an iterator, how far they were read, and where the statement that is tried began to."""

    def __init__(self, items: list[Any]) -> None:
        """Nothing was read."""
        self._items, self._next, self._began = items, 0, 0
        self.is_open = False

    def __next__(self) -> Any:
        """The next item."""
        if self._next >= len(self._items):
            raise StopIteration
        self._next += 1
        return self._items[self._next - 1]

    def __copy__(self) -> NoReturn:
        """Python copies no generator either."""
        raise TypeError("cannot pickle 'generator' object")

    def __deepcopy__(self, memo: object) -> NoReturn:
        """See above."""
        self.__copy__()

    @property
    def place(self) -> int:
        """How many items were read."""
        return self._next

    def mark(self) -> None:
        """A statement is about to be tried."""
        self._began = self._next

    def rewind(self) -> None:
        """As it was when the statement began to be tried."""
        self._next = self._began

    def lose(self) -> None:
        """How far it was read is not known any longer."""
        self.is_open = True


def make_replayable(value: Any) -> Any:
    """A result with every iterator in it replaced: by its items, or by "not known" where they are not to be had."""
    if isinstance(value, Tensor | nn.Module | ReplayableIterator) or not isinstance(
        value, Iterator | list | tuple | dict
    ):
        return value
    if isinstance(value, Iterator):
        return _drained(value)
    if not holds_iterator(value):
        return value
    places = list(value) if isinstance(value, dict) else range(len(value))
    items = [make_replayable(value[place]) for place in places]
    if any(item is UNKNOWN for item in items):
        return UNKNOWN
    if isinstance(value, tuple):
        return value._make(items) if hasattr(value, "_make") else type(value)(items)
    for place, item in zip(places, items, strict=True):
        value[place] = item
    return value


def holds_iterator(value: object) -> bool:
    """Whether a value is an iterator, or a list, tuple or dictionary that holds one."""
    if isinstance(value, Iterator):
        return True
    inner = _inner(value)
    return inner is not None and any(map(holds_iterator, inner))


def replayable_in(values: Iterable[object]) -> list[ReplayableIterator]:
    """The iterators that stand-ins are of, in lists too; each once."""
    found: dict[int, ReplayableIterator] = {}
    _collect(values, found)
    return list(found.values())


def lose_positions(values: Iterable[object]) -> bool:
    """How far the iterators among the values were read is not known any longer; whether there are any."""
    found = replayable_in(values)
    for iterator in found:
        iterator.lose()
    return bool(found)


def positions_in(values: Iterable[object]) -> list[tuple[ReplayableIterator, int]]:
    """The iterators among the values, and how far they were read."""
    return [(iterator, iterator.place) for iterator in replayable_in(values)]


def lose_advanced(places: list[tuple[ReplayableIterator, int]]) -> None:
    """Lose those that were read since."""
    lose_positions(iterator for iterator, place in places if iterator.place != place)


def _collect(values: Iterable[object], found: dict[int, ReplayableIterator]) -> None:
    for value in values:
        if isinstance(value, ReplayableIterator):
            found[id(value)] = value
        elif (inner := _inner(value)) is not None:
            _collect(inner, found)


def _inner(value: object) -> Iterable[object] | None:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else None


def _drained(value: Iterator[Any]) -> Any:
    around = value.__reduce__()[1] if isinstance(value, enumerate | zip) else (value,)
    if any(isinstance(one, Iterator) and not isinstance(one, (*_KINDS, ReplayableIterator)) for one in around):
        return UNKNOWN
    items = list(itertools.islice(value, LONGEST + 1))
    return UNKNOWN if len(items) > LONGEST or any(map(holds_iterator, items)) else ReplayableIterator(items)
