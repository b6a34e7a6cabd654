"""Bookmarks of a document: places on its canvas behind the digits 1 to 9, and how the file writes them."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gradstudio.graph.model import Graph

DIGITS = tuple("123456789")


class Bookmark(msgspec.Struct, frozen=True):
    """What the window showed when it was set: zoom factor and the scene point at its centre, pixels; the selection."""

    zoom: float
    x: float
    y: float
    name: str = ""
    items: tuple[str, ...] = ()


def lines(bookmarks: Mapping[str, Bookmark], graph: Graph) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the file holds, by digit; items that are no more are left out."""
    for digit, mark in sorted(bookmarks.items()):
        line: dict[str, Any] = {"zoom": mark.zoom, "x": mark.x, "y": mark.y}
        if mark.name:
            line["name"] = mark.name
        if there := [item for item in mark.items if item in graph]:
            line["items"] = there
        yield digit, line
