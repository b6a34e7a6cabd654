"""Pictures of tensors: signed values around zero, ramps, grey images, marks for what is not finite."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Final

import msgspec
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from gradstudio.protocol.messages.records import Preview, Summary
from gradstudio.scene.value_format import bare_dtype
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVELS: Final = 256
MARK_CELL: Final = 5.0
"""Cells at least so many pixels wide get a drawn mark for NaN and infinities."""
SHEET_LINE: Final = 0xFF606060
"""Between the pictures of a sheet: darker than paper, lighter than ink."""
IMAGE_EDGE: Final = 8
"""A matrix of values within 0 ... 1 with at least so many rows and columns is shown as an image."""
USUAL: Final = 0.95
"""So large a share of the values has a colour of its own; what is further out has that of the scale's end."""
FEWEST_FOR_USUAL: Final = 24
"""Of so many values some may be called far out."""

KEPT: Final = 512
"""So many pictures are kept."""


def values(preview: Preview) -> NDArray[np.float32]:
    """The numbers of a preview, `(rows, columns)`."""
    import numpy as np

    return np.frombuffer(preview.data, dtype=np.float32).reshape(preview.rows, preview.columns)


def image(summary: Summary, theme: Theme) -> QImage | None:
    """One pixel an element of the preview; None when there is no preview. The latest ones are kept."""
    return _image(_Pictured(summary, theme))


class _Pictured(msgspec.Struct, frozen=True, eq=False):
    """A key of what is kept: the same objects, not equal ones."""

    summary: Summary
    theme: Theme

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pictured) and other.summary is self.summary and other.theme is self.theme

    def __hash__(self) -> int:
        return hash((id(self.summary), id(self.theme)))


@functools.lru_cache(maxsize=KEPT)
def _image(pictured: _Pictured) -> QImage | None:
    import numpy as np

    summary, theme = pictured.summary, pictured.theme
    preview = summary.preview
    if preview is None:
        return None
    data = values(preview)
    table, low, high = _scale(summary, data, theme)
    with np.errstate(all="ignore"):  # what is too small or too large for a place is none, and is marked
        place = (data - low) * ((LEVELS - 1) / (high - low))
    place.clip(0, LEVELS - 1, out=place)
    missing = place != place
    is_whole = not missing.any()
    if not is_whole:
        place[missing] = 0
    pixels = table.take(place.astype(np.uint8))
    if not is_whole:
        pixels[missing] = theme.color("heat_mark").rgb()
    if preview.tile_rows:
        pixels = _sheet(pixels, preview)
    rows, columns = pixels.shape
    return QImage(pixels.tobytes(), columns, rows, columns * 4, QImage.Format.Format_RGB32).copy()


def _sheet(pixels: NDArray[np.uint32], preview: Preview) -> NDArray[np.uint32]:
    """Pictures that lie one below the other, side by side with a line between them."""
    import numpy as np

    tiles = pixels.reshape(-1, preview.tile_rows, preview.columns)
    across, down = sheet_shape(len(tiles))
    high, wide = preview.tile_rows + 1, preview.columns + 1
    sheet = np.full((down * high - 1, across * wide - 1), SHEET_LINE, dtype=np.uint32)
    for k, tile in enumerate(tiles[: across * down]):
        top, left = k // across * high, k % across * wide
        sheet[top : top + preview.tile_rows, left : left + preview.columns] = tile
    return sheet


def sheet_shape(count: int) -> tuple[int, int]:
    """How many pictures stand side by side, and in how many rows, all full."""
    down = next(rows for rows in (3, 2, 1) if count >= rows * rows)
    return count // down, down


def aspect(preview: Preview) -> float:
    """Width over height, kept between a third and three."""
    if preview.tile_rows:
        across, down = sheet_shape(preview.rows // preview.tile_rows)
        return across * preview.columns / (down * preview.tile_rows)
    return min(max(preview.columns / preview.rows, 1 / 3), 3.0)


def tint(summary: Summary, theme: Theme) -> QColor:
    """One colour for a whole tensor, by the sign and size of its mean: for cards seen from afar."""
    if summary.nan or summary.posinf or summary.neginf:
        return theme.color("danger")
    extent = max(abs(summary.minimum or 0.0), abs(summary.maximum or 0.0))
    mean = summary.mean if summary.mean is not None else 0.0
    share = 0.5
    if summary.minimum != summary.maximum and extent and math.isfinite(extent) and math.isfinite(mean):
        share += 0.5 * min(max(mean / extent, -1.0), 1.0)
    table = _diverging(theme.heat_negative, theme.heat_zero, theme.heat_positive)
    return QColor.fromRgb(int(table[int(share * (LEVELS - 1))]))


def paint_marks(painter: QPainter, target: QRectF, summary: Summary, theme: Theme) -> None:
    """A cross for NaN, a bar up or down for infinities, where the cells are large enough to see."""
    import numpy as np

    preview = summary.preview
    if preview is None or preview.tile_rows or not (summary.nan or summary.posinf or summary.neginf):
        return
    data = values(preview)
    width, height = target.width() / preview.columns, target.height() / preview.rows
    if min(width, height) < MARK_CELL:
        return
    painter.setPen(QPen(theme.color("danger"), 1.4))
    for row, column in np.argwhere(~np.isfinite(data)).tolist():
        cell = QRectF(target.x() + column * width, target.y() + row * height, width, height)
        painter.drawLines(_mark(cell.adjusted(1.5, 1.5, -1.5, -1.5), float(data[row, column])))


def _mark(cell: QRectF, value: float) -> list[QLineF]:
    if math.isnan(value):
        return [QLineF(cell.topLeft(), cell.bottomRight()), QLineF(cell.topRight(), cell.bottomLeft())]
    x = cell.center().x()
    tip, tail = (cell.top(), cell.bottom()) if value > 0 else (cell.bottom(), cell.top())
    barb = (tail - tip) * 0.4
    return [
        QLineF(x, tip, x, tail),
        QLineF(x, tip, x - abs(barb), tip + barb),
        QLineF(x, tip, x + abs(barb), tip + barb),
    ]


def _scale(summary: Summary, data: NDArray[np.float32], theme: Theme) -> tuple[NDArray[np.uint32], float, float]:
    """The colours, and the values at their ends, of a summary whose preview has these numbers."""
    low, high = float(summary.minimum or 0.0), float(summary.maximum or 0.0)
    if low == high and not (summary.posinf or summary.neginf):
        return _ramp((theme.heat_zero, theme.heat_zero)), *_around(low)
    if _is_image(summary, low, high):
        return _grey(), min(low, 0.0), max(high, 1e-30)
    low, high = _usual_range(data, low, high)
    if low < 0:
        extent = max(-low, high) or 1.0
        return _diverging(theme.heat_negative, theme.heat_zero, theme.heat_positive), -extent, extent
    ends = (low, high) if high > low else _around(low)
    return _ramp(theme.heat_ramp), *ends


def _usual_range(data: NDArray[np.float32], low: float, high: float) -> tuple[float, float]:
    """Where most values lie: a few that are far out would leave all others the colour of zero. They have the ends'."""
    import numpy as np

    finite = np.isfinite(data)
    data = data.ravel() if finite.all() else data[finite]
    if len(data) < FEWEST_FOR_USUAL:
        return low, high
    usual = _quantile(np.abs(data) if low < 0 else data, USUAL)
    if low < 0 and usual > 0:
        return max(low, -usual), min(high, usual)
    return (low, min(high, usual)) if usual > low >= 0 else (low, high)


def _quantile(data: NDArray[np.float32], share: float) -> float:
    """As `numpy.quantile`, without weights, axes and methods, which take most of its time."""
    place = share * (len(data) - 1)
    below = int(place)
    ordered = data.copy()
    ordered.partition(below)
    one, next_one = float(ordered[below]), float(ordered[below + 1 :].min(initial=math.inf))
    return one if math.isinf(next_one) else one + (next_one - one) * (place - below)


def _around(value: float) -> tuple[float, float]:
    """Two ends with a value in their middle that differ however large it is."""
    reach = max(1.0, abs(value))
    return value - reach, value + reach


def _is_image(summary: Summary, low: float, high: float) -> bool:
    preview = summary.preview
    if preview is not None and preview.tile_rows:
        return True
    if preview is None or low < 0 or min(preview.rows, preview.columns) < IMAGE_EDGE:
        return False
    if bare_dtype(summary.dtype) == "uint8":
        return True
    ratio = preview.columns / preview.rows
    return "float" in summary.dtype and high <= 1 and low == 0 and 0.5 <= ratio <= 2 and len(summary.shape) > 2


@functools.cache
def _diverging(negative: str, zero: str, positive: str) -> NDArray[np.uint32]:
    return _table((negative, zero, positive))


@functools.cache
def _ramp(stops: tuple[str, ...]) -> NDArray[np.uint32]:
    return _table(stops)


@functools.cache
def _grey() -> NDArray[np.uint32]:
    return _table(("black", "white"))


def _table(stops: tuple[str, ...]) -> NDArray[np.uint32]:
    """Colours between evenly spaced stops, as 0xffrrggbb."""
    import numpy as np

    colors = [QColor(stop) for stop in stops]
    at, places = np.linspace(0, 1, LEVELS), np.linspace(0, 1, len(stops))
    channels = (
        np.interp(at, places, [part(color) for color in colors]).astype(np.int64)
        for part in (QColor.red, QColor.green, QColor.blue)
    )
    red, green, blue = channels
    packed: NDArray[np.uint32] = (0xFF000000 | (red << 16) | (green << 8) | blue).astype(np.uint32)
    return packed
