"""Runs of which a part is not in the record: what ran there is not judged by what stands on both sides of it.

Of a loop that is recorded by sample most turns are missing, of one that was stopped in one the beginning of that turn;
behind them the engine says how leaves stand, in rows that are no executions (`Row.caught_up`).
"""

from collections.abc import Iterable
from itertools import combinations

import msgspec
import pytest

from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Row, Traced
from tests.advice.teaching_programs import RECORDINGS, Teaching, alarms, is_found, recorded, told_of
from tests.helpers import recordings

STRETCHES = 3
"""Every gap from one to another of so many places of a run is tried."""
FIRST = 3
"""Turns that are always recorded at the beginning of a loop."""
LONG = {"accumulation_of_means_undivided", "accumulated_gradients_zeroed_in_every_turn"}
"""What is wrong in them is seen in four turns on end, or in three steps."""


def one_by_one(events: Iterable[Message]) -> list[Message]:
    """The same with one row a message."""
    apart: list[Message] = []
    for event in events:
        rows = event.rows if isinstance(event, Traced) else ()
        apart += [Traced(revision=0, rows=(row,)) for row in rows] if rows else [event]
    return apart


def row_of(event: Message) -> Row | None:
    return event.rows[0] if isinstance(event, Traced) and event.rows else None


def caught_up(row: Row) -> Traced:
    """The same row, told behind the gap."""
    return Traced(revision=0, rows=(msgspec.structs.replace(row, caught_up=True),))


def without(events: list[Message], begin: int, end: int, *, catches_up: bool) -> list[Message]:
    """A run of which a part is not recorded; no backward is parted from its statement, which follows it."""
    while end < len(events) and isinstance(events[end - 1], BackwardTraced):
        end += 1
    gone = events[begin:end]
    newest = {row.node: row for event in gone if (row := row_of(event)) is not None}
    kept = [event for event in gone if not isinstance(event, Traced | BackwardTraced)]
    return [*events[:begin], *kept, *(map(caught_up, newest.values()) if catches_up else ()), *events[end:]]


def by_sample(events: list[Message]) -> list[Message]:
    """The first turns, then one in four, and what the turn before it left in leaves."""
    found: list[Message] = []
    waiting: list[Message] = []
    for event in events:
        row = row_of(event)
        if isinstance(event, BackwardTraced):
            waiting.append(event)
            continue
        turn = row.turns[0] if row is not None and row.turns else 0
        if turn < FIRST or turn % 4 == 0:
            found += [*waiting, event]
        elif row is not None and row.writes and turn % 4 == 3:
            found.append(caught_up(row))
        waiting = [] if row is not None else waiting
    return [*found, *waiting]


def trained(prefix: str) -> list[Teaching]:
    return [one for one in recorded(prefix) if "backward()" in one.text and "for " in one.text]


@pytest.mark.parametrize("program", trained("right"), ids=lambda one: one.name)
def test_of_a_right_program_nothing_more_than_a_note_is_told(program: Teaching) -> None:
    events = one_by_one(recordings.kept_run(f"{RECORDINGS}/{program.name}"))
    graph = read_script(program.text).graph
    turns = ((k, row.turns) for k, event in enumerate(events) if (row := row_of(event)) is not None and row.turns)
    second = next((k for k, (turn, *_) in turns if turn), len(events))
    places = [second + (len(events) - second) * k // STRETCHES for k in range(STRETCHES + 1)]
    for k, (begin, end) in enumerate(combinations(sorted(set(places)), 2)):
        assert alarms(told_of(graph, without(events, begin, end, catches_up=bool(k % 2)))) == [], (begin, end)


@pytest.mark.parametrize(
    "program", [one for one in trained("planted") if one.name not in LONG], ids=lambda one: one.name
)
def test_what_is_wrong_is_told_of_a_run_by_sample(program: Teaching) -> None:
    events = by_sample(one_by_one(recordings.kept_run(f"{RECORDINGS}/{program.name}")))
    assert is_found(program, told_of(read_script(program.text).graph, events))


def test_a_clip_of_what_was_just_emptied_is_told_of_behind_a_gap_and_one_behind_a_backward_is_not() -> None:
    told = {}
    for name in ("clip_before_backward_behind_a_comprehension", "clip_behind_backward_behind_a_comprehension"):
        program = next(one for one in (*recorded("planted"), *recorded("right")) if one.name == name)
        events = one_by_one(recordings.kept_run(f"{RECORDINGS}/{name}"))
        turns = [k for k, event in enumerate(events) if (row := row_of(event)) is not None and row.turns]
        cut = without(events, turns[20], turns[40], catches_up=False)  # all within the comprehension
        told[name] = alarms(told_of(read_script(program.text).graph, cut))
    (alarm,) = told["clip_before_backward_behind_a_comprehension"]
    assert "it stands before the backward" in alarm
    assert told["clip_behind_backward_behind_a_comprehension"] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("recurrence_that_explodes", "h grows ×11 a turn since turn 1 and overflows by turn 41"),  # in turn 38
        ("rnn_unrolled_explodes", "h grows ×2.5 a turn since turn 1"),
        ("rate_of_five", "loss grows ×1.3e4 a step since step 1 and overflows by step 13"),  # in step 10
        ("update_that_adds_its_gradient", "loss rises in every step that is recorded"),
        ("rate_of_nearly_nothing", "is so small that all steps in 20 turns change nothing"),
        ("clipped_to_nothing", "so all steps of opt in 9 turns change nothing"),
        ("schedule_of_epochs_stepped_by_each_batch", "sched has stepped 24 times and left 6e-08 of the learning rate"),
    ],
)
def test_turns_are_counted_with_those_that_are_not_recorded(name: str, words: str) -> None:
    program = next(one for one in recorded("planted") if one.name == name)
    events = by_sample(one_by_one(recordings.kept_run(f"{RECORDINGS}/{name}")))
    titles = [told.problem.title for told in told_of(read_script(program.text).graph, events)]
    assert [title for title in titles if words in title], titles
