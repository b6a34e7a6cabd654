"""The square that a picture of a plane shows."""

import torch

from gradstudio.engine.turns.chart.plane_grid import square_around


def test_what_ends_at_the_edge_of_a_square_gets_room_there() -> None:
    """Else a path seems to leave the picture where it ends."""
    first = square_around(torch.tensor([[-3.0, 1.0], [0.0, 0.0]]), None, 1.25)
    assert first[1] == 0.375
    inside = torch.tensor([[-3.0, 1.0], [0.0, 0.0], [0.1, -0.2]])
    assert square_around(inside, first, 1.25) is first, "no picture jumps for a little"
    left, right, low, high = square_around(torch.tensor([[-3.0, 1.0], [0.3, 0.0]]), first, 1.25)
    assert abs(right - 0.7125) < 1e-6 and abs(right - left - 3.3 * 1.25) < 1e-6 and high - low == right - left


def test_data_that_stay_have_the_square_that_they_had() -> None:
    points = torch.randn(50, 2, generator=torch.manual_seed(0))
    first = square_around(points, None, 1.15)
    assert square_around(points, first, 1.15) is first
