"""How well a few typed letters fit a line, and which of its letters they mean. No Qt."""

from typing import Final, NamedTuple

WHOLE: Final = 1000
START: Final = 800
WORD: Final = 600
INSIDE: Final = 400
INITIALS: Final = 300
SCATTERED: Final = 100
GAP: Final = 4
"""What each letter that is skipped between two typed ones costs."""


class Fit(NamedTuple):
    """How well something fits, and the places of the letters meant."""

    score: int
    places: tuple[int, ...]


def fit(typed: str, line: str) -> Fit | None:
    """How well typed letters fit a line, whatever their case; None when they do not."""
    wanted, text = typed.strip().casefold(), line.casefold()
    if not wanted:
        return Fit(0, ())
    at = text.find(wanted)
    if at >= 0:
        return Fit(_found(wanted, text, at) - min(len(text), 60), tuple(range(at, at + len(wanted))))
    starts = _word_starts(text)
    initials = "".join(text[k] for k in starts)
    at = initials.find(wanted)
    if at >= 0:
        return Fit(INITIALS - min(len(text), 60), tuple(starts[at : at + len(wanted)]))
    return _scattered(wanted, text)


def fit_words(typed: str, line: str, around: str) -> Fit | None:
    """Every typed word fits the line or what stands around it; the line counts more."""
    whole = fit(typed, line)
    words = typed.split()
    if whole is not None and (whole.score > SCATTERED or len(words) < 2):
        return whole
    score, places = 0, set[int]()
    for word in words:
        inside, outside = fit(word, line), fit(word, around)
        if inside is not None and (inside.score > SCATTERED or outside is None):
            places.update(inside.places)
            score += inside.score
        elif outside is not None and outside.score > SCATTERED:
            score += outside.score // 3
        else:
            return None
    return Fit(score // len(words) - 50, tuple(sorted(places)))


def _found(wanted: str, text: str, at: int) -> int:
    if wanted == text:
        return WHOLE
    if at == 0:
        return START
    return WORD if not text[at - 1].isalnum() or f" {wanted}" in text else INSIDE


def _word_starts(text: str) -> list[int]:
    return [k for k, letter in enumerate(text) if letter.isalnum() and (k == 0 or not text[k - 1].isalnum())]


def _scattered(wanted: str, text: str) -> Fit | None:
    """All letters in their order, each as early as it can be after the one before."""
    places: list[int] = []
    for letter in wanted.replace(" ", ""):
        at = text.find(letter, places[-1] + 1 if places else 0)
        if at < 0:
            return None
        places.append(at)
    gaps = places[-1] - places[0] + 1 - len(places)
    if gaps > 3 * len(places):
        return None
    return Fit(SCATTERED - GAP * gaps, tuple(places))
