"""Colour by: one figure of every node on a scale, or one word of every node as a category. No Qt."""

import math
from collections.abc import Iterable

import msgspec

from gradstudio.advice.metrics import METRICS, Metric, Readings, value_of
from gradstudio.graph.model import ItemId
from gradstudio.scene import value_format

MAX_KINDS = 7
"""So many words have a colour of their own; the rest share the last."""


class ColourScale(msgspec.Struct, frozen=True):
    """A metric and what it says of each node.

    Attributes:
        low, high: ends of the scale, of the figures above zero; equal when all of these are, 0 when there is none.
        words: of a category, in the order of the legend.
    """

    metric: Metric
    figures: dict[ItemId, float | str] = msgspec.field(default_factory=dict)
    low: float = 0.0
    high: float = 0.0
    words: tuple[str, ...] = ()

    @property
    def is_scale(self) -> bool:
        """Whether colours are of a scale and not of words."""
        return self.metric.kind != "category"

    def share(self, item: ItemId) -> float | None:
        """Place on the scale, 0 to 1; None: no figure, a word, or zero, which is on no logarithmic scale."""
        figure = self.figures.get(item)
        if not isinstance(figure, float) or figure <= 0:
            return None
        low, high = _log(self.low), _log(self.high)
        return 0.5 if high <= low else min(1.0, max(0.0, (_log(figure) - low) / (high - low)))

    def is_zero(self, item: ItemId) -> bool:
        """Whether the figure is zero: it has a colour of its own."""
        return self.figures.get(item) == 0.0

    @property
    def zero_text(self) -> str:
        """What the colour of zero means: ``0 B: freed``; "" when no figure is zero."""
        if 0.0 not in self.figures.values():
            return ""
        zero = with_unit(0.0, self.metric.unit)
        return f"{zero}: {self.metric.of_zero}" if self.metric.of_zero else zero

    def kind(self, item: ItemId) -> int | None:
        """Which word of the legend; None: none."""
        figure = self.figures.get(item)
        return min(self.words.index(figure), MAX_KINDS - 1) if isinstance(figure, str) else None

    def text(self, item: ItemId) -> str:
        """The figure as it is written on the card; "" where there is none."""
        figure = self.figures.get(item)
        return "" if figure is None else with_unit(figure, self.metric.unit)


def colour_scale(name: str, readings: Readings, items: Iterable[ItemId]) -> ColourScale:
    """What a metric says of these nodes."""
    found = {item: figure for item in items if (figure := value_of(name, readings, item)) is not None}
    numbers = [figure for figure in found.values() if isinstance(figure, float) and figure > 0]
    words = sorted({figure for figure in found.values() if isinstance(figure, str)})
    return ColourScale(METRICS[name], found, min(numbers, default=0.0), max(numbers, default=0.0), tuple(words))


def with_unit(figure: float | str, unit: str) -> str:
    """A figure with its unit: ``1.25 ms``, ``4 KiB``, ``3.1e-5``."""
    if isinstance(figure, str):
        return figure
    match unit:
        case "s":
            return seconds(figure)
        case "B":
            return value_format.size(int(figure))
        case _:
            return value_format.number(figure, 3)


def seconds(figure: float) -> str:
    """A duration: ``12 µs``, ``1.25 ms``, ``3.2 s``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if figure >= size:
            return f"{figure / size:.3g} {unit}"
    return f"{figure * 1e6:.0f} µs"


def _log(figure: float) -> float:
    return math.log10(figure) if figure > 0 else -math.inf
