"""Finding an operator by what a person types: its name, a part of it, or an everyday word for it.

Ranks, best first: the exact title or symbol, the exact path, a search word, a beginning of the
title, a part of it, then word by word with beginnings, small typing errors and the summary.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from gradstudio.operators.model import Effect, Operator

_STOP_WORDS = frozenset("a an the of to and or with for in by from is it its as two my how make get".split())
_MAX_QUERY = 80
_MIN_TYPO = 4
"""Words shorter than this must be typed right."""

_TITLE, _WORDS, _CATEGORY, _SUMMARY = 60.0, 45.0, 25.0, 18.0
_PREFIX_FACTOR, _TYPO_FACTOR = 0.75, 0.55
_ALIASES = {"f": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim", "x": "torch.tensor", "np": "numpy"}


class _Entry:
    """What is compared with a query, in lower case."""

    __slots__ = ("names", "operator", "path", "phrases", "rank", "title")

    def __init__(self, operator: Operator, rank: int) -> None:
        self.operator, self.rank = operator, rank
        self.title = operator.title.lower()
        self.path = operator.path.lower()
        words = {self.title, operator.symbol.lower(), operator.word.lower()}
        self.names = (words | {word.replace("_", " ") for word in words}) - {""}
        self.phrases = tuple(phrase.lower() for phrase in operator.words)


class SearchIndex:
    """An index over operators; built once, asked at every keystroke."""

    def __init__(self, operators: Iterable[Operator]) -> None:
        """Read the rows; their order breaks ties."""
        self._entries = [_Entry(operator, rank) for rank, operator in enumerate(operators)]
        self._postings: dict[str, dict[int, float]] = {}
        for entry in self._entries:
            self._post(entry)
        self._vocabulary = sorted(self._postings)
        self._misspelt = _deletions(self._vocabulary)

    def search(self, query: str, *, limit: int = 50) -> tuple[Operator, ...]:
        """The rows that fit the query, best first; all rows in order when it says nothing."""
        text = _normalise(query)
        if not text:
            return tuple(entry.operator for entry in self._entries[:limit])
        scores = self._by_words(text)
        for entry in self._entries:
            whole = _whole_score(entry, text)
            if whole:
                scores[entry.rank] = scores.get(entry.rank, 0.0) + whole
        scores = _near_the_best(scores)
        best = sorted(scores, key=lambda rank: (-scores[rank] + _handicap(self._entries[rank].operator), rank))
        return tuple(self._entries[rank].operator for rank in best[:limit])

    def _post(self, entry: _Entry) -> None:
        operator = entry.operator
        fields = (
            (_TITLE, f"{operator.title} {operator.word}"),
            (_WORDS, " ".join(operator.words)),
            (_CATEGORY, operator.category),
            (_SUMMARY, operator.summary),
        )
        for weight, text in fields:
            for token in _tokens(text):
                rows = self._postings.setdefault(token, {})
                rows[entry.rank] = max(weight, rows.get(entry.rank, 0.0))

    def _by_words(self, text: str) -> dict[int, float]:
        """Rows in which every word of the query is found, with the sum of what each is worth."""
        tokens = [token for token in _tokens(text) if token not in _STOP_WORDS]
        total: dict[int, float] | None = None
        for token in tokens[:8]:
            found = self._rows_with(token)
            if total is None:
                total = found
            else:
                total = {rank: score + found[rank] for rank, score in total.items() if rank in found}
        return total or {}

    def _rows_with(self, token: str) -> dict[int, float]:
        rows = dict(self._postings.get(token, {}))
        for word in self._beginning_with(token):
            _merge(rows, self._postings[word], _PREFIX_FACTOR * (0.6 + 0.4 * len(token) / len(word)))
        if len(token) >= _MIN_TYPO:
            for word in self._like(token):
                _merge(rows, self._postings[word], _TYPO_FACTOR)
        return rows

    def _beginning_with(self, token: str) -> Iterator[str]:
        k = bisect_left(self._vocabulary, token)
        while k < len(self._vocabulary) and self._vocabulary[k].startswith(token):
            if self._vocabulary[k] != token:
                yield self._vocabulary[k]
            k += 1

    def _like(self, token: str) -> set[str]:
        """Words one slip of the keyboard away: a letter too many, too few, wrong, or two swapped."""
        near: set[str] = set()
        for variant in (token, *_without_one(token)):
            near.update(self._misspelt.get(variant, ()))
            if variant in self._postings and len(variant) >= _MIN_TYPO:
                near.add(variant)
        return near - {token}


def _whole_score(entry: _Entry, text: str) -> float:
    """What the query as a whole is worth for a row."""
    if text in entry.names:
        return 1000.0 if text == entry.title else 990.0
    if text == entry.path or entry.path.endswith("." + text):
        return 970.0
    if text in entry.phrases:
        return 900.0 - 3 * entry.phrases.index(text)
    if len(text) < 2:
        return 400.0 - len(entry.title) if entry.title.startswith(text) else 0.0
    if entry.title.startswith(text):
        return 700.0 - 4 * (len(entry.title) - len(text))
    if any(phrase.startswith(text) for phrase in entry.phrases):
        return 500.0
    if text in entry.title:
        return 400.0 - len(entry.title)
    if text in entry.path:
        return 150.0
    return 20.0 if len(text) >= 3 and _subsequence(text, entry.title) else 0.0


_SURE = 900.0
"""A row worth this much is what was asked for."""
_FAR_OFF = 30.0
"""A word of a summary, or a slip of the keyboard in a search word, is worth less."""


def _near_the_best(scores: dict[int, float]) -> dict[int, float]:
    """Without the rows that have it somewhere in a sentence, when the query is the very name of another."""
    if max(scores.values(), default=0.0) < _SURE:
        return scores
    return {rank: score for rank, score in scores.items() if score >= _FAR_OFF}


_HANDICAPS = (("torch.Tensor.", 8.0), ("torch.nn.Module.", 12.0), ("torch.autograd.", 16.0))
_IN_PLACE_HANDICAP = 40.0


def _handicap(operator: Operator) -> float:
    """Rarer spellings of the same thing stand a little lower."""
    in_place = _IN_PLACE_HANDICAP if Effect.IN_PLACE in operator.effects else 0.0
    return in_place + next((cost for head, cost in _HANDICAPS if operator.path.startswith(head)), 0.0)


def _normalise(query: str) -> str:
    text = " ".join(query[:_MAX_QUERY].lower().split())
    text = re.sub(r"\(.*$", "", text).strip() if len(text) > 1 and text[0] != "(" else text
    head, dot, rest = text.partition(".")
    return f"{_ALIASES[head]}.{rest}" if dot and rest and head in _ALIASES else text


def _tokens(text: str) -> Iterator[str]:
    """Words of a text in lower case; `CrossEntropyLoss` and `cross_entropy` give the same."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()
    for word in re.findall(r"[a-z0-9]+", split):
        yield word
    for word in re.findall(r"[a-z0-9_]+", text.lower()):
        if "_" in word.strip("_") or word not in split:
            yield word.replace("_", "")


def _deletions(words: Iterable[str]) -> dict[str, list[str]]:
    variants: dict[str, list[str]] = {}
    for word in words:
        if len(word) >= _MIN_TYPO:
            for variant in _without_one(word):
                variants.setdefault(variant, []).append(word)
    return variants


def _without_one(word: str) -> set[str]:
    return {word[:k] + word[k + 1 :] for k in range(len(word))}


def _merge(rows: dict[int, float], more: dict[int, float], factor: float) -> None:
    for rank, weight in more.items():
        value = weight * factor
        if value > rows.get(rank, 0.0):
            rows[rank] = value


def _subsequence(text: str, title: str) -> bool:
    letters = iter(title)
    return all(letter in letters for letter in text)
