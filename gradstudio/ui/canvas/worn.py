"""How a card is worn: what its place says beside where it stands. No Qt."""

from dataclasses import dataclass

from gradstudio.graph.model import Place


@dataclass(frozen=True, slots=True)
class Worn:
    """Only the header, without unwired inputs, pinned down; see `Place`."""

    collapsed: bool = False
    tucked: bool = False
    pinned: bool = False


PLAIN = Worn()


def worn_at(place: Place | None) -> Worn:
    """What a place says of it."""
    if place is None or not (place.collapsed or place.tucked or place.pinned):
        return PLAIN
    return Worn(place.collapsed, place.tucked, place.pinned)
