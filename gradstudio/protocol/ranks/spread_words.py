"""What is said of a value over ranks: equal, or by how much not, and which rank holds a NaN."""

import re

from gradstudio.protocol.messages.ranks import Holders, Range, Spread
from gradstudio.protocol.number_format import format_number

CARD_RANKS = 3
"""So many ranks are named on a card."""
_SIGN = re.compile(r" (=|≠|~|NaN|NaN r\d+…?|\d+/\d+)$")
"""What `spread_sign` says, behind something else."""


def spread_sign(spread: Spread) -> str:
    """As short as can be: "=" where all hold the same bytes, "≠", "~" where figures alone are.

    "NaN r2" where rank 2 holds a NaN; "1/2" where two ranks are, and one of them alone has told it.
    """
    if spread.nan.count:
        if spread.nan.count == spread.ranks > 1:
            return "NaN"  # all hold one
        return f"NaN r{spread.nan.ranks[0]}{'…' if spread.nan.count > 1 else ''}"
    if spread.is_equal:
        return "="
    if _is_other(spread):
        return "≠"
    return f"{spread.ranks}/{spread.ranks + spread.missing}" if spread.missing else "~"


def spread_amount(spread: Spread) -> str:
    """For a card: who holds a NaN, else whether all hold the same, else by how much not (Δ).

    Of one number the largest absolute difference between two ranks is exact. Of more, "≥": two tensors of which a
    figure (min, max, mean, rms) differs by d differ by at least d in some element, for none of the figures moves by
    more than that.
    """
    for word, who in (("NaN", spread.nan), ("∞", spread.infinite)):
        if who.count:
            return f"{word} {_few_ranks(who)}"
    if not spread.layout:
        return "other shapes"
    if spread.missing and spread.ranks == 1:
        return f"told by {spread.ranks} of {spread.ranks + spread.missing}"
    if spread.parts:
        return f"parts of {spread.ranks}"
    if spread.digest:
        return f"{_few(spread)} equal"
    widest = max(_figures(spread), key=lambda one: one.most - one.least, default=None)
    if widest is None or widest.least == widest.most:
        return f"{_few(spread)} ≈"
    sign = "=" if spread.layout.endswith("[]") else "≥"
    return f"Δ {sign} {format_number(widest.most - widest.least, 3)}"


def amount_wordings(spread: Spread) -> tuple[str, ...]:
    """What `spread_amount` says, in fewer letters where a card has no room for it: the longest first, a sign last."""
    words, sign = spread_amount(spread), spread_sign(spread)
    for word, who in (("NaN", spread.nan), ("∞", spread.infinite)):
        if who.count:
            fewer = (f"{word} {_few_ranks(who, most)}" for most in range(CARD_RANKS - 1, 0, -1))
            return tuple(dict.fromkeys((words, *fewer, sign)))
    brief = words.removeprefix("all ").replace("Δ ≥ ", "Δ≥").replace("Δ = ", "Δ=")
    return tuple(dict.fromkeys((words, brief, sign)))


def hint_wordings(hint: str) -> tuple[str, ...]:
    """A shape with the sign of ranks behind it, in fewer letters where there is no room: the sign is the last to go."""
    found = _SIGN.search(hint)
    if found is None:
        return (hint,)
    return (hint, hint.replace(", ", ","), found[1])


def spread_words(spread: Spread) -> str:
    """In a sentence: all hold the same bytes, or where means (of one number, it) lie, and on which rank."""
    count = _count(spread.ranks, spread.missing)
    odd = [
        f"{word} on {_ranks(who)}" for word, who in (("NaN", spread.nan), ("infinite", spread.infinite)) if who.count
    ]
    if not spread.layout:
        said = f"of different shapes or dtypes on {count}"
    elif spread.missing and spread.ranks == 1:
        said = f"told by {count}"
    elif spread.parts:
        said = f"parts on {count}{_differing(spread)}"
    elif spread.digest and spread.layout:
        said = f"equal on {count}"
    elif not _is_other(spread):
        said = f"the same figures on {count}"
    else:
        said = f"different on {count}{_differing(spread)}"
    return "; ".join([*odd, said])


def _is_other(spread: Spread) -> bool:
    """Whether it is seen that ranks hold different values; bytes alone are not compared of what is very large."""
    some_alone = any(0 < who.count < spread.ranks for who in (spread.nan, spread.infinite))
    return not spread.layout or some_alone or any(one.least != one.most for one in _figures(spread))


def _figures(spread: Spread) -> list[Range]:
    return [each for each in (spread.minimum, spread.maximum, spread.mean, spread.rms) if each is not None]


def _few(spread: Spread) -> str:
    return f"{spread.ranks}/{spread.ranks + spread.missing}" if spread.missing else "all"


def _few_ranks(who: Holders, most: int = CARD_RANKS) -> str:
    """The lowest ranks by number, in the width of a card."""
    names = ", ".join(f"r{rank}" for rank in who.ranks[:most])
    return f"{names} +{who.count - most}" if who.count > most else names


def _differing(spread: Spread) -> str:
    names = (("mean", spread.mean), ("rms", spread.rms), ("min", spread.minimum), ("max", spread.maximum))
    for name, one in names:
        if one is not None and one.least != one.most:
            is_single = spread.layout.endswith("[]")
            return f": {'' if is_single else name + ' '}{_ends(one)}"
    return ""


def _ends(one: Range) -> str:
    low, high = format_number(one.least, 4), format_number(one.most, 4)
    return f"{low} (rank {one.least_rank}) to {high} (rank {one.most_rank})"


def _ranks(who: Holders) -> str:
    names = ", ".join(map(str, who.ranks))
    more = ", …" if who.count > len(who.ranks) else ""
    return f"rank{'s' * (who.count != 1)} {names}{more}"


def _count(ranks: int, missing: int) -> str:
    return f"{ranks} of {ranks + missing} ranks" if missing else f"{ranks} rank{'s' * (ranks != 1)}"
