"""The camera: there and back, fitting, opening a document, pushing as little as needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.scene.camera import (
    FIT_MARGIN,
    FIT_MAXIMUM,
    LEAST_READABLE,
    LEAST_WHOLE,
    OPENING_ZOOM,
    Camera,
    clear_of,
    fit_box,
    opening_camera,
    pan_to_box,
    shows_whole,
    with_rows_above,
)
from gradstudio.scene.geometry import Box

VIEW = (800.0, 600.0)


def test_points_and_boxes_go_there_and_back() -> None:
    camera = Camera(0.5, 30.0, -20.0)
    assert camera.to_scene(*camera.to_view(7.0, 9.0)) == (7.0, 9.0)
    box = Box(10.0, 20.0, 30.0, 40.0)
    assert camera.box_to_scene(camera.box_to_view(box)) == box
    assert camera.seen(*VIEW) == Box(30.0, -20.0, 1600.0, 1200.0)


def test_hardly_a_pixel_is_near_and_another_zoom_is_not() -> None:
    camera = Camera(1.0, 5.0, 6.0)
    assert camera.is_near(Camera(1.0, 6.0, 6.0))
    assert not camera.is_near(Camera(1.0, 7.0, 6.0))
    assert not camera.is_near(Camera(1.1, 5.0, 6.0))


@pytest.mark.parametrize("box", [Box(0, 0, 100, 80), Box(-500, 300, 5000, 80), Box(40, -90, 100, 8000)])
def test_a_box_that_is_fitted_is_seen_whole_and_never_enlarged(box: Box) -> None:
    camera = fit_box(box, *VIEW)
    shown = camera.box_to_view(box)
    assert camera.zoom <= FIT_MAXIMUM
    assert (shown.x >= FIT_MARGIN - 1e-6, shown.right <= VIEW[0] - FIT_MARGIN + 1e-6) == (True, True)
    assert (shown.y >= 0, shown.bottom <= VIEW[1]) == (True, True)


def test_a_document_opens_whole_where_it_can_be_read_else_at_its_beginning() -> None:
    small, first = Box(0, 0, 700, 400), Box(0, 0, 200, 100)
    assert opening_camera(small, first, *VIEW) == fit_box(small, *VIEW)
    large = Box(0, 0, 9000, 4000)
    camera = opening_camera(large, first, *VIEW)
    assert camera.zoom == OPENING_ZOOM
    shown = camera.box_to_view(first)
    assert (shown.x >= 0, shown.y >= 0, shown.right <= VIEW[0], shown.bottom <= VIEW[1]) == (True,) * 4
    late = Box(8000, 3500, 200, 100)
    assert opening_camera(large, late, *VIEW).seen(*VIEW).meets(late)


def test_a_way_on_which_a_document_has_room_leaves_as_much_on_both_sides() -> None:
    wide, high, first = Box(0, 0, 9000, 200), Box(0, 0, 300, 9000), Box(0, 0, 200, 100)
    shown = opening_camera(wide, first, *VIEW).box_to_view(wide)
    assert shown.y == pytest.approx(VIEW[1] - shown.bottom) and 0 < shown.x < 2 * FIT_MARGIN
    shown = opening_camera(high, first, *VIEW).box_to_view(high)
    assert shown.x == pytest.approx(VIEW[0] - shown.right) and 0 < shown.y < 2 * FIT_MARGIN


def test_a_document_whose_plates_can_be_read_opens_whole() -> None:
    box, first = Box(0, 0, 1400, 900), Box(0, 0, 200, 100)
    assert LEAST_WHOLE < fit_box(box, *VIEW).zoom < LEAST_READABLE
    assert opening_camera(box, first, *VIEW) == fit_box(box, *VIEW)


def test_a_large_document_opens_with_the_way_to_its_loss_where_that_can_be_read() -> None:
    large, first = Box(0, 0, 9000, 4000), Box(0, 0, 200, 100)
    far, near = Box(0, 0, 8000, 900), Box(0, 0, VIEW[0] * 1.8, 300)
    camera = opening_camera(large, first, *VIEW, 1.0, (far, near))
    assert LEAST_WHOLE < camera.zoom < OPENING_ZOOM and shows_whole(camera, near, *VIEW)
    short = Box(0, 0, 400, 300)
    assert opening_camera(large, first, *VIEW, 1.0, (short,)).zoom == OPENING_ZOOM, "nothing is enlarged"
    assert opening_camera(large, first, *VIEW, 1.0, (far,)) == opening_camera(large, first, *VIEW)


def test_the_beginning_has_the_whole_rows_above_it_that_there_is_room_for() -> None:
    first = Box(0, 300, 200, 100)
    above = (0.0, 100.0, 200.0, 200.0)
    assert with_rows_above(first, [above], *VIEW) == Box(0, 100, 200, 300)
    far = (0.0, -5000.0, 200.0, -4900.0)
    assert with_rows_above(first, [far], *VIEW) == first
    beside = (5000.0, 100.0, 5200.0, 200.0)
    assert with_rows_above(first, [beside], *VIEW) == first


def test_the_view_is_pushed_as_little_as_brings_a_box_in() -> None:
    camera = Camera()
    inside = Box(100, 100, 50, 50)
    assert pan_to_box(camera, inside, *VIEW) == camera
    right = pan_to_box(camera, Box(900, 100, 50, 50), *VIEW)
    assert (right.x, right.y) == (900 + 50 + FIT_MARGIN / 2 - VIEW[0], 0)
    left = pan_to_box(camera, Box(-200, 100, 50, 50), *VIEW)
    assert left.x == -200 - FIT_MARGIN / 2


def test_a_box_comes_out_from_under_what_lies_over_it_the_shortest_way() -> None:
    camera, over = Camera(), Box(0, 500, 800, 100)
    assert clear_of(camera, Box(100, 100, 50, 50), over, *VIEW) == camera
    moved = clear_of(camera, Box(100, 480, 50, 50), over, *VIEW)
    shown = moved.box_to_view(Box(100, 480, 50, 50))
    assert shown.bottom <= over.y
    assert moved.x == camera.x


@given(
    st.floats(-900, 1900), st.floats(-700, 1500), st.floats(40, 300), st.floats(30, 200), st.sampled_from((0.6, 1.0))
)
def test_a_card_that_is_brought_into_view_beside_the_map_moves_the_view_least(
    x: float, y: float, width: float, height: float, zoom: float
) -> None:
    """As a backward does: no free part of the view could have taken it in with a shorter way."""
    view, cover = (1000.0, 700.0), Box(780.0, 550.0, 220.0, 150.0)
    camera, box = Camera(zoom), Box(x, y, width, height)
    there = pan_to_box(camera, box, *view)
    if there.box_to_view(box.grown(FIT_MARGIN / 2)).meets(cover):
        there = clear_of(there, box, cover, *view)
    assert shows_whole(there, box, *view) and not there.box_to_view(box).meets(cover)
    free = ((cover.x, view[1]), (view[0], cover.y))
    assert _way(camera, there) <= min(_way(camera, pan_to_box(camera, box, *size)) for size in free) + 0.01


def _way(one: Camera, other: Camera) -> float:
    """How far the view moved, view pixels."""
    return (abs(one.x - other.x) + abs(one.y - other.y)) * one.zoom
