"""Changed messages to what is alive: some to an engine and a window, and what the drivers take for wrong."""

import sys
import time
from random import Random
from typing import cast

import pytest

from gradstudio.protocol.messages.events import Event, Hello, Loaded
from tools.campaign.babbler import changed
from tools.campaign.live_frames import to_engines, to_windows


def test_what_is_changed_is_a_message_all_the_same() -> None:
    sound = Loaded(document="d", revision=1, stale=True, live=False)
    made = [changed(Random(seed), sound, cast(type[Event], Event)) for seed in range(40)]
    others = {repr(one) for one in made if one is not None}
    assert repr(sound) not in others or len(others) > 5
    assert all(one is None or isinstance(one, Event) for one in made)
    assert changed(Random(0), Hello(protocol=1, ready=True, pid=1), cast(type[Event], Event)) is not None


def test_an_engine_takes_changed_requests_and_answers_as_before() -> None:
    tally = to_engines(seed=2026, cases=range(25), until=time.monotonic() + 3600)
    assert tally.cases == 25
    assert [one.reason for one in tally.failures] == []


@pytest.mark.skipif(sys.platform != "linux", reason="windows are forked")
def test_a_window_takes_changed_answers_and_broken_ones() -> None:
    tally = to_windows(seed=2026, cases=range(2), until=time.monotonic())
    assert tally.cases == 1
    assert [one.reason for one in tally.failures] == []
