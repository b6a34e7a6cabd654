"""The columns of a table: which are numbers, which are classes, which are text, and what is missing in them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstudio.document.data.model import Progress, Work
from gradstudio.document.data.table_text import number_in

MISSING_WORDS = frozenset(("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", "."))
MOST_CLASSES = 1_000
"""A text of more different words is no class."""
USUAL_CLASSES = 20
"""Whole numbers of at most so many different values are usually classes."""
KEY_WORDS = frozenset(("id", "index", "key", "row", "no", "nr"))
"""Names of columns whose numbers tell rows apart, in any order."""
COUNTED_SHARE = 0.9
"""Rows may have been left out, or added at the end, of those that were counted."""
NUMBER_SHARE = 0.8
"""A column of at least so many numbers is one of numbers; what else stands in it is missing."""
LARGEST = float(np.finfo(np.float32).max)
MISSING_CODE = -1
SLICE_CELLS = 8_192
_PLAIN = re.compile(r"[0-9.eE+\- \n]*")


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        numbers: float64, NaN where none stands; None of a text.
        codes: the class of each row, -1 where none stands; None where there are too many.
        classes: their names, in order.
        odd: rows with something else than a number in a column of numbers.
    """

    name: str
    numbers: NDArray[np.float64] | None
    codes: NDArray[np.int64] | None
    classes: tuple[str, ...]
    odd: tuple[int, ...] = ()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """The rows in which nothing stands, or nothing of use."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        return self.codes == MISSING_CODE if self.codes is not None else np.zeros(0, dtype=bool)

    @property
    def is_class(self) -> bool:
        """Whether its values are usually meant as classes: words, or few whole numbers."""
        if self.codes is None or not self.classes:
            return False
        if self.numbers is None:
            return True
        present = self.numbers[~np.isnan(self.numbers)]
        whole = bool(np.all(present == np.round(present)))
        return whole and len(self.classes) <= min(USUAL_CLASSES, max(2, len(present) // 2))

    @property
    def is_key(self) -> bool:
        """Whether every row has another whole number, and they count the rows or the column is called like that."""
        numbers = self.numbers
        if numbers is None or len(numbers) < 3 or not np.array_equal(numbers, np.round(numbers)):
            return False
        if len(np.unique(numbers)) < len(numbers):
            return False
        is_called_so = self.name.lower() in KEY_WORDS or self.name.lower().endswith(("_id", " id"))
        return is_called_so or bool(np.mean(np.diff(numbers) == 1) >= COUNTED_SHARE)

    @property
    def is_constant(self) -> bool:
        """Whether one value stands in all rows."""
        return len(self.classes) == 1

    @property
    def kind(self) -> str:
        """In words."""
        if self.numbers is not None:
            return "numbers"
        if self.codes is None:
            return "text"
        if not self.classes:
            return "empty"
        return "1 class" if len(self.classes) == 1 else f"{len(self.classes)} classes"


def column_of(name: str, cells: Sequence[str], decimal: str) -> Work[Column]:
    """What a column holds."""
    plain = (yield from _plain_numbers(cells)) if decimal == "." else None
    if plain is not None:
        return _of_numbers(name, plain, [False] * len(plain))
    texts: list[str] = []
    is_missing: list[bool] = []
    numbers: list[float | None] = []
    for part in _slices(cells):
        yield Progress("cells", len(texts), len(cells))
        for cell in part:
            text = cell.strip()
            gone = text.lower() in MISSING_WORDS
            texts.append(text)
            is_missing.append(gone)
            numbers.append(None if gone else number_in(text, decimal))
    present = len(texts) - sum(is_missing)
    good = sum(number is not None for number in numbers)
    if good and good >= NUMBER_SHARE * present:
        return _of_numbers(name, numbers, is_missing)
    names = sorted({text for text, gone in zip(texts, is_missing, strict=True) if not gone})
    if len(names) > MOST_CLASSES:
        return Column(name, None, None, ())
    index = {word: k for k, word in enumerate(names)}
    codes = [MISSING_CODE if gone else index[text] for text, gone in zip(texts, is_missing, strict=True)]
    return Column(name, None, np.array(codes, dtype=np.int64), tuple(names))


def _plain_numbers(cells: Sequence[str]) -> Work[list[float] | None]:
    """A column in which nothing but numbers stands, without a look at each cell; None of any other."""
    numbers: list[float] = []
    for part in _slices(cells):
        yield Progress("cells", len(numbers), len(cells))
        if _PLAIN.fullmatch("\n".join(part)) is None:
            return None
        try:
            numbers += map(float, part)
        except ValueError:
            return None
    return numbers


def _slices(cells: Sequence[str]) -> Iterator[Sequence[str]]:
    return (cells[first : first + SLICE_CELLS] for first in range(0, len(cells), SLICE_CELLS))


def _of_numbers(name: str, numbers: Sequence[float | None], is_missing: list[bool]) -> Column:
    array = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
    array[np.abs(array) > LARGEST] = np.nan
    odd = tuple(np.flatnonzero(np.isnan(array) & ~np.array(is_missing, dtype=bool)).tolist())
    present = ~np.isnan(array)
    values, places = np.unique(array[present], return_inverse=True)
    if len(values) > MOST_CLASSES:
        return Column(name, array, None, (), odd)
    codes = np.full(len(array), MISSING_CODE, dtype=np.int64)
    codes[present] = places
    return Column(name, array, codes, tuple(f"{value:.15g}" for value in values.tolist()), odd)
