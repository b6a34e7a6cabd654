"""A table whose rows come and go where they stand is the one that numpy makes anew."""

import random

import numpy as np
import pytest

from gradstudio.scene.wire.growing_rows import FEW, GrowingRows


@pytest.mark.parametrize("shape", [(4,), (22, 2)], ids=["bounds", "paths"])
@pytest.mark.parametrize("seed", range(4))
def test_after_each_change_the_rows_are_those_that_stay_and_behind_them_those_that_came(
    seed: int, shape: tuple[int, ...]
) -> None:
    chance, table = random.Random(seed), GrowingRows()
    rows = expected = np.arange(100 * np.prod(shape), dtype=np.float64).reshape(100, *shape)
    number = 0.5
    for _ in range(60):
        most = 2 * FEW if chance.random() < 0.1 else 3
        gone = sorted(chance.sample(range(len(rows)), min(len(rows), chance.randrange(most))))
        came = chance.randrange(4)
        news = np.full((came, *shape), number)
        number += 1.0
        expected = np.concatenate((np.delete(expected, gone, axis=0), news))
        rows = table.follow(rows, gone, came)
        rows[len(rows) - came :] = news
        assert np.array_equal(rows, expected)


def test_a_table_that_was_replaced_is_taken_up_anew() -> None:
    table = GrowingRows()
    first = table.follow(np.zeros((3, 2)), (), 1)
    other = np.ones((3, 2))
    rows = table.follow(other, (1,), 0)
    assert np.array_equal(rows, np.ones((2, 2)))
    assert len(first) == 4
    assert np.array_equal(other, np.ones((3, 2))), "it belongs to somebody else"


def test_few_changes_copy_nothing() -> None:
    table = GrowingRows()
    rows = table.follow(np.zeros((1000, 4)), (), 1)
    again = table.follow(rows, (500,), 2)
    assert np.shares_memory(rows, again)
    assert len(again) == 1002
