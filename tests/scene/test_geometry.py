"""Wire paths, hit tests and frames, checked with numbers."""

import itertools

import numpy as np
import pytest

from gradstudio.scene import arrays, geometry
from gradstudio.scene.camera import Camera, fit_box
from gradstudio.scene.geometry import Box


def path(start: tuple[float, float], end: tuple[float, float], source: Box, target: Box) -> np.ndarray:
    corners = [np.array([[box.x, box.y, box.right, box.bottom]]) for box in (source, target)]
    return arrays.wire_paths(np.array([start], float), np.array([end], float), *corners)[0]


SOURCE = Box(0, 0, 200, 100)


@pytest.mark.parametrize("target", [Box(400, 50, 200, 100), Box(-400, 300, 200, 100), Box(10, 200, 200, 100)])
def test_a_wire_begins_and_ends_at_its_ports(target: Box) -> None:
    start, end = (SOURCE.right, 40.0), (target.x, target.y + 40)
    points = path(start, end, SOURCE, target)
    assert points.shape == (geometry.PATH_POINTS, 2)
    assert tuple(points[0]) == pytest.approx(start)
    assert tuple(points[-1]) == pytest.approx(end)


def test_a_forward_wire_leaves_and_arrives_level() -> None:
    points = path((200, 40), (400, 240), SOURCE, Box(400, 200, 200, 100))
    assert abs(points[1, 1] - 40) < 4
    assert abs(points[-2, 1] - 240) < 4
    assert (np.diff(points[:, 0]) > 0).all()


@pytest.mark.parametrize(
    "target",
    [Box(-300, 200, 200, 100), Box(-300, -300, 200, 100), Box(20, 140, 200, 100), Box(-250, 20, 200, 100)],
    ids=["left below", "left above", "under it", "left beside"],
)
def test_a_backward_wire_runs_behind_neither_of_its_cards(target: Box) -> None:
    points = path((SOURCE.right, 40), (target.x, target.y + 40), SOURCE, target)
    fine = np.concatenate([np.linspace(a, b, 20) for a, b in itertools.pairwise(points)])
    for box in (SOURCE, target):
        inside = (
            (fine[:, 0] > box.x + 1)
            & (fine[:, 0] < box.right - 1)
            & (fine[:, 1] > box.y + 1)
            & (fine[:, 1] < box.bottom - 1)
        )
        assert not inside.any()


def test_only_segments_in_view_are_drawn() -> None:
    points = arrays.wire_paths(
        np.array([[0.0, 0.0]]), np.array([[1000.0, 0.0]]), np.zeros((1, 4)), np.array([[1000.0, 0, 1000, 0]])
    )
    lines = arrays.segments(points, 1, Box(0, -10, 100, 20))
    assert 0 < len(lines) < 8
    assert lines[:, :3:2].min() <= 100


def test_the_later_of_two_cards_is_hit() -> None:
    bounds = np.array([[0.0, 0, 100, 100], [50, 50, 150, 150]])
    assert arrays.topmost_box(bounds, 75, 75) == 1
    assert arrays.topmost_box(bounds, 25, 25) == 0
    assert arrays.topmost_box(bounds, 200, 25) is None


def test_a_wire_is_hit_along_its_whole_length_and_not_beside() -> None:
    points = path((0, 0), (300, 0), Box(-10, -10, 10, 20), Box(300, -10, 10, 20))[None]
    bounds = arrays.path_bounds(points)
    assert arrays.nearest_wire(points, bounds, 150, 4, 6) == 0
    assert arrays.nearest_wire(points, bounds, 150, 9, 6) is None


def test_a_frame_holds_its_members_its_title_and_its_rows() -> None:
    frame = geometry.frame_box([Box(100, 100, 50, 50), Box(200, 300, 50, 50)], rows_height=44)
    assert frame is not None
    assert frame.x < 100
    assert frame.right > 250
    assert frame.bottom > 350
    assert 100 - frame.y > geometry.FRAME_TITLE + 44
    assert geometry.frame_box([]) is None


def test_lengthened_segments_overlap_their_neighbours() -> None:
    lines = np.array([[0.0, 0, 10, 0], [10, 0, 10, 10]])
    arrays.lengthen(lines, 0.5)
    assert lines.tolist() == [[-0.5, 0, 10.5, 0], [10, -0.5, 10, 10.5]]


def test_zooming_keeps_the_point_under_the_cursor() -> None:
    camera = Camera(0.7, 30, -20)
    before = camera.to_scene(400, 300)
    assert camera.zoomed(1.7, 400, 300).to_scene(400, 300) == pytest.approx(before)
    assert camera.zoomed(1000, 400, 300).zoom == 3.0


def test_fitting_shows_everything_and_enlarges_nothing() -> None:
    box = Box(-500, 20, 4000, 1000)
    seen = fit_box(box, 1000, 700).seen(1000, 700)
    assert seen.x <= box.x
    assert seen.right >= box.right
    assert fit_box(Box(0, 0, 10, 10), 1000, 700).zoom == 1.0


def test_a_document_opens_whole_or_at_its_beginning_with_no_view_beyond_its_end() -> None:
    from gradstudio.scene.camera import OPENING_ZOOM, opening_camera

    first = Box(0, 1400, 200, 200)
    assert opening_camera(Box(0, 0, 1000, 1100), Box(0, 900, 200, 200), 1000, 700).zoom > 0.5
    long = opening_camera(Box(0, 0, 6000, 1600), first, 1000, 700)
    assert long.zoom == OPENING_ZOOM
    shown = long.seen(1000, 700)
    assert shown.contains(first.x, first.y)
    assert shown.contains(first.right, first.bottom)
    assert shown.bottom <= 1600 + 60


def test_a_document_that_can_just_be_read_without_wide_margins_opens_whole_too() -> None:
    from gradstudio.scene.camera import LEAST_READABLE, fit_box, opening_camera

    box = Box(0, 0, 985 / LEAST_READABLE, 500)
    assert fit_box(box, 1000, 700).zoom < LEAST_READABLE == opening_camera(box, box, 1000, 700).zoom
    shown = opening_camera(box, Box(0, 0, 200, 200), 1000, 700).box_to_view(box)
    assert shown.x >= 4 and shown.right <= 996 and shown.y >= 0 and shown.bottom <= 700


def test_a_long_program_opens_with_what_stands_above_its_first_statement() -> None:
    from gradstudio.scene.camera import FIT_MARGIN, FIT_TOP, OPENING_ZOOM, opening_camera

    everything = Box(0, 0, 6000, 1400)
    camera = opening_camera(everything, Box(0, 200, 200, 200), 760, 470)
    room = (-FIT_MARGIN / OPENING_ZOOM, -FIT_TOP / OPENING_ZOOM)
    assert (camera.x, camera.y) == room, "what is said above a moment of the past covers nothing"
    far = opening_camera(everything, Box(0, 900, 200, 200), 760, 470)
    assert far.seen(760, 470).contains(200, 1100), "where both do not fit, the first statement counts"


def test_the_beginning_takes_whole_rows_above_it_along() -> None:
    from gradstudio.scene.camera import with_rows_above

    rows = np.array([[0.0, y, 200.0, y + 150] for y in (0, 300, 600, 900)])
    first = Box(0, 600, 200, 150)
    assert with_rows_above(first, rows, 1180, 440) == Box(0, 300, 200, 450)
    straddling = np.vstack([rows, [[300.0, 200.0, 500.0, 400.0]]])
    assert with_rows_above(first, straddling, 1180, 440).y in (200, 600)


def test_a_view_begins_above_the_frame_beside_the_first_card() -> None:
    from gradstudio.scene.camera import with_rows_above

    first, frame = Box(0, 100, 200, 150), [300.0, 40.0, 900.0, 400.0]
    with_frame = with_rows_above(first, np.array([[0.0, 100.0, 200.0, 250.0], frame]), 1180, 513)
    assert with_frame.y == 40
