"""What hurts a training is said before it begins."""

import numpy as np
import pytest

from gradstudio.document.data.hazards import class_counts, hazards
from gradstudio.document.data.model import Prepared, Rows

RNG = np.random.default_rng(0)


def data(
    inputs: np.ndarray, target: np.ndarray | None = None, validation: Rows | None = None, **more: object
) -> Prepared:
    count = 0 if target is None or target.dtype != np.int64 else int(target.max()) + 1
    names = tuple(f"c{k}" for k in range(inputs.shape[1]))
    whole = Prepared(
        "data.csv", Rows(inputs.astype(np.float32), target), validation, names, tuple("abcdef"[:count]), (), (), False
    )
    return whole._replace(**more)  # type: ignore[arg-type]


GOOD = RNG.random((40, 2))
CLASSES = np.arange(40, dtype=np.int64) % 2


def test_good_data_have_no_warning() -> None:
    assert hazards(data(GOOD, CLASSES)) == ()
    assert hazards(data(GOOD, GOOD.sum(1).astype(np.float32))) == ()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (data(GOOD * (1, 500), CLASSES), "Ranges differ by"),
        (data(GOOD * 50, CLASSES), "Values go up to"),
        (data(GOOD, (np.arange(40) < 3).astype(np.int64)), "“a” has 37 rows, “b” 3"),
        (data(np.c_[GOOD[:, 0], np.ones(40)], CLASSES), "“c1” has one value"),
        (data(np.c_[GOOD[:, 0], np.ones((40, 2))], CLASSES), "“c1”, “c2” have one value each"),
        (data(np.c_[GOOD[:, 0], CLASSES], CLASSES), "“c1” holds the target itself"),
        (data(GOOD, CLASSES, Rows(GOOD[:3].astype(np.float32), CLASSES[:3])), "3 rows to validate stand among"),
        (data(GOOD[:5], CLASSES[:5]), "5 rows to learn from"),
        (data(GOOD, (GOOD.sum(1) * -300_000).astype(np.float32)), "The target goes up to 5."),
        (data(GOOD, np.zeros(40, np.int64)), "one class only"),
        (data(GOOD, CLASSES, classes=("a", "b", "c")), "“c” has no row to learn from"),
        (data(GOOD, CLASSES, classes_of=(("c0", ("u", "v", "w")),)), "“c0” holds words: they become 0"),
    ],
)
def test_each_is_said_and_nothing_else(found: Prepared, words: str) -> None:
    said = hazards(found)
    assert len(said) == 1 and words in said[0]


def test_normalised_data_have_no_ranges_to_warn_of() -> None:
    assert hazards(data(GOOD * (1, 500), CLASSES, normalises=True)) == ()


def test_classes_are_counted_in_both_parts() -> None:
    found = data(GOOD, CLASSES, Rows(RNG.random((3, 2)).astype(np.float32), np.array([1, 1, 0], dtype=np.int64)))
    assert class_counts(found) == (("a", 20, 1), ("b", 20, 2))
