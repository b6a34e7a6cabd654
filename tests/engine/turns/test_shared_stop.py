"""Ranks agree on where they stop: none before what another of them is in the middle of."""

from types import SimpleNamespace
from typing import cast

import pytest

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.turns import shared_stop
from gradstudio.engine.turns.shared_stop import SharedStop, place_of
from gradstudio.protocol.process_group import RUNS_CODE, turns_file_of
from gradstudio.protocol.ranks.turns_memory import turns_memory


class Rank:
    """One that stands before a statement."""

    def __init__(self, descriptor: int | None, number: int) -> None:
        self.stop, self.frame = SharedStop(), Frame(())
        self.live = cast(Live, SimpleNamespace(calls=[], cursor=SimpleNamespace(frames=[self.frame])))
        self.stop.open(descriptor, number)
        self.stop.begin_verb(7)
        self.stop.begin(self.live)

    def agrees_at(self, index: int) -> bool:
        self.frame.index = index
        return self.stop.agrees()


def two() -> tuple[Rank, Rank]:
    with turns_memory([RUNS_CODE], 2) as options:
        descriptor = turns_file_of(options)
        return Rank(descriptor, 0), Rank(descriptor, 1)


def test_who_is_behind_goes_on_until_what_the_other_waits_in_is_done() -> None:
    first, other = two()
    other.frame.index = 5
    other.stop.hear()  # it is in statement 5, and may wait there
    assert not first.agrees_at(3) and not first.agrees_at(5)
    assert first.agrees_at(6)
    assert other.agrees_at(6)
    assert other.agrees_at(7), "it has agreed, whatever it is asked for afterwards"


def test_who_stands_between_statements_has_said_so_and_is_not_taken_to_be_in_one() -> None:
    first, other = two()
    first.frame.index = 2
    first.stop.hear()
    assert other.agrees_at(4)
    other.stop.hear()  # the words of its other thread come late
    assert not first.agrees_at(3) and first.agrees_at(4)


def test_one_that_has_come_to_its_end_is_waited_for_by_nobody_and_one_that_says_nothing_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, other = two()
    other.stop.end_verb()
    assert first.agrees_at(3)
    monkeypatch.setattr(shared_stop, "WAIT_S", 0.01)
    first, other = two()
    other.stop.begin_verb(8)  # it hears of no stop of this verb
    assert first.agrees_at(3)


def test_where_no_memory_is_to_be_had_each_stops_by_itself() -> None:
    alone = Rank(None, 0)
    assert not alone.stop.is_open and alone.agrees_at(3)
    alone.stop.hear()


def test_a_place_is_in_program_order_with_turns_that_run_without_a_record() -> None:
    rank = two()[0]
    loop = Frame(())
    loop.turn, loop.index, rank.frame.index = 4, 3, 2
    rank.live.cursor.frames.append(loop)
    assert place_of(rank.live, None) == (0, 2, 4, 3)
    assert place_of(rank.live, lambda: (10, None)) == (0, 2, 14, 3)
    assert place_of(rank.live, lambda: (10, (1, 0))) == (0, 2, 15, 1, 0, 0)
