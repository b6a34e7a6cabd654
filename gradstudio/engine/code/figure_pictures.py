"""A figure of matplotlib painted twice: as it is, and for a dark ground. The figure itself stays what it is."""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradstudio.protocol.messages.drawn_figures import FigurePicture

LONGEST_PX = 960
"""Of the longer edge of a picture."""
USUAL_DPI = 120
MOST_ARTISTS = 5_000
"""Of a figure with more parts only the ground and the axes change their colours."""
DARK_GROUND, LIGHT_INK, FAINT_INK = "#1b1e25", "#d7dae0", "#4a4f5c"
_DARK = {
    (1.0, 1.0, 1.0): DARK_GROUND,
    (0.0, 0.0, 0.0): LIGHT_INK,
    (0.8, 0.8, 0.8): FAINT_INK,
    (0.69, 0.69, 0.69): FAINT_INK,
}
"""What matplotlib draws unasked (grounds, ink, edges of legends, grids), by its rounded colour, on a dark ground."""
_SIZE, _SIZE_AT = struct.Struct(">II"), 16
"""Width and height of a PNG, and where they stand in it."""
_COLOURS = ("color", "facecolor", "edgecolor", "markeredgecolor", "markerfacecolor")


def picture_of(figure: Any) -> FigurePicture | None:
    """The figure as pictures; None when it cannot be painted."""
    inches = figure.get_size_inches()
    dpi = max(10.0, min(USUAL_DPI, LONGEST_PX / max(*inches, 0.1)))
    try:
        light = _png(figure, dpi)
        with _for_a_dark_ground(figure):
            dark = _png(figure, dpi)
    except Exception:  # noqa: BLE001 - a trial: what a person's own figure cannot be painted for, it says when it is saved
        return None
    finally:
        figure.stale = False
    width, height = _SIZE.unpack_from(light, _SIZE_AT)
    return FigurePicture(width=width, height=height, light=light, dark=dark)


def _png(figure: Any, dpi: float) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=dpi, facecolor=figure.get_facecolor(), bbox_inches="tight")
    return target.getvalue()


@contextmanager
def _for_a_dark_ground(figure: Any) -> Iterator[None]:
    """Black is light and white is dark within, where the figure says no other colour."""
    before: list[tuple[Any, Any]] = []
    artists = figure.findobj()
    for artist in artists[:MOST_ARTISTS]:
        for word in _COLOURS:
            get, put = getattr(artist, f"get_{word}", None), getattr(artist, f"set_{word}", None)
            if get is None or put is None:
                continue
            colour = get()
            if (dark := _dark(colour)) is not None:
                before.append((put, colour))
                put(dark)
    try:
        yield
    finally:
        for put, colour in reversed(before):
            put(colour)


def _dark(colour: object) -> str | None:
    """What stands for a colour on a dark ground; None where it stays, and for what is no single colour."""
    from matplotlib.colors import to_rgba  # type: ignore[import-not-found]  # a library of the person's own

    try:
        red, green, blue, alpha = to_rgba(colour)
    except (ValueError, TypeError):
        return None
    found = _DARK.get((round(red, 2), round(green, 2), round(blue, 2)))
    return found if alpha else None
