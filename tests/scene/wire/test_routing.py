"""A wire that would run behind cards goes around them."""

import numpy as np
import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.scene.arrays import wire_paths
from gradstudio.scene.geometry import PATH_POINTS, Floats
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.routing import each_routed
from gradstudio.scene.wire.wire_options import WireStyle
from gradstudio.scene.wire.wire_styles import directions, dotted_path, styled_paths
from tests.helpers.drawing import EvenMeasure

STYLES: tuple[WireStyle, ...] = ("curved", "straight", "angled")
WALL = [[0.0, 0.0, 200.0, 150.0], [300.0, -40.0, 500.0, 260.0], [600.0, 0.0, 800.0, 150.0]]


def routed(
    ends: list[tuple[float, float, float, float]],
    obstacles: list[list[float]],
    own: tuple[int, int],
    style: WireStyle = "curved",
) -> Floats:
    at, boxes = np.array(ends), np.array(obstacles)
    corners = [np.repeat(boxes[k : k + 1], len(at), 0) for k in own]
    paths = styled_paths(style, at[:, :2], at[:, 2:], *corners)
    source, target = (np.full(len(at), k) for k in own)
    list(each_routed(paths, boxes, source, target, style=style))
    return paths


def behind(path: Floats, rect: list[float]) -> bool:
    share = np.linspace(0.0, 1.0, 9)[:, None, None]
    path = (path[:-1] + share * (path[1:] - path[:-1])).reshape(-1, 2)
    inside = (path[:, 0] > rect[0]) & (path[:, 0] < rect[2]) & (path[:, 1] > rect[1]) & (path[:, 1] < rect[3])
    return bool(inside.any())


def test_a_wire_goes_around_a_card_between_its_ends() -> None:
    (path,) = routed([(200, 50, 600, 50)], WALL, (0, 2))
    assert path.shape == (PATH_POINTS, 2)
    assert path[0].tolist() == [200, 50]
    assert path[-1].tolist() == [600, 50]
    assert not behind(path, WALL[1])
    assert (np.diff(path[:, 0]) >= 0).all(), "it never turns back"


@pytest.mark.feature(23)
@pytest.mark.parametrize("style", STYLES)
def test_a_wire_of_every_style_goes_around_a_card_between_its_ends(style: WireStyle) -> None:
    (path,) = routed([(200, 50, 600, 50)], WALL, (0, 2), style)
    assert path.shape == (PATH_POINTS, 2)
    assert path[0].tolist() == [200, 50] and path[-1].tolist() == [600, 50]
    assert not any(behind(path, rect) for rect in WALL)
    if style == "angled":
        steps = np.abs(np.diff(path, axis=0))
        assert (steps.min(1) < 1e-6).sum() >= 5, "it goes level and upright, but for its corners"


@pytest.mark.parametrize("style", STYLES)
def test_a_wire_turns_in_the_gap_before_a_card_that_stands_close(style: WireStyle) -> None:
    close = [[0.0, 0.0, 200.0, 150.0], [215.0, -60.0, 415.0, 260.0], [600.0, 0.0, 800.0, 150.0]]
    (path,) = routed([(200, 50, 600, 50)], close, (0, 2), style)
    assert not any(behind(path, rect) for rect in close)


@pytest.mark.parametrize("style", STYLES)
def test_a_wire_that_goes_backwards_goes_around_its_own_cards_and_all_others(style: WireStyle) -> None:
    cards = [[500.0, 0.0, 700.0, 150.0], [0.0, 20.0, 200.0, 170.0], [250.0, -40.0, 450.0, 190.0]]
    cards.append([480.0, 165.0, 720.0, 300.0])
    (path,) = routed([(700, 40, 0, 60)], cards, (0, 1), style)
    assert path[0].tolist() == [700, 40] and path[-1].tolist() == [0, 60]
    assert not any(behind(path, rect) for rect in cards)


def test_right_angled_wires_of_different_outputs_go_up_and_down_beside_each_other() -> None:
    ends = [(200.0, 50.0, 400.0, 250.0), (200.0, 150.0, 400.0, 350.0), (200.0, 50.0, 400.0, 450.0)]
    paths = routed(ends, [[0.0, 0.0, 200.0, 200.0], [400.0, 200.0, 600.0, 500.0]], (0, 1), "angled")
    one, other, again = (float(path[np.argmax(np.abs(np.diff(path[:, 1]))), 0]) for path in paths)
    assert abs(one - other) >= 6
    assert abs(one - again) < 1, "those of one output are one strand"


def test_a_lane_does_not_run_into_the_port_of_another_wire() -> None:
    """The wire around the wall would take the height of the second port, just above the upper card."""
    cards = [
        [0.0, -300.0, 200.0, 0.0],
        [300.0, -400.0, 500.0, 40.0],
        [700.0, -300.0, 900.0, 0.0],
        [0.0, 20.0, 200.0, 99.0],
    ]
    at = np.array([(200, -50, 700, -50), (200, 50, 1200, 90)], dtype=np.float64)
    corners = np.zeros((2, 4))
    paths = wire_paths(at[:, :2], at[:, 2:], corners, corners)
    list(each_routed(paths, np.array(cards), np.array([0, 3]), np.array([2, -1])))
    lane = paths[0][PATH_POINTS // 2, 1]
    assert not behind(paths[0], cards[1]) and abs(lane - 50) >= 6


def turns(path: Floats) -> Floats:
    """By how many degrees a path turns at each of its points."""
    step = np.diff(path, axis=0)
    angle = np.degrees(np.unwrap(np.arctan2(step[:, 1], step[:, 0])))
    return np.abs(np.diff(angle))


def test_wires_that_share_dots_are_one_strand_up_to_the_last_and_none_has_a_kink_there() -> None:
    dots = [(300.0, 0.0), (400.0, 0.0)]
    one = np.array([(0.0, 100.0), *dots, (2000.0, -40.0)])
    other = np.array([(0.0, 100.0), *dots, (900.0, 600.0)])
    onward = list(directions(one)[1:] + directions(other)[1:])
    paths = [dotted_path("curved", points, onward) for points in (one, other)]
    x = np.linspace(0.0, 400.0, 200)
    apart = np.abs(np.interp(x, *paths[0].T) - np.interp(x, *paths[1].T))
    assert apart.max() < 1.5
    assert all(turns(path).max() < 40 for path in paths)


def test_the_corners_of_right_angled_wires_through_dots_are_round() -> None:
    path = dotted_path("angled", np.array([(0.0, 0.0), (200.0, 90.0), (420.0, -80.0), (600.0, 40.0)]))
    assert turns(path[np.concatenate([[True], np.abs(np.diff(path, axis=0)).sum(1) > 0])]).max() < 70


def test_a_wire_with_nothing_in_its_way_stays_as_it_is() -> None:
    plain = wire_paths(np.array([[200.0, 50.0]]), np.array([[600.0, 50.0]]), np.zeros((1, 4)), np.zeros((1, 4)))
    assert (routed([(200, 50, 600, 50)], [WALL[0], WALL[2]], (0, 1)) == plain).all()


def test_wires_from_different_ports_take_lanes_of_their_own() -> None:
    one, other = routed([(200, 50, 600, 50), (200, 72, 600, 72)], WALL, (0, 2))
    middle = PATH_POINTS // 2
    assert abs(one[middle, 1] - other[middle, 1]) >= 6


def test_a_wire_that_can_only_go_behind_goes_straight() -> None:
    """A wall from far above to far below has no lane."""
    wall = [WALL[0], [300.0, -9e5, 500.0, 9e5], WALL[2]]
    (path,) = routed([(200, 50, 600, 50)], wall, (0, 2))
    assert np.allclose(path[:, 1], 50.0)


def test_a_wire_goes_around_what_only_others_may_enter() -> None:
    at = np.array([(200, 50, 600, 50), (200, 72, 600, 72)], dtype=np.float64)
    paths = wire_paths(at[:, :2], at[:, 2:], np.zeros((2, 4)), np.zeros((2, 4)))
    none = np.full(2, -1)
    list(each_routed(paths, np.array([WALL[1]]), none, none, [(), (0,)]))
    assert not behind(paths[0], WALL[1])
    assert behind(paths[1], WALL[1])


PASSING = """
x = torch.ones(3)
y = torch.zeros(3)
for i in range(3):
    y = torch.sin(y) + i
    z = torch.cos(y) * x
print(x, y)
"""


def test_wires_keep_out_of_blocks_and_out_of_the_rows_of_their_ports() -> None:
    read = read_python(PASSING, pasted=True)
    scene = Scene(read.graph, NoResults(), Shown(), EvenMeasure())
    (frame,) = scene.placement.frames.values()
    box, layout = frame.box, frame.layout
    rows = [box.x, box.y, box.x + max(row.x for row in layout.outputs), box.y + layout.height]
    inside = scene.state.members(frame.item)
    assert len(inside) == 4
    for wire, path in zip(scene.wiring.wires, scene.routes.paths, strict=True):
        if frame.item not in (wire.source, wire.target):
            assert not behind(path, rows)
        if not {wire.source, wire.target} & {frame.item, *inside}:
            assert not behind(path, [box.x, box.y, box.right, box.bottom])
