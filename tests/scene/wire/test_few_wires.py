"""A few plain wires without numpy: the same paths, and the same answer to whether something is in the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.scene.arrays import path_bounds, wire_paths
from gradstudio.scene.geometry import FORWARD
from gradstudio.scene.wire.few_wires import FEW_WIRES, GRAZE, bounds_of, few_paths, is_behind
from gradstudio.scene.wire.routing import each_routed
from tests.helpers.drawing import Drawing

AT = st.floats(-2000, 2000, allow_nan=False)
POINT = st.tuples(AT, AT)


@given(POINT, st.floats(FORWARD, 3000), AT)
def test_a_path_is_that_of_the_arrays_to_the_last_bit(start: tuple[float, float], right: float, y: float) -> None:
    end = start[0] + right, y
    few = few_paths([start], [end])
    if few is None:
        assert end[0] < start[0] + FORWARD, "rounding"
        return
    nowhere = np.zeros((1, 4))
    paths = wire_paths(np.array([start]), np.array([end]), nowhere, nowhere)
    assert np.array_equal(paths[0], few[0])
    assert np.array_equal(path_bounds(paths)[0], bounds_of(few[0]))


def test_a_wire_that_runs_backwards_is_not_plain() -> None:
    assert few_paths([(0.0, 0.0), (100.0, 0.0)], [(200.0, 0.0), (90.0, 0.0)]) is None


@given(st.floats(100, 900), st.floats(-300, 300), st.floats(-200, 900), st.floats(-400, 400), st.floats(1, 300))
def test_what_is_in_the_way_is_what_wires_are_led_around(
    right: float, down: float, left: float, top: float, size: float
) -> None:
    (path,) = few_paths([(0.0, 0.0)], [(right, down)]) or ()
    obstacle = left, top, left + size, top + size
    led = np.array([path])
    none = np.array([-1])
    list(each_routed(led, np.array([obstacle]), none, none))
    if not is_behind(path, bounds_of(path), obstacle):
        assert np.array_equal(led[0], path), "nothing is in its way: it stays as it is"


def test_a_card_in_the_way_is_behind_the_path() -> None:
    (path,) = few_paths([(0.0, 0.0)], [(600.0, 0.0)]) or ()
    assert is_behind(path, bounds_of(path), (200.0, -40.0, 400.0, 40.0))
    assert is_behind(path, bounds_of(path), (200.0, GRAZE - 1.0, 400.0, 40.0))
    assert not is_behind(path, bounds_of(path), (200.0, GRAZE + 1.0, 400.0, 40.0))


@pytest.mark.parametrize("count", [1, FEW_WIRES, FEW_WIRES + 1])
def test_few_are_kept_as_plain_numbers_and_say_the_same(count: int) -> None:
    drawing = Drawing()
    for k in range(count):
        start, end = drawing.add("torch.randn", 0, 400 * k), drawing.add("torch.exp", 600, 400 * k)
        drawing.connect(start, end, "input")
    routes = drawing.scene.routes
    few = routes.few
    assert (few is not None) == (count <= FEW_WIRES)
    if few is not None:
        assert np.array_equal(routes.paths, np.array(few)) and np.array_equal(routes.bounds, path_bounds(routes.paths))
