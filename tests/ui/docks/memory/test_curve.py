"""Thinned curves and units, with numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.ui.docks.memory.curve import in_words, label_sides, series_color, thin_curve, unit_for, value_at


def test_a_short_curve_is_left_alone() -> None:
    times, values = np.arange(5.0), np.arange(5.0) * 2
    x, y = thin_curve(times, values, 100)
    assert x is times and y is values


@given(st.lists(st.floats(-1e12, 1e12), min_size=30, max_size=400), st.integers(1, 14))
def test_no_peak_is_lost_and_no_more_than_two_points_stand_in_a_column(samples: list[float], columns: int) -> None:
    values = np.array(samples)
    x, y = thin_curve(np.arange(float(len(values))), values, columns)
    assert len(y) <= 2 * columns or len(y) == len(values)
    assert y.max() == values.max() and y.min() == values.min()
    assert (np.diff(x) >= 0).all()


def test_what_was_not_told_leaves_a_gap() -> None:
    values = np.full(100, np.nan)
    values[60:] = 3.0
    _, y = thin_curve(np.arange(100.0), values, 10)
    assert np.isnan(y[:12]).all() and (y[12:] == 3.0).all()


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [(0, "0 B"), (900, "900 B"), (1536, "1.5 KiB"), (3 * 2**20, "3 MiB"), (5.5 * 2**30, "5.5 GiB")],
)
def test_bytes_are_told_in_binary_units(size_bytes: float, words: str) -> None:
    assert in_words(size_bytes) == words


def test_the_unit_of_the_axis_follows_the_largest_value() -> None:
    assert unit_for(10)[0] == "B"
    assert unit_for(2**20)[0] == "MiB"
    assert unit_for(2.0**45)[0] == "TiB"


def test_the_reading_at_a_moment_is_the_newest_before_it() -> None:
    times, values = np.array([0.0, 1.0, 2.0]), np.array([5.0, np.nan, 7.0])
    readings = [value_at(times, values, moment) for moment in (-0.5, 0.9, 1.5, 99.0)]
    assert readings == [None, 5.0, None, 7.0]


def test_labels_of_marks_lie_neither_over_one_another_nor_over_the_edge() -> None:
    assert label_sides([10, 100], [40, 40], 300) == ["right", "right"]
    assert label_sides([280], [40], 300) == ["left"]
    assert label_sides([10, 30, 290], [40, 40, 40], 300) == ["", "right", "left"]
    assert label_sides([5], [40], 30) == [""]
    assert label_sides([], [], 300) == []


@given(st.lists(st.floats(0, 500), max_size=20), st.floats(10, 80), st.floats(100, 500))
def test_no_two_labels_overlap_wherever_the_marks_are(places: list[float], width: float, room: float) -> None:
    places = sorted(place for place in places if place <= room)
    taken = []
    for place, side in zip(places, label_sides(places, [width] * len(places), room), strict=True):
        if side:
            taken.append((place, place + width) if side == "right" else (place - width, place))
    assert all(left >= 0 and right <= room for left, right in taken)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(taken))


def test_a_series_has_the_same_colour_whatever_is_measured_beside_it() -> None:
    colors = ["red", "green", "blue", "yellow", "violet"]
    assert series_color(colors, "tensors") == "red" and series_color(colors, "process") == "blue"
    assert series_color(colors, "another") == series_color(colors, "another") in colors


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (512, "512 B"),
        (1536, "1.5 KiB"),
        (415 * 2**20, "415 MiB"),
        (1010 * 2**20, "1,010 MiB"),
        (1.25 * 2**30, "1.25 GiB"),
    ],
)
def test_a_size_is_said_without_an_exponent(size: float, words: str) -> None:
    assert in_words(size) == words
