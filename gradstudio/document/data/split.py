"""The rows of data to learn from, and those kept to validate; what is missing is filled from the former alone."""

import random

import numpy as np
from numpy.typing import NDArray

from gradstudio.document.data.model import Choice, Numbers, Prepared, Rows, Samples, Source, Work
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through

LARGEST_SHARE = 0.9


def prepare(source: Source, choice: Choice) -> Prepared:
    """What becomes tensors, without a stop.

    Raises:
        BadData: as `preparation` does.
    """
    return work_through(preparation(source, choice))


def preparation(source: Source, choice: Choice) -> Work[Prepared]:
    """What becomes tensors.

    Raises:
        BadData: the choice leaves nothing, or does not go together.
    """
    if not 0 <= choice.validation <= LARGEST_SHARE:
        raise BadData(f"The share to validate is {choice.validation:g}; choose one from 0 to {LARGEST_SHARE}.")
    return prepared(source.name, (yield from source.samples(choice)), choice)


def prepared(name: str, found: Samples, choice: Choice) -> Prepared:
    """Samples that are there: rows to learn from, rows to validate with."""
    parts = (found.rows, found.validation) if found.validation is not None else _split(found.rows, choice)
    train, validation = parts
    if np.issubdtype(train.inputs.dtype, np.floating):
        train, validation = _filled(train, validation, {name for name, _ in found.classes_of}, found.columns)
    return Prepared(
        name, train, validation, found.columns, found.classes, found.classes_of,
        (*_split_notes(found, train, validation, choice), *found.notes),
        choice.normalises and not found.window, found.window,
    )  # fmt: skip


def _split(rows: Rows, choice: Choice) -> tuple[Rows, Rows | None]:
    count = len(rows.inputs)
    kept = round(count * choice.validation)
    if not kept:
        return rows, None
    order = list(range(count))
    random.Random(choice.seed).shuffle(order)
    apart, rest = np.array(sorted(order[:kept]), np.int64), np.array(sorted(order[kept:]), np.int64)
    return rows.take(rest), rows.take(apart)


def _filled(
    train: Rows, validation: Rows | None, of_classes: set[str], columns: tuple[str, ...]
) -> tuple[Rows, Rows | None]:
    """Without NaN: the mean of a column, or of one with classes the commonest."""
    parts = [one for one in (train, validation) if one is not None]
    if not any(np.isnan(part.inputs).any() for part in parts):
        return train, validation
    usual = np.array(
        [_usual(train.inputs[:, k], column in of_classes) for k, column in enumerate(columns)], dtype=np.float32
    )

    def fill(part: Rows) -> Rows:
        return Rows(np.where(np.isnan(part.inputs), usual, part.inputs), part.target)

    return fill(train), None if validation is None else fill(validation)


def _usual(column: Numbers, is_class: bool) -> float:
    present: NDArray[np.float64] = column[~np.isnan(column)].astype(np.float64)
    if not len(present):
        return 0.0
    if is_class:
        values, counts = np.unique(present, return_counts=True)
        return float(values[counts.argmax()])
    return float(present.mean())


def _split_notes(found: Samples, train: Rows, validation: Rows | None, choice: Choice) -> tuple[str, ...]:
    count = len(train.inputs)
    learn = f"{count:,} row{'' if count == 1 else 's'} to learn from"
    if validation is None:
        return (learn,)
    how = found.apart if found.validation is not None else f"chosen with seed {choice.seed}"
    return (f"{learn}, {len(validation.inputs):,} to validate, {how}",)
