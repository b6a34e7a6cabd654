"""Slips of the keyboard: which known words are a letter or two away from what was typed."""

from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 3
"""Shorter words must be typed right; where a word of three letters is meant or typed, only a letter too many or few."""
SHORTEST_FOR_TWO: Final = 7
"""In words as long as this two slips are forgiven."""
SHORTEST_BEGINNING: Final = 5
"""A beginning as long as this may have a slip."""


class TypoIndex:
    """Known words, looked up by what looks like them.

    A slip is a letter too many, too few, wrong, or two swapped (Damerau 1964, "optimal string alignment").
    Words are compared that begin with the first or second letter typed, and have nearly all letters of it.
    """

    def __init__(self, known: Iterable[str]) -> None:
        """Remember the words."""
        self._by_letter: dict[str, list[tuple[str, int, int]]] = {}
        self._headless: dict[str, list[str]] = {}
        for word in known:
            if len(word) >= SHORTEST:
                self._by_letter.setdefault(word[0], []).append((word, len(word), _letters(word)))
                self._headless.setdefault(word[1:], []).append(word)

    def like(self, typed: str) -> dict[str, int]:
        """Words that the typed one may mean, with the number of slips: 1 or 2."""
        if len(typed) < SHORTEST:
            return {}
        most = 2 if len(typed) >= SHORTEST_FOR_TWO else 1
        letters, length = _letters(typed), len(typed)
        # a first letter too many, or one that is missing or another
        headless = (*self._headless.get(typed, ()), *self._headless.get(typed[1:], ()))
        near = {word: 1 for word in headless if min(len(word), length) > SHORTEST}
        for first in {typed[0], typed[1]}:
            for word, size, its in self._by_letter.get(first, ()):
                bare = min(size, length) == SHORTEST and size == length  # `sub` is no slip of `sum`
                if not bare and -most <= size - length <= most and (letters & ~its).bit_count() <= most:
                    slips = distance(typed, word, most)
                    if slips <= most:
                        near[word] = min(slips, near.get(word, most))
        near.pop(typed, None)
        return near

    def beginning_like(self, typed: str) -> set[str]:
        """Longer words whose beginning is one slip away from what was typed so far."""
        if len(typed) < SHORTEST_BEGINNING:
            return set()
        letters, length = _letters(typed), len(typed)
        near = set()
        for word, size, its in self._by_letter.get(typed[0], ()):
            if size > length and (letters & ~its).bit_count() <= 1:
                heads = (word[: length + step] for step in (0, 1, -1))
                if any(distance(typed, head, 1) <= 1 for head in heads):
                    near.add(word)
        return near


def distance(one: str, other: str, most: int) -> int:
    """How many slips lie between two words; `most` + 1 when there are more."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, its in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _letters(word: str) -> int:
    """The set of its letters as bits; letters of other scripts share them."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) % 61)
    return bits
