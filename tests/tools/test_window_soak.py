"""What long use may leave behind, and a little of it."""

import sys
import time

import pytest

from tools.campaign.soak import run
from tools.campaign.window_soak import SLACK, WARM_ROUNDS, grown, use

FLAT = [100 << 20, 60_000, 12, 4, 1, 300 << 20]


def test_what_stays_after_the_warm_up_is_flat() -> None:
    assert grown([FLAT] * (WARM_ROUNDS + 5)) == []
    assert grown([FLAT, [10 * one for one in FLAT]]) == [], "in the warm-up it may grow"


@pytest.mark.parametrize(
    ("place", "words"), [(0, "bytes of the window"), (2, "descriptors"), (3, "threads"), (4, "processes")]
)
def test_what_grows_is_named(place: int, words: str) -> None:
    more = list(FLAT)
    more[place] += SLACK[place] + 1
    assert grown([*[FLAT] * WARM_ROUNDS, more]) == [f"{SLACK[place] + 1:,} more {words}"]


def test_runs_again_and_again_have_the_report_of_the_first() -> None:
    tally = run(seed=0, cases=range(6), until=time.monotonic() + 3600)
    assert tally.cases == 6
    assert [one.reason for one in tally.failures] == []


@pytest.mark.skipif(sys.platform != "linux", reason="windows are forked")
def test_a_round_in_a_window_with_its_engine() -> None:
    tally = use(seed=2026, cases=range(1), until=time.monotonic() + 3600)
    assert tally.cases >= 1
    assert [one.reason for one in tally.failures] == []
