"""A wire that would run behind cards goes around them."""

import numpy as np

from gradstudio.document.python import read_python
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.facts import Shown
from gradstudio.ui.canvas.geometry import PATH_POINTS, Floats, wire_paths
from gradstudio.ui.canvas.results import NoResults
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


def test_a_wire_goes_around_what_only_others_may_enter() -> None:
    at = np.array([(200, 50, 600, 50), (200, 72, 600, 72)], dtype=np.float64)
    paths = wire_paths(at[:, :2], at[:, 2:], np.zeros((2, 4)), np.zeros((2, 4)))
    none = np.full(2, -1)
    route_around(paths, np.array([WALL[1]]), none, none, [(), (0,)])
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


def test_wires_keep_out_of_blocks_and_out_of_the_rows_of_their_ports(hand: Hand) -> None:
    read = read_python(PASSING, pasted=True)
    board = Board(read.graph, NoResults(), Shown(), hand.canvas.look.meter)
    (frame,) = board.frames.values()
    box, face = frame.box, frame.face
    rows = [box.x, box.y, box.x + max(row.x for row in face.outputs), box.y + face.height]
    inside = board.members(frame.item)
    assert len(inside) == 4
    for wire, path in zip(board.wires, board.paths, strict=True):
        if frame.item not in (wire.source, wire.target):
            assert not behind(path, rows)
        if not {wire.source, wire.target} & {frame.item, *inside}:
            assert not behind(path, [box.x, box.y, box.right, box.bottom])


def test_a_muted_wire_keeps_its_route(hand: Hand) -> None:
    """It is listed last, and is led around the cards as before."""
    one, other = hand.add("torch.randn", 0, 0), hand.add("torch.randn", 0, 260)
    hand.add("torch.randn", 340, 60)
    hand.add("torch.randn", 340, 330)
    a, b = hand.add("torch.relu", 760, 20), hand.add("torch.relu", 760, 240)
    for source, target in ((one, b), (other, a), (one, a), (other, b)):
        if hand.graph.wire_into(target, "input") is None:
            hand.wire(source, target, "input")
    board = hand.canvas.board
    for wire in list(hand.graph.wires.values()):
        before = {known: board.paths[k].copy() for known, k in board.wire_index.items()}
        hand.canvas.toggle_wires_muted((wire,))
        assert wire in board.muted
        assert all(np.array_equal(board.paths[k], before[known]) for known, k in board.wire_index.items())
