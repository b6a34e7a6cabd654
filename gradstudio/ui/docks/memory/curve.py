"""Curves thinned to what a screen can show, and bytes in units a person reads. Plain numpy, no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias
from typing import Literal as OneOf

if TYPE_CHECKING:
    import numpy as np


Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"

SERIES = ("tensors", "kept", "process", "allocated", "peak", "reserved", "total")
"""Series whose colours are those of a theme, in this order, in every document."""
LIKE = {"gradients": "allocated", "optimizer": "peak"}
"""Series of a CPU that have the colour of one which only accelerators have."""
UNITS = (("B", 1.0), ("KiB", 1024.0), ("MiB", 1024.0**2), ("GiB", 1024.0**3), ("TiB", 1024.0**4))


def thin_curve(times: Array, values: Array, columns: int) -> tuple[Array, Array]:
    """At most two points a pixel column: its lowest and highest value, so no peak is lost.

    Args:
        times: seconds, ascending, shape ``(samples,)``.
        values: shape ``(samples,)``; NaN where nothing was told.
        columns: pixel columns of the plot.
    """
    import numpy as np

    count = len(times)
    if columns < 1 or count <= 2 * columns:
        return times, values
    step = -(-count // columns)
    groups = -(-count // step)
    padded = np.full(groups * step, np.nan)
    padded[:count] = values
    table = padded.reshape(groups, step)
    empty = np.isnan(table).all(axis=1)
    low, high = (
        np.where(np.isnan(table), np.inf, table).min(axis=1),
        np.where(np.isnan(table), -np.inf, table).max(axis=1),
    )
    low[empty] = high[empty] = np.nan
    kept = np.empty(2 * groups)
    kept[0::2], kept[1::2] = low, high
    return np.repeat(times[::step], 2), kept


def unit_for(largest_bytes: float) -> tuple[str, float]:
    """The binary unit in which the figure has one to four digits before the point, and its bytes."""
    chosen = UNITS[0]
    for unit in UNITS:
        if largest_bytes >= unit[1]:
            chosen = unit
    return chosen


def in_words(size_bytes: float) -> str:
    """``1.25 GiB``, ``1,010 MiB``; whole numbers for bytes."""
    name, factor = unit_for(size_bytes)
    figure = size_bytes / factor
    return f"{figure:,.0f} {name}" if name == "B" or figure >= 999.5 else f"{figure:.3g} {name}"


def value_at(times: Array, values: Array, time_s: float) -> float | None:
    """The newest value told at or before a moment; None when there is none."""
    import numpy as np

    k = int(np.searchsorted(times, time_s, side="right")) - 1
    if k < 0 or np.isnan(values[k]):
        return None
    return float(values[k])


def label_sides(
    places_px: Sequence[float], widths_px: Sequence[float], room_px: float
) -> list[OneOf["right", "left", ""]]:
    """On which side of its mark each label stands, so that none is cut and none lies over another.

    The newest (the last) choose first; "" leaves a label out.

    Args:
        places_px: where the marks are, ascending, from the left edge.
        widths_px: how wide the labels are.
        room_px: the width of the plot.
    """
    sides: list[OneOf["right", "left", ""]] = []
    limit = room_px
    for place, width in zip(reversed(places_px), reversed(widths_px), strict=True):
        if place + width <= limit:
            sides.append("right")
            limit = place
        elif place <= limit and place - width >= 0:
            sides.append("left")
            limit = place - width
        else:
            sides.append("")
            limit = min(limit, place)
    return sides[::-1]


def series_color(colors: Sequence[str], name: str) -> str:
    """The colour of a series, the same in every document, whatever is measured beside it."""
    name = LIKE.get(name, name)
    place = SERIES.index(name) if name in SERIES else len(SERIES) + sum(map(ord, name))
    return colors[place % len(colors)]
