"""What hurts a training in the data: ranges that differ, classes that are rare, columns that say nothing, leaks."""

import numpy as np
from numpy.typing import NDArray

from gradstudio.document.data.model import Numbers, Prepared, Rows

RANGE_RATIO = 100
CLASS_RATIO = 10
FEW_ROWS = 8
LARGE = 20.0
"""Inputs beyond this are large for a network that begins with small weights."""
MOST_NAMES = 4


Counts = tuple[tuple[str, int, int], ...]


def hazards(data: Prepared, counts: Counts | None = None) -> tuple[str, ...]:
    """In sentences, the worst first; `counts`: of the classes, where `data` is only some of the rows."""
    if data.window:  # windows of a text repeat, and their numbers are names
        return (*_few(data),)
    classes = class_counts(data) if counts is None else counts
    ranges = (*_ranges(data), *_target(data))
    return (*_not_finite(data), *_leaks(data), *_columns(data), *ranges, *_balance(classes), *_few(data))


def class_counts(data: Prepared) -> Counts:
    """Of each class its name, rows to learn from and rows to validate."""
    if not data.classes or data.train.target is None:
        return ()
    train = _counts(data.train, len(data.classes))
    apart = _counts(data.validation, len(data.classes))
    return tuple(zip(data.classes, train.tolist(), apart.tolist(), strict=True))


def _counts(rows: Rows | None, classes: int) -> NDArray[np.int64]:
    if rows is None or rows.target is None:
        return np.zeros(classes, dtype=np.int64)
    return np.bincount(rows.target.astype(np.int64), minlength=classes)


def _not_finite(data: Prepared) -> list[str]:
    odd = int(np.count_nonzero(~np.isfinite(data.train.inputs)))
    if not odd:
        return []
    stand = "1 value is" if odd == 1 else f"{odd:,} values are"
    return [f"{stand} NaN or infinite: so is every loss that takes them. Fill them, or leave their rows out."]


def _leaks(data: Prepared) -> list[str]:
    found = []
    if data.validation is not None:
        known = set(_keys(data.train.inputs))
        count = sum(key in known for key in _keys(data.validation.inputs))
        if count:
            stand = "1 row to validate stands" if count == 1 else f"{count:,} rows to validate stand"
            found.append(f"{stand} among the rows to learn from, too: they test nothing.")
    target = data.train.target
    if target is not None and data.columns:
        flat = target.reshape(-1).astype(np.float32)
        same = [name for k, name in enumerate(data.columns) if np.array_equal(data.train.inputs[:, k], flat)]
        if same and len(np.unique(flat)) > 1:
            holds, it = ("holds", "it") if len(same) == 1 else ("hold", "them")
            found.append(f"{_listed(same)} {holds} the target itself: leave {it} out.")
    return found


def _columns(data: Prepared) -> list[str]:
    found = []
    if data.columns:
        inputs = data.train.inputs
        constant = [name for k, name in enumerate(data.columns) if (inputs[:, k] == inputs[0, k]).all()]
        if constant:
            stand = "in all rows to learn from"
            if len(constant) == 1:
                found.append(f"{_listed(constant)} has one value {stand}: it says nothing, leave it out.")
            else:
                found.append(f"{_listed(constant)} have one value each {stand}: they say nothing, leave them out.")
    unordered = [name for name, words in data.classes_of if len(words) > 2]
    if unordered:
        hold = "holds" if len(unordered) == 1 else "hold"
        found.append(f"{_listed(unordered)} {hold} words: they become 0, 1, 2 …, an order that means nothing.")
    return found


def _ranges(data: Prepared) -> list[str]:
    if data.normalises or data.train.inputs.dtype == np.uint8:
        return []
    inputs = data.train.inputs.astype(np.float64)
    if not np.isfinite(inputs).all():
        return []
    if data.columns and len(data.columns) > 1:
        spans = inputs.max(axis=0) - inputs.min(axis=0)
        large = int(spans.argmax())
        small = int(np.where(spans > 0, spans, np.inf).argmin())
        if spans[large] > RANGE_RATIO * spans[small] > 0:
            wide, narrow = (f"“{data.columns[k]}” goes over {spans[k]:,.3g}" for k in (large, small))
            return [f"Ranges differ by {spans[large] / spans[small]:,.0f} ×: {wide}, {narrow}. Normalise them."]
    top = float(np.abs(inputs).max(initial=0.0))
    return [f"Values go up to {top:,.4g}: a network learns them badly. Normalise them."] if top > LARGE else []


def _target(data: Prepared) -> list[str]:
    """Of numbers that are to be predicted: those far from 0, where a network begins."""
    target = data.train.target
    if target is None or data.classes or target.dtype.kind != "f" or not np.isfinite(target).all():
        return []
    top = float(np.abs(target).max(initial=0.0))
    if top <= LARGE:
        return []
    return [
        f"The target goes up to {top:,.4g}, and a network begins near 0: it hardly gets there. Let it learn "
        "(y - y.mean()) / y.std(), and take that back in what it predicts."
    ]


def _balance(rows: Counts) -> list[str]:
    found = []
    if len(rows) == 1:
        found.append(f"There is one class only, “{rows[0][0]}”: nothing is to be learnt.")
    absent = [name for name, train, _ in rows if not train]
    if absent:
        found.append(f"{_listed(absent)} has no row to learn from: take another seed, or a smaller share to validate.")
    present = [(count, name) for name, count, _ in rows if count]
    if len(present) > 1:
        most, least = max(present), min(present)
        if most[0] > CLASS_RATIO * least[0]:
            words = f"“{most[1]}” has {most[0]:,} rows, “{least[1]}” {least[0]:,}"
            found.append(
                f"Classes are unbalanced: {words}. Weigh the rare ones in the loss, or look at more than accuracy."
            )
    return found


def _few(data: Prepared) -> list[str]:
    count = len(data.train.inputs)
    if count >= FEW_ROWS:
        return []
    return [f"There {'is 1 row' if count == 1 else f'are {count} rows'} to learn from: all will be known by heart."]


def _keys(inputs: Numbers) -> list[bytes]:
    flat = np.ascontiguousarray(inputs.reshape(len(inputs), -1))
    return [row.tobytes() for row in flat]


def _listed(names: list[str]) -> str:
    words = ", ".join(f"“{name}”" for name in names[:MOST_NAMES])
    return f"{words} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else words
