"""Which letters of a title were typed, for lists that show why a row is there."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from gradstudio.operators.search import query as queries

Spans = tuple[tuple[int, int], ...]
_LEAST: Final = 2
_MOST_OF_IT: Final = 0.6
"""Letters are marked after a slip of the keyboard when this part of what was typed is there."""


def highlight_spans(typed: str, title: str) -> Spans:
    """Beginnings and ends of the letters of a title that were typed; none when it was found by another word."""
    query = queries.read(typed)
    if not query.squashed:
        at = title.find(query.text) if query.text else -1
        return ((at, at + len(query.text)),) if at >= 0 else ()
    places = [k for k, letter in enumerate(title) if letter.isalnum()]
    letters = "".join(title[k].lower() for k in places)
    if len(letters) != len(places):  # some letters of other scripts are two in lower case
        return ()
    found = set(_letters(query, letters))
    return _spans(sorted(places[k] for k in found))


def _letters(query: queries.Query, letters: str) -> Iterator[int]:
    """Positions among the letters of a title."""
    at = letters.find(query.squashed)
    if at >= 0:
        yield from range(at, at + len(query.squashed))
        return
    there = [(letters.find(token), len(token)) for token in query.tokens if len(token) >= _LEAST]
    if any(at >= 0 for at, _size in there):
        for at, size in there:
            if at >= 0:
                yield from range(at, at + size)
        return
    blocks = SequenceMatcher(None, query.squashed, letters, autojunk=False).get_matching_blocks()
    long = [block for block in blocks if block.size >= _LEAST]
    if sum(block.size for block in long) >= _MOST_OF_IT * len(query.squashed):
        for block in long:
            yield from range(block.b, block.b + block.size)


def _spans(places: list[int]) -> Spans:
    spans: list[tuple[int, int]] = []
    for place in places:
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return tuple(spans)
