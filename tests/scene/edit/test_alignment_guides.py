"""A dragged card is pulled into line with what stands still, when it is near enough."""

import numpy as np

from gradstudio.scene.edit.alignment_guides import Guides, Pull
from gradstudio.scene.geometry import Box

STILL = np.array([[0.0, 0.0, 100.0, 50.0], [200.0, 0.0, 300.0, 50.0]])


def test_an_edge_that_is_near_pulls_and_a_line_shows_it() -> None:
    pull = Guides(STILL, Box(500, 400, 100, 50)).pull(-297, 0, 6)
    assert (pull.dx, pull.across, pull.down) == (-300, True, False)
    assert pull.lines
    assert all(line.x1 == line.x2 for line in pull.lines if not line.gap)


def test_what_is_far_from_every_line_goes_where_the_hand_takes_it() -> None:
    assert Guides(STILL, Box(500, 400, 100, 50)).pull(37, 61, 6) == Pull(37, 61)
    assert Guides(np.empty((0, 4)), Box(0, 0, 9, 9)).pull(1, 2, 6) == Pull(1, 2)


def test_a_third_card_in_a_row_is_pulled_to_the_same_gap() -> None:
    pull = Guides(STILL, Box(900, 0, 100, 50)).pull(-497, 0, 6)
    assert pull.dx == -500
    assert any(line.gap for line in pull.lines)
