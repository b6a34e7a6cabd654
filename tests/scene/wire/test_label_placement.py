"""A label beside a port covers nothing while there is room, and is seen."""

from hypothesis import given
from hypothesis import strategies as st

from gradstudio.scene.geometry import Box
from gradstudio.scene.wire.label_placement import CLEAR, HEIGHT, place_button, place_label

CARD = Box(100.0, 100.0, 200.0, 60.0)
PORT = (300.0, 130.0)
VIEW = Box(0.0, 0.0, 1000.0, 800.0)


def placed(*taken: Box, view: Box = VIEW, upward: bool = False) -> Box:
    return place_label(PORT, CARD, 80.0, (CARD, *taken), view, upward=upward)


def test_it_stands_beside_the_port_below_or_above_the_wire() -> None:
    below, above = placed(), placed(upward=True)
    assert below.x > PORT[0]
    assert below.y > PORT[1]
    assert above.x > PORT[0]
    assert above.bottom < PORT[1]
    assert below.height == above.height == HEIGHT


def test_it_steps_further_down_then_over_the_wire_and_then_over_the_card() -> None:
    taken: list[Box] = []
    places = [placed()]
    for _ in range(6):
        taken.append(Box(places[-1].x + 10.0, places[-1].y + 8.0, 10.0, 1.0))
        places.append(placed(*taken))
    assert [place.y > PORT[1] for place in places[:4]] == [True, True, False, False]
    assert all(place.right == CARD.right and place.bottom < CARD.y for place in places[4:6])
    assert places[6].y > CARD.bottom
    assert len({(place.x, place.y) for place in places}) == 7


def test_where_the_view_ends_it_stays_inside() -> None:
    narrow = Box(0.0, 0.0, 320.0, 800.0)
    assert placed(view=narrow).right <= narrow.right
    low = Box(0.0, 0.0, 1000.0, CARD.bottom)
    assert placed(view=low).bottom <= low.bottom


def test_where_nothing_is_free_or_seen_there_is_a_place_all_the_same() -> None:
    everything = Box(-5000.0, -5000.0, 10000.0, 10000.0)
    assert VIEW.contains(placed(everything).x, placed(everything).y)
    assert placed(view=Box(2000.0, 2000.0, 10.0, 10.0)).width == 80.0


boxes = st.builds(Box, st.floats(0, 600), st.floats(0, 400), st.floats(1, 300), st.floats(1, 100))


@given(st.lists(boxes, max_size=4), st.booleans())
def test_what_is_free_is_clear_of_everything(taken: list[Box], upward: bool) -> None:
    label = placed(*taken, upward=upward)
    others = [placed(*taken, upward=other) for other in (True, False)]
    free = [not any(place.grown(CLEAR).meets(box) for box in (CARD, *taken)) for place in others]
    assert any(free) == (not any(label.grown(CLEAR).meets(box) for box in (CARD, *taken)))


@given(st.lists(st.builds(Box, *[st.floats(0.0, 900.0)] * 2, *[st.floats(1.0, 300.0)] * 2), max_size=12))
def test_a_button_covers_nothing_and_is_seen_or_is_not_there(others: list[Box]) -> None:
    taken = [CARD, *others]
    place = place_button(CARD, (180.0, 50.0), 24.0, taken, VIEW)
    if place is None:
        assert others
        return
    assert place.width in (180.0, 50.0)
    assert place.is_within(VIEW)
    assert not any(place.meets(box) for box in taken)
