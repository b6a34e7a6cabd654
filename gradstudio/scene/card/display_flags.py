"""How a card is worn: what its place says beside where it stands. No Qt."""

import msgspec

from gradstudio.graph.model import Place


class Worn(msgspec.Struct, frozen=True, gc=False):
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
