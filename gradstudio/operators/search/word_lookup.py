"""Rows of the catalogue word by word: names, search words, categories and summaries."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import log
from typing import Final

from gradstudio.operators.model import Operator
from gradstudio.operators.search.query import STOP_WORDS, squash, words
from gradstudio.operators.search.synonyms import Synonyms
from gradstudio.operators.search.typos import TypoIndex

NAME = 170.0
NAME_WORD = 60.0
PHRASE = 45.0
CATEGORY = 25.0
SUMMARY = 18.0
RARE_SUMMARY = 10.0
_SCALE: Final = 2.2
_PLURAL, _BEGINNING, _SLIP = 0.8, 0.75, 0.55
_UNKNOWN: Final = 3.0
"""How much a word counts that no row has."""
_ENOUGH: Final = 0.5
"""Rows that lack words of the query need this part of it; words that few rows have count more."""
_FEW: Final = 8
_KEPT: Final = 256


def longer_words(vocabulary: Sequence[str], typed: str) -> Iterator[str]:
    """The words of a sorted vocabulary that begin with what is typed and go on."""
    k = bisect_left(vocabulary, typed)
    while k < len(vocabulary) and vocabulary[k].startswith(typed):
        if vocabulary[k] != typed:
            yield vocabulary[k]
        k += 1


class Lookup:
    """Which rows have which words, and in what."""

    def __init__(self, rows: Sequence[Operator], synonyms: Synonyms) -> None:
        """Read the rows."""
        self._count = len(rows)
        self._postings: dict[str, dict[int, float]] = {}
        paths: dict[str, list[int]] = {}
        for number, row in enumerate(rows):
            paths.setdefault(row.path, []).append(number)
            self._post(number, SUMMARY if not row.rare else RARE_SUMMARY, words(row.summary))
            self._post(number, CATEGORY, words(row.category))
            for phrase in row.words:
                self._post(number, PHRASE if not row.rare else CATEGORY, words(phrase))
            self._post(number, NAME_WORD, words(f"{row.title} {row.word}"))
            self._post(number, NAME, (squash(row.word), squash(row.title)))
        for phrase, targets in synonyms.phrases.items():
            for path in targets:
                for number in paths.get(path, ()):
                    self._post(number, PHRASE, words(phrase))
        self._vocabulary = sorted(self._postings)
        self._slips = TypoIndex(self._vocabulary)
        self._rows_with = lru_cache(_KEPT)(self._look_up)

    def find(self, tokens: Sequence[str]) -> dict[int, float]:
        """Rows with all of the words, and what they are worth: a rare word counts more than a common one.

        Rows that lack a word are among them when another is their very name, or few rows have all words.
        """
        weights: dict[int, float] = {}
        covers: dict[int, float] = {}
        named: set[int] = set()
        total = 0.0
        for token in tokens:
            rows = self._rows_with(token)
            rarity = log(1 + self._count / len(rows)) if rows else _UNKNOWN
            total += rarity
            for number, weight in rows.items():
                weights[number] = weights.get(number, 0.0) + rarity * weight
                covers[number] = covers.get(number, 0.0) + rarity
                if weight >= NAME:
                    named.add(number)
        whole = total * 0.999
        least = whole if sum(cover >= whole for cover in covers.values()) >= _FEW else total * _ENOUGH
        return {
            number: _SCALE * weight / total * (covers[number] / total) ** 1.5
            for number, weight in weights.items()
            if covers[number] >= least or number in named
        }

    def _post(self, number: int, weight: float, its: Iterable[str]) -> None:
        for word in its:
            if word and word not in STOP_WORDS:
                rows = self._postings.setdefault(word, {})
                if weight > rows.get(number, 0.0):
                    rows[number] = weight

    def _look_up(self, token: str) -> dict[int, float]:
        rows = dict(self._postings.get(token, ()))
        if len(token) > 3 and token.endswith("s"):
            _merge(rows, self._postings.get(token[:-1], {}), _PLURAL)
        elif len(token) > 2:
            _merge(rows, self._postings.get(f"{token}s", {}), _PLURAL)
        if len(token) > 1:
            for word in longer_words(self._vocabulary, token):
                _merge(rows, self._postings[word], _BEGINNING * (0.6 + 0.4 * len(token) / len(word)))
        if not rows:
            for word, slips in self._slips.like(token).items():
                _merge(rows, self._postings[word], _SLIP / slips)
        return rows


def _merge(rows: dict[int, float], more: dict[int, float], factor: float) -> None:
    for number, weight in more.items():
        value = weight * factor
        if value > rows.get(number, 0.0):
            rows[number] = value
