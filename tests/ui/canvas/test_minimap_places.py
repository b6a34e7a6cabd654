"""Where the minimap stands: in its corner, as a button along the edges, opened from the button."""

from typing import get_args

import pytest
from PySide6.QtCore import QRect, QSize

from gradstudio.scene.camera import Camera
from gradstudio.ui.canvas.minimap_places import button_places, free_button, in_view, opened_from, place_in_corner
from gradstudio.ui.state.settings import Corner

ROOM = QRect(12, 12, 600, 300)
MAP = QSize(160, 110)
CORNERS: tuple[Corner, ...] = get_args(Corner)


@pytest.mark.parametrize("corner", CORNERS)
def test_the_map_and_its_first_button_share_the_corner_of_the_view(corner: Corner) -> None:
    whole, button = place_in_corner(corner, MAP, ROOM), next(button_places(corner, ROOM))
    assert ROOM.contains(whole) and whole.contains(button)
    assert opened_from(button, corner, MAP, ROOM) == whole


@pytest.mark.parametrize("corner", CORNERS)
def test_every_button_lies_in_the_view_and_opens_a_map_around_it(corner: Corner) -> None:
    buttons = list(button_places(corner, ROOM))
    assert len({(button.x(), button.y()) for button in buttons[1:]}) > 50
    for button in buttons:
        opened = opened_from(button, corner, MAP, ROOM)
        assert ROOM.contains(button)
        assert ROOM.contains(opened) and opened.contains(button) and opened.size() == MAP


def test_the_nearest_to_the_corner_comes_first_along_each_edge() -> None:
    buttons = list(button_places("bottom_right", ROOM))
    along_x = [button.x() for button in buttons if button.bottom() == ROOM.bottom() and button.right() < ROOM.right()]
    along_y = [button.y() for button in buttons if button.right() == ROOM.right() and button.bottom() < ROOM.bottom()]
    assert along_x == sorted(along_x, reverse=True) and along_y == sorted(along_y, reverse=True)


@pytest.mark.parametrize("corner", CORNERS)
def test_the_first_free_button_touches_nothing_that_is_seen(corner: Corner) -> None:
    first = next(button_places(corner, ROOM))
    camera = Camera(2.0, 100.0, -50.0)
    left, top = camera.to_scene(first.x() - 20, first.y() - 20)
    (taken,) = in_view(camera, [(left, top, left + 40.0, top + 40.0)])
    found = free_button(corner, ROOM, [taken])
    beside = [place for place in button_places(corner, ROOM) if not place.intersects(taken)]
    assert found == beside[0] and not found.intersects(taken.adjusted(1, 1, -1, -1))
    assert free_button(corner, ROOM, []) == first == free_button(corner, ROOM, [ROOM]), "the corner where none is free"


def test_what_is_seen_takes_its_pixels_and_those_beside_them() -> None:
    assert in_view(Camera(2.0, 10.0, 20.0), [(15.0, 25.0, 25.0, 30.0)]) == [QRect(9, 9, 22, 12)]
