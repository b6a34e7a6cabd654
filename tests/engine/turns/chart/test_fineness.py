"""How fine live charts are: as fine as there is time for, and coarse no longer than they must be."""

from gradstudio.engine.turns.chart.fineness import EVERY_S, PATIENCE, SHARE, SIDES, Fineness

CHEAP_S, DEAR_S = EVERY_S * SHARE / 2, EVERY_S * SHARE * 2


def test_a_picture_that_takes_too_long_is_coarser_the_next_time() -> None:
    fineness = Fineness()
    assert fineness.side == SIDES[0]
    fineness.note(SIDES[0], DEAR_S)
    assert fineness.side == SIDES[1]
    fineness.note(SIDES[1], DEAR_S)
    fineness.note(SIDES[2], DEAR_S)
    assert fineness.side == SIDES[2], "there is none coarser: then they are fewer"


def test_after_a_hiccup_pictures_become_fine_again_although_coarse_ones_cost_half_as_much() -> None:
    fineness = Fineness()
    fineness.note(SIDES[0], DEAR_S)
    for _ in range(PATIENCE):
        fineness.note(fineness.side, CHEAP_S)
    assert fineness.side == SIDES[0]
    fineness.note(SIDES[0], CHEAP_S)
    assert fineness.side == SIDES[0]
