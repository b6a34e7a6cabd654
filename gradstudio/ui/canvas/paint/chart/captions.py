"""What is said above a chart: in several wordings, the longest first."""

import struct

from gradstudio.protocol.curve_titles import FIGURES
from gradstudio.protocol.messages.charts import (
    FLOAT_BYTES,
    PAIR_BYTES,
    Chart,
    ConfusionDrawn,
    CurveShown,
    DescentDrawn,
    HistogramDrawn,
    ImagesDrawn,
    PointsDrawn,
)
from gradstudio.protocol.number_format import format_number

VALUE_DIGITS = 4
"""Of the value of a curve."""


def caption(chart: Chart) -> tuple[str, ...]:
    """The figure that a chart comes to; nothing where it needs none."""
    match chart:
        case DescentDrawn():
            return _place_and_loss(chart)
        case CurveShown():
            return _value_and_turn(chart)
        case ConfusionDrawn(counts=counts):
            total = sum(map(sum, counts))
            share = percent(sum(row[k] for k, row in enumerate(counts)) / total) if total else "none"
            return f"{share} right of {total:,}", share
        case PointsDrawn(kind="prediction", figure=figure, rows=rows):
            words = f"R² {figure:.3g}" if figure is not None else "one target only"
            return f"{words} · {rows:,} rows", words
        case PointsDrawn(figure=figure):
            share = percent(figure) if figure is not None else "none"
            return f"two components hold {share} of the variance", f"{share} of the variance", share
        case ImagesDrawn(kind="attention"):
            return _maps_and_range(chart)
        case ImagesDrawn(truths=truths, said=said, total=total):
            shown = len(truths)
            wrong = sum(a != b for a, b in zip(truths, said, strict=False))
            words = f"{total:,} image{'s' * (total != 1)}"
            if not said:
                return (words,)
            return f"{shown} of {words}, {wrong} taken for another", f"{wrong} of {shown} wrong"
        case HistogramDrawn(of=of, numbers=numbers, odd=odd):
            words = f"{of} · {numbers:,} number{'s' * (numbers != 1)}".removeprefix(" · ")
            return (f"{words}, {odd:,} not finite", f"{odd:,} not finite") if odd else (words, of)
        case _:
            return ()


def _place_and_loss(drawn: DescentDrawn) -> tuple[str, ...]:
    """Where the path ends, and the loss there."""
    x, y = struct.unpack("<2f", drawn.path[-PAIR_BYTES:])
    (loss,) = struct.unpack("<f", drawn.losses[-FLOAT_BYTES:])
    words = f"loss {format_number(loss)}"
    return f"{words} at ({format_number(x)}, {format_number(y)})", words


def _value_and_turn(shown: CurveShown) -> tuple[str, ...]:
    """The value at the turn that is looked at, or the newest, and of which figure."""
    place, turn = shown.standing
    value = format_number(float(shown.values[place]), VALUE_DIGITS)
    figure = dict(FIGURES)[shown.key.figure]
    what = f"{'gradient, ' if shown.key.grad else ''}{figure}".removesuffix("value").removesuffix(", ")
    words = f"{value} at turn {turn:,}"
    return (f"{what} {words}", f"{what} {value}", value) if what else (words, value)


def _maps_and_range(drawn: ImagesDrawn) -> tuple[str, ...]:
    """How many maps there are, how large, and what their colours stand for."""
    shown = len(drawn.pixels) // (drawn.height * drawn.width)
    count = f"{drawn.total:,}" if shown == drawn.total else f"{shown} of {drawn.total:,}"
    low, high = (format_number(end) for end in drawn.span)
    scale = f"{low} to {high}"
    if drawn.sizes != (drawn.height, drawn.width):
        scale = f"means {scale}"
    words = f"{count} × ({drawn.sizes[0]}, {drawn.sizes[1]}) · {scale}"
    return f"{words} · row: query, column: key", words, scale


def percent(share: float) -> str:
    """A share in percent: 100 only where it is all, 0 only where it is nothing."""
    if share in (0.0, 1.0):
        return f"{share * 100:.0f} %"
    return f"{min(max(share, 0.001), 0.999) * 100:.1f} %"
