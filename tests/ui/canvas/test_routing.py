"""A wire that would run behind cards goes around them."""

import numpy as np

from gradstudio.ui.canvas.geometry import PATH_POINTS, Floats, wire_paths
from gradstudio.ui.canvas.routing import route_around
from tests.ui.canvas.conftest import Hand

WALL = [[0.0, 0.0, 200.0, 150.0], [300.0, -40.0, 500.0, 260.0], [600.0, 0.0, 800.0, 150.0]]


def routed(ends: list[tuple[float, float, float, float]], obstacles: list[list[float]], own: tuple[int, int]) -> Floats:
    at = np.array(ends)
    paths = wire_paths(at[:, :2], at[:, 2:], np.zeros((len(at), 4)), np.zeros((len(at), 4)))
    source, target = (np.full(len(at), k) for k in own)
    route_around(paths, np.array(obstacles), source, target)
    return paths


def behind(path: Floats, rect: list[float]) -> bool:
    inside = (path[:, 0] > rect[0]) & (path[:, 0] < rect[2]) & (path[:, 1] > rect[1]) & (path[:, 1] < rect[3])
    return bool(inside.any())


def test_a_wire_goes_around_a_card_between_its_ends() -> None:
    (path,) = routed([(200, 50, 600, 50)], WALL, (0, 2))
    assert path.shape == (PATH_POINTS, 2)
    assert path[0].tolist() == [200, 50]
    assert path[-1].tolist() == [600, 50]
    assert not behind(path, WALL[1])
    assert (np.diff(path[:, 0]) >= 0).all(), "it never turns back"


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


def test_the_canvas_leads_wires_around_cards_and_lets_them_go_while_they_are_dragged(hand: Hand) -> None:
    x, between, total = hand.add("torch.randn", 0, 0), hand.add("torch.ones", 320, -60), hand.add("torch.sum", 700, 0)
    hand.wire(x, total, "input")
    board = hand.canvas.board
    (k,) = board.wire_index.values()
    rect = board.bounds[board.index[between]].tolist()
    assert not behind(board.paths[k], rect)
    board.drag({total: (700.0, 1.0)})
    assert behind(board.paths[k], rect)
    board.let_go()
    assert not behind(board.paths[k], rect)
