"""Ranks agree on which edited program they take up, and behind which turn."""

import pytest

from gradstudio.engine.turns import shared_updates
from gradstudio.engine.turns.shared_updates import NONE, SharedUpdates
from gradstudio.protocol.process_group import RUNS_CODE, turns_file_of
from gradstudio.protocol.ranks.turns_memory import turns_memory


class Rank:
    """One that is asked at the end of a turn."""

    def __init__(self, descriptor: int | None, number: int) -> None:
        self.turn = 0
        self.updates = SharedUpdates(lambda: (0, 2, self.turn, 7))
        self.updates.open(descriptor, number)
        self.updates.begin_verb(7)

    def agreed_at(self, turn: int, newest: int) -> int:
        self.turn = turn
        return self.updates.agreed(newest)

    def hears_at(self, turn: int, newest: int) -> None:
        self.turn = turn
        self.updates.hear(newest)


@pytest.fixture
def two() -> tuple[Rank, Rank]:
    with turns_memory([RUNS_CODE], 2) as options:
        descriptor = turns_file_of(options)
        return Rank(descriptor, 0), Rank(descriptor, 1)


def test_all_take_the_oldest_that_one_knew_behind_the_farthest_place(two: tuple[Rank, Rank]) -> None:
    first, other = two
    first.hears_at(3, 1)
    other.hears_at(5, 2)  # in a statement of that turn
    assert first.agreed_at(3, 2) == first.agreed_at(4, 3) == first.agreed_at(5, 3) == NONE
    assert first.agreed_at(6, 3) == 1
    first.hears_at(6, 3)  # what is agreed on next does not cover what the other has not read
    assert other.agreed_at(5, 3) == NONE and other.agreed_at(6, 3) == 1
    other.hears_at(6, 3)
    assert first.agreed_at(7, 3) == other.agreed_at(7, 3) == 3


def test_where_the_verb_of_one_is_over_none_is_taken_in_the_middle_of_it(two: tuple[Rank, Rank]) -> None:
    first, other = two
    first.hears_at(3, 1)
    other.updates.end_verb()
    other.hears_at(9, 1)
    assert first.agreed_at(3, 1) == first.agreed_at(4, 1) == NONE


def test_one_that_says_nothing_is_not_waited_for_without_end(
    two: tuple[Rank, Rank], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_updates, "WAIT_S", 0.01)
    assert two[0].agreed_at(3, 4) == 4
    assert Rank(None, 0).agreed_at(3, 4) == 4, "alone"
