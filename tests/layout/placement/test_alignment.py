"""Cards brought to one line, kept apart along it, and spread with equal gaps."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.layout.placement.alignment import GAP, Rect, RectIndex, Shifts, Side, align, distribute, spread_apart

TWO = {"a": Rect(0, 10, 100, 40), "b": Rect(30, 100, 50, 20)}
RECTS = st.dictionaries(
    st.sampled_from("abcdefg"),
    st.builds(Rect, *[st.integers(-500, 500)] * 2, *[st.integers(1, 200)] * 2),
    max_size=7,
)


def moved(rects: dict[str, Rect], shifts: Shifts) -> dict[str, Rect]:
    none = (0.0, 0.0)
    return {
        key: Rect(r.x + shifts.get(key, none)[0], r.y + shifts.get(key, none)[1], r.width, r.height)
        for key, r in rects.items()
    }


def spaced(rects: dict[str, Rect], shifts: Shifts, side: Side, fixed: frozenset[str] = frozenset()) -> Shifts:
    """The shifts, and along the line so much more that nothing covers anything."""
    after, k = moved(rects, shifts), 1 if side in ("left", "right", "center") else 0
    order = sorted(after, key=lambda key: (after[key][k], rects[key][1 - k], key))
    ways = spread_apart({key: (rect,) for key, rect in after.items()}, order, order, fixed, "down" if k else "across")
    found = dict(shifts)
    for key, by in ways:
        if not by:
            continue
        dx, dy = found.get(key, (0.0, 0.0))
        found[key] = (dx, dy + by) if k else (dx + by, dy)
    return found


@pytest.mark.parametrize(
    ("side", "shifts"),
    [
        ("left", {"b": (-30, 0)}),
        ("right", {"b": (20, 0)}),
        ("top", {"b": (0, -90)}),
        ("bottom", {"a": (0, 70)}),
        ("center", {"a": (2.5, 0), "b": (-2.5, 0)}),
        ("middle", {"a": (0, 40), "b": (0, -40)}),
    ],
)
def test_a_side_comes_to_the_outermost_one_and_a_middle_halfway(side: Side, shifts: Shifts):
    assert align(TWO, side) == shifts


@pytest.mark.parametrize(
    ("side", "shifts"),
    [
        ("left", {"a": (30, 0)}),
        ("right", {"a": (-20, 0)}),
        ("top", {"a": (0, 90)}),
        ("bottom", {"a": (0, 70)}),
        ("center", {"a": (5, 0)}),
        ("middle", {"a": (0, 80)}),
    ],
)
def test_what_is_fixed_gives_the_line_and_stays(side: Side, shifts: Shifts):
    assert align(TWO, side, frozenset({"b"})) == shifts


def test_of_several_fixed_the_outermost_gives_the_line_and_unknown_ones_do_not_count():
    rects = {"a": Rect(-50, 0, 10, 10), "b": Rect(5, 0, 10, 10), "c": Rect(9, 0, 10, 10)}
    assert align(rects, "left", frozenset("bc")) == {"a": (55, 0)}
    assert align(rects, "right", frozenset("bc")) == {"a": (59, 0)}
    assert align(rects, "center", frozenset("bc")) == {"a": (57, 0)}
    assert align(rects, "left", frozenset({"gone"})) == align(rects, "left") == {"b": (-55, 0), "c": (-59, 0)}


@pytest.mark.parametrize("side", ["left", "right", "top", "bottom", "center", "middle"])
def test_nothing_and_one_alone_have_nowhere_to_go(side: Side):
    assert align({}, side) == {}
    assert align({"a": Rect(3, 4, 5, 6)}, side) == {}


@given(RECTS, st.sampled_from(["left", "right", "top", "bottom"]))
def test_aligned_sides_are_on_one_line_and_the_other_axis_is_untouched(rects: dict[str, Rect], side: Side):
    after = moved(rects, align(rects, side))
    ends = {"left": (0,), "right": (0, 2), "top": (1,), "bottom": (1, 3)}[side]
    assert len({sum(r[k] for k in ends) for r in after.values()}) <= 1
    other = 1 if 0 in ends else 0
    assert all(after[key][other] == rects[key][other] for key in rects)
    assert align(after, side) == {}


def test_cards_that_would_lie_over_one_another_are_put_behind_each_other():
    rects = {"a": Rect(0, 0, 100, 40), "b": Rect(300, 10, 100, 40)}
    shifts = align(rects, "left")
    assert spaced(rects, shifts, "left") == {"b": (-300, 30 + GAP)}


def test_along_a_row_they_are_pushed_across():
    rects = {"a": Rect(0, 0, 100, 40), "b": Rect(60, 90, 100, 40)}
    assert spaced(rects, align(rects, "top"), "top") == {"b": (40 + GAP, -90)}


def test_what_has_room_only_aligns_and_what_needs_nothing_is_not_named():
    rects = {"a": Rect(0, 0, 100, 40), "b": Rect(300, 40, 100, 40)}
    assert spaced(rects, align(rects, "left"), "left") == {"b": (-300, 0)}
    assert spaced(rects, {}, "left") == {}


def test_two_at_the_same_place_keep_their_order_across_it():
    rects = {"a": Rect(300, 0, 100, 40), "b": Rect(0, 0, 100, 40)}
    assert spaced(rects, align(rects, "left"), "left") == {"a": (-300, 40 + GAP)}


def test_others_go_round_what_is_fixed():
    rects = {"still": Rect(0, 20, 100, 40), "a": Rect(200, 0, 100, 40), "b": Rect(200, 70, 100, 40)}
    fixed = frozenset({"still", "gone"})
    shifts = spaced(rects, align(rects, "left", fixed), "left", fixed)
    assert shifts == {"a": (-200, 60 + GAP), "b": (-200, 54 + GAP)}
    assert moved(rects, shifts)["b"].y == 60 + GAP + 40 + GAP


@given(RECTS, st.sampled_from(["left", "right", "top", "bottom"]))
def test_spaced_cards_never_overlap_along_the_line(rects: dict[str, Rect], side: Side):
    after = moved(rects, spaced(rects, align(rects, side), side)).values()
    k = 1 if side in ("left", "right") else 0
    spans = sorted((r[k], r[k] + r[k + 2]) for r in after)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_others_make_room_for_what_is_brought_and_lie_over_one_another_as_before():
    rects = {
        "came": (Rect(0, 0, 100, 40),),
        "there": (Rect(50, 0, 100, 40), Rect(50, 30, 100, 40)),
        "behind": (Rect(160, 50, 100, 40),),
        "far": (Rect(500, 0, 100, 40),),
        "over": (Rect(510, 0, 100, 40),),
    }
    ways = dict(spread_apart(rects, list(rects), {"came"}, frozenset(), "across"))
    assert ways == {"came": 0.0, "there": 50 + GAP, "behind": 40 + GAP * 2, "far": 0.0, "over": 0.0}


@given(
    st.lists(st.builds(Rect, *[st.floats(-2000, 2000)] * 2, *[st.floats(-3, 1500)] * 2), max_size=9),
    st.builds(Rect, *[st.floats(-2000, 2000)] * 2, *[st.floats(-3, 1500)] * 2),
)
def test_an_index_finds_all_that_a_rectangle_meets(rects: list[Rect], asked: Rect):
    index = RectIndex((str(k), rect) for k, rect in enumerate(rects))
    found = {key for key, rect in index.meeting(asked)}
    assert found == {
        str(k)
        for k, (x, y, width, height) in enumerate(rects)
        if x < asked.x + asked.width and asked.x < x + width and y < asked.y + asked.height and asked.y < y + height
    }


def test_gaps_become_equal_between_the_first_and_the_last():
    rects = {"a": Rect(0, 0, 10, 10), "b": Rect(15, 5, 20, 10), "c": Rect(90, 9, 10, 10)}
    assert distribute(rects, "across") == {"b": (25, 0)}
    down = {key: Rect(r.y, r.x, r.height, r.width) for key, r in rects.items()}
    assert distribute(down, "down") == {"b": (0, 25)}


def test_equal_gaps_stay_and_two_have_nothing_between_them():
    rects = {"a": Rect(0, 0, 10, 10), "b": Rect(30, 0, 10, 10), "c": Rect(60, 0, 10, 10)}
    assert distribute(rects, "across") == {}
    assert distribute({"a": rects["a"], "b": rects["b"]}, "across", 100) == {}
    assert distribute({}, "down") == {}


def test_without_room_the_gaps_are_the_least_and_the_last_gives_way():
    rects = {"a": Rect(0, 0, 10, 10), "b": Rect(5, 0, 10, 10), "c": Rect(10, 0, 10, 10)}
    assert distribute(rects, "across", 8) == {"b": (13, 0), "c": (26, 0)}
    assert distribute(rects, "across") == {"b": (5, 0), "c": (10, 0)}


def test_their_order_is_that_of_their_middles():
    rects = {"wide": Rect(0, 0, 100, 10), "thin": Rect(10, 0, 10, 10), "last": Rect(190, 0, 10, 10)}
    assert distribute(rects, "across") == {"wide": (55, 0)}
