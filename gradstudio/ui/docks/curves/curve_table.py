"""Curves smoothed, and written as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradstudio.protocol.messages.charts import Numbers


def smooth(values: Numbers, turns: int) -> Numbers:
    """The mean of so many turns up to each; of fewer at the beginning, and of the finite ones alone."""
    import numpy as np

    if turns <= 1 or len(values) < 2:
        return values
    finite = np.isfinite(values)
    sums = np.concatenate(([0.0], np.cumsum(np.where(finite, values, 0.0))))
    counts = np.concatenate(([0], np.cumsum(finite)))
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(ends - turns, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (sums[ends] - sums[begins]) / (counts[ends] - counts[begins])
    return np.asarray(np.where(finite, means, np.nan), dtype=np.float64)


def table(curves: Iterable[tuple[str, Numbers, Numbers]]) -> str:
    """Curves (title, turns from 0, values) as CSV: a line a turn, a column a curve, empty without a value."""
    shown = list(curves)
    rows: dict[int, dict[int, float]] = {}
    for place, (_, x, y) in enumerate(shown):
        for turn, value in zip(x.tolist(), y.tolist(), strict=True):
            rows.setdefault(int(turn), {})[place] = value
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["turn", *(title for title, _, _ in shown)])
    for turn in sorted(rows):
        found = (rows[turn].get(place) for place in range(len(shown)))
        writer.writerow([turn + 1, *("" if value is None else repr(value) for value in found)])
    return text.getvalue()
