"""Which curve stands on which of the two axes of values. No Qt here."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gradstudio.protocol.curve_titles import is_share

FAR: Final = 10.0
"""Of two curves on one axis, the lower one would have less than a tenth of the height."""
NEAR_AGAIN: Final = 3.0
"""What stood apart goes back where it is no more than so many times larger or smaller: none jumps to and fro."""


class Side(StrEnum):
    """An axis of values."""

    LEFT = "left"
    RIGHT = "right"


def choose_sides(
    largest: Mapping[str, float], chosen: Mapping[str, Side], before: Mapping[str, Side]
) -> dict[str, Side]:
    """The axis of each curve, by title: as it was chosen, else beside the first one, or apart from it.

    The first is the one that stands left: mostly the loss. What is more than `FAR` times larger or smaller stands
    apart; so does what lies between 0 and 1 where the first does not, if it can be read there beside the others.

    Args:
        largest: the largest magnitude of each curve so far, in the order they came; 0 where it has none.
        chosen: what a person chose.
        before: what this gave last.
    """
    first = next((title for title in largest if chosen.get(title) is not Side.RIGHT), None)
    if first is None:
        return dict.fromkeys(largest, Side.RIGHT)
    limits = {title: NEAR_AGAIN if before.get(title) is Side.RIGHT else FAR for title in largest}
    far = {title for title in largest if _ratio(largest[title], largest[first]) > limits[title]}
    apart = next((title for title in largest if chosen.get(title, Side.RIGHT) is Side.RIGHT and title in far), None)

    def by_itself(title: str) -> Side:
        to_apart = _ratio(largest[title], largest[apart]) if apart is not None else 1.0
        if title in far:
            is_right = to_apart <= _ratio(largest[title], largest[first])
        else:
            is_right = is_share(title) != is_share(first) and to_apart <= FAR
        return Side.RIGHT if is_right else Side.LEFT

    return {title: chosen.get(title, Side.LEFT if title == first else by_itself(title)) for title in largest}


def _ratio(one: float, other: float) -> float:
    """How many times larger the larger is; 1 where one of them is nothing yet."""
    low, high = sorted((one, other))
    return high / low if low > 0 else 1.0
