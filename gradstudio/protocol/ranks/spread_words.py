"""What is said of a value over ranks: equal, or by how much not, and which rank holds a NaN."""

from gradstudio.protocol.messages.ranks import Holders, Range, Spread
from gradstudio.protocol.number_format import format_number


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
    ranges = [each for each in (spread.minimum, spread.maximum, spread.mean, spread.rms) if each is not None]
    return not spread.layout or any(one.least != one.most for one in ranges)


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
