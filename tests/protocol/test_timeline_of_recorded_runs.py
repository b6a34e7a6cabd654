"""The timeline of recorded runs: at each tick what the engine told when it stood there."""

import pytest

from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Gradients
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.helpers import recordings
from tests.protocol.timelines import PROGRAMS, Ran, Timelines, facts, feed


@pytest.fixture
def ran(request: pytest.FixtureRequest) -> Ran:
    """Takes what the engine once said of the program."""

    def make(_text: str, *_verbs: str) -> Timeline:
        recording = recordings.load(recordings.of_test(request, "protocol"))
        timeline = feed(Timeline(), recording.events)
        assert len(timeline.ticks) == recording.concluded
        return timeline

    return make


class TestRecordedRuns(Timelines):
    """Each program was run by the engine when it was recorded."""


def plain(fact: object) -> object:
    """As JSON has it: tuples are lists."""
    return [plain(part) for part in fact] if isinstance(fact, tuple | list) else fact


@pytest.fixture(params=PROGRAMS)
def recording(request: pytest.FixtureRequest) -> recordings.Recording:
    return recordings.load(f"protocol/recordings/programs/{request.param.replace(' ', '_')}")


def test_each_state_at_each_statement_is_what_stepping_told(recording: recordings.Recording) -> None:
    timeline = feed(Timeline(), recording.events)
    states = recording.concluded
    assert isinstance(states, list) and len(states) >= 3
    for tick, told in states:
        for key, fact in told:
            row = timeline.grad(*key, tick=tick)
            assert row is not None and plain(facts(row)) == fact


def test_a_backward_and_its_gradients_told_again_change_nothing(recording: recordings.Recording) -> None:
    once, twice = feed(Timeline(), recording.events), Timeline()
    for event in recording.events:
        feed(twice, [event, event] if isinstance(event, BackwardTraced | Gradients) else [event])
    assert twice.ticks == once.ticks
    keys = [key for node in once.nodes() for key in once.keys_of(node)]
    for tick in range(len(once.ticks)):
        assert [once.grad(*key, tick=tick) for key in keys] == [twice.grad(*key, tick=tick) for key in keys]


def test_steps_forward_and_back_are_the_same_steps(recording: recordings.Recording) -> None:
    timeline = feed(Timeline(), recording.events)
    for unfolded in (False, True):
        there = [timeline.group_of(0)[-1] if not unfolded else 0]
        while (following := timeline.next(there[-1], unfolded)) is not None:
            there.append(following)
        back = [there[-1]]
        while (before := timeline.previous(back[-1], unfolded)) is not None:
            back.append(before)
        assert back[::-1] == there
        assert there[-1] == len(timeline.ticks) - 1
    assert timeline.previous(len(timeline.ticks)) == len(timeline.ticks) - 1


def test_a_group_is_one_node_of_one_backward_and_its_step_says_so(recording: recordings.Recording) -> None:
    timeline = feed(Timeline(), recording.events)
    for tick in timeline.ticks:
        step = timeline.backward_step(tick.index)
        if tick.autograd is None:
            assert step is None and timeline.forming(tick.node, 0, tick.index) == ((), 0)
            continue
        assert step is not None and timeline.place_of(tick.backward, tick.place) == tick.index
        assert (step.node, step.turns, step.backward) == (tick.node, tick.turns, tick.backward)
        assert step.rows[-1] == tick.autograd
        assert all(wire.target == tick.node and wire.place <= tick.place for wire in step.wires)
        group = [timeline.ticks[index] for index in timeline.group_of(tick.index)]
        assert {(one.node, one.turns, one.backward) for one in group} == {(tick.node, tick.turns, tick.backward)}


def test_what_differs_between_two_ticks_is_among_what_is_announced(recording: recordings.Recording) -> None:
    timeline = feed(Timeline(), recording.events)
    last = len(timeline.ticks) - 1
    for low in range(last):
        announced = timeline.changed_between(low, low + 1)
        assert announced is not None
        for node in timeline.nodes():
            same = timeline.row(node, low) == timeline.row(node, low + 1) and all(
                timeline.grad(*key, tick=low) == timeline.grad(*key, tick=low + 1) for key in timeline.keys_of(node)
            )
            assert same or node in announced


def test_time_adds_up(recording: recordings.Recording) -> None:
    timeline = feed(Timeline(), recording.events)
    for node in timeline.nodes():
        forward, backward = timeline.seconds(node)
        rows = [tick.row.seconds for tick in timeline.ticks if tick.node == node and tick.row is not None]
        parts = [tick.autograd.seconds for tick in timeline.ticks if tick.node == node and tick.autograd is not None]
        assert 0 <= forward <= sum(rows) + 1e-9
        assert 0 <= backward <= sum(parts) + 1e-9
