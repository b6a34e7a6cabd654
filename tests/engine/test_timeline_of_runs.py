"""The timeline of real runs: at each tick what torch had then, against stepping and against torch by hand.

What the engine said is kept in ``tests/protocol/recordings`` for the rooms without torch (tests/helpers/recordings.py).
"""

import pytest
import torch

from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.helpers import recordings
from tests.protocol.timelines import PROGRAMS, TOLD, Ran, Timelines, facts, feed, number, standing


def said(bench: Bench, text: str, *verbs: str) -> list[Message]:
    bench.load(text)
    told = list[Message]()
    for verb in verbs or ("run",):
        bench.do(verb)  # type: ignore[arg-type]
        told += [event for event in bench.events if isinstance(event, TOLD)]
    return told


def run(bench: Bench, text: str) -> Timeline:
    return feed(Timeline(), said(bench, text))


@pytest.fixture
def ran(bench: Bench, request: pytest.FixtureRequest) -> Ran:
    """Runs a program."""

    def make(text: str, *verbs: str) -> Timeline:
        told = said(bench, text, *verbs)
        timeline = feed(Timeline(), told)
        recordings.settle(recordings.of_test(request, "protocol"), told, len(timeline.ticks))
        return timeline

    return make


class TestRealRuns(Timelines):
    """Each program is run by the engine."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_state_at_each_statement_is_what_the_engine_told_when_it_stood_there(bench: Bench, name: str) -> None:
    told_at_once = said(bench, PROGRAMS[name])
    ran = feed(Timeline(), told_at_once)
    stepping, stepped, seen = Bench(), Timeline(), 0
    states = list[object]()
    stepping.load(PROGRAMS[name])
    while stepping.do("step").outcome == "done":
        feed(stepped, stepping.events)
        tick = len(stepped.ticks) - 1
        told = {key: facts(row) for key, row in stepping.grads().items()}
        everything = told.keys() | {key for n in stepped.nodes() for key in stepped.keys_of(n)}
        assert standing(stepped, tick, everything) == told
        assert standing(ran, tick, everything) == told
        assert {n: stepped.row(n) is None for n in ran.nodes()} == {n: ran.row(n, tick) is None for n in ran.nodes()}
        states.append([tick, [[key, fact] for key, fact in sorted(told.items())]])
        seen += 1
        if stepping.engine.live is not None and stepping.engine.live.cursor.upcoming() is None:
            break
    assert seen >= 3
    recordings.settle(f"protocol/recordings/programs/{name.replace(' ', '_')}", told_at_once, states)


def test_each_turn_of_a_loop_has_its_value_and_its_gradient(bench: Bench) -> None:
    timeline = run(bench, PROGRAMS["carried"])
    w, h = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0)
    values = []
    for _ in range(4):
        h = torch.tanh(h * w)
        h.retain_grad()
        values.append(h)
    h.backward()  # type: ignore[no-untyped-call]
    assert timeline.turns_of(node(4)) == ((0,), (1,), (2,), (3,))
    for turn, value in enumerate(values):
        row, grad = timeline.row(node(4), turns=(turn,)), timeline.grad(node(4), turns=(turn,))
        assert row is not None and row.outputs[0].summary.value == value.item()  # type: ignore[union-attr]
        assert value.grad is not None and grad is not None and number(grad.grad) == value.grad.item()
    shown = timeline.grad(node(4))
    assert shown is not None and number(shown.grad) == 1.0, "without a choice the last turn is shown"
