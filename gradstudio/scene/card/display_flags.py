"""How a card is worn: what its place says beside where it stands. No Qt."""

import msgspec

from gradstudio.graph.model import ChartKind, Place


class DisplayFlags(msgspec.Struct, frozen=True, gc=False):
    """Only the header, without unwired inputs, pinned down, with a chart; see `Place`."""

    collapsed: bool = False
    tucked: bool = False
    pinned: bool = False
    chart: ChartKind = ""


PLAIN = DisplayFlags()


def display_flags_of(place: Place | None) -> DisplayFlags:
    """What a place says of it."""
    if place is None or not (place.collapsed or place.tucked or place.pinned or place.chart):
        return PLAIN
    return DisplayFlags(place.collapsed, place.tucked, place.pinned, place.chart)
