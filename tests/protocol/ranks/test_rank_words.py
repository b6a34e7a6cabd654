"""What is said of a value over ranks, and of ranks that wait for one another."""

from functools import reduce
from operator import or_
from typing import NamedTuple

import msgspec
import pytest

from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.messages.ranks import Holders, Spread
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.ranks.spread_words import (
    amount_wordings,
    hint_wordings,
    spread_amount,
    spread_sign,
    spread_words,
)
from gradstudio.protocol.ranks.waiting_words import waiting_words


def spread(*values: float, shape: tuple[int, ...] = (), nan_on: int | None = None, digests: bool = True) -> Spread:
    def of(rank: int, value: float) -> Spread:
        nan = int(rank == nan_on)
        told = Summary(dtype="float32", shape=shape, minimum=value, maximum=value, mean=value, rms=abs(value), nan=nan)
        return Spread.of(rank, told, str((value, nan)).encode() if digests else b"")

    return reduce(or_, (of(rank, value) for rank, value in enumerate(values)))


def test_equal_values_are_said_to_be_equal() -> None:
    assert spread_words(spread(2.0, 2.0)) == "equal on 2 ranks" and spread_sign(spread(2.0, 2.0)) == "="


def test_a_card_says_by_how_much_ranks_differ_and_where_a_nan_is() -> None:
    said = {
        "all equal": spread(2.0, 2.0),
        "Δ = 1.5": spread(1.0, 2.5),
        "Δ ≥ 1.5": spread(2.5, 2.0, 1.0, shape=(3,)),
        "all ≈": spread(2.0, 2.0, digests=False),
        "NaN r1": spread(1.0, 2.0, nan_on=1),
    }
    assert [spread_amount(one) for one in said.values()] == [*said]


def test_many_ranks_that_hold_a_nan_are_counted_in_the_width_of_a_card() -> None:
    told = Summary(dtype="float32", shape=(), nan=1)
    many = reduce(or_, (Spread.of(rank, told) for rank in range(1000)))
    assert spread_amount(many) == "NaN r0, r1, r2 +997"


def test_a_card_without_room_says_it_in_fewer_letters_and_a_sign_at_least() -> None:
    told = Summary(dtype="float32", shape=(), nan=1)
    four = reduce(or_, (Spread.of(rank, told) for rank in range(4)))
    assert amount_wordings(four) == ("NaN r0, r1, r2 +1", "NaN r0, r1 +2", "NaN r0 +3", "NaN")
    assert amount_wordings(spread(1.0, 2.0, nan_on=1)) == ("NaN r1",)
    assert amount_wordings(spread(2.0, 2.0)) == ("all equal", "equal", "=")
    assert amount_wordings(spread(2.5, 2.0, 1.0, shape=(3,))) == ("Δ ≥ 1.5", "Δ≥1.5", "≠")
    assert hint_wordings("[64, 4] ≠") == ("[64, 4] ≠", "[64,4] ≠", "≠")
    assert hint_wordings("[1, 1] NaN r1…") == ("[1, 1] NaN r1…", "[1,1] NaN r1…", "NaN r1…")
    assert hint_wordings("[64, 4]") == ("[64, 4]",)


def test_of_different_ones_the_ends_are_named_with_their_ranks() -> None:
    assert spread_words(spread(0.5, -1.0, 0.25)) == "different on 3 ranks: -1 (rank 1) to 0.5 (rank 0)"
    assert spread_words(spread(0.5, 1.0, shape=(2,))) == "different on 2 ranks: mean 0.5 (rank 0) to 1 (rank 1)"
    assert spread_sign(spread(0.5, 1.0)) == "≠"


def test_what_is_infinite_on_one_rank_alone_is_another_value_there() -> None:
    minus = Spread.of(0, Summary(dtype="float32", shape=(), neginf=1), b"a")
    found = minus | Spread.of(1, Summary(dtype="float32", shape=(), minimum=0.0, maximum=0.0), b"b")
    assert (spread_sign(found), spread_amount(found)) == ("≠", "∞ r0")
    assert spread_words(found) == "infinite on rank 0; different on 2 ranks"


def test_a_rank_that_holds_a_nan_is_named_first() -> None:
    found = spread(1.0, 1.0, 1.0, shape=(4,), nan_on=2)
    assert spread_sign(found) == "NaN r2"
    assert spread_sign(msgspec.structs.replace(found, nan=Holders(2, (1, 2)))) == "NaN r1…"
    assert spread_sign(msgspec.structs.replace(found, nan=Holders(3, (0, 1, 2)))) == "NaN"
    assert spread_words(found).startswith("NaN on rank 2; ")


def test_what_was_not_compared_is_not_called_equal() -> None:
    found = spread(1.0, 1.0, shape=(4,), digests=False)
    assert spread_sign(found) == "~" and spread_words(found) == "the same figures on 2 ranks"


def test_other_shapes_are_said() -> None:
    found = spread(1.0, shape=(2,)) | Spread.of(1, Summary(dtype="float32", shape=(3,), mean=1.0), b"x")
    assert spread_words(found) == "of different shapes or dtypes on 2 ranks" and spread_sign(found) == "≠"


class Rank(NamedTuple):
    number: int
    is_busy: bool = True
    running: Running | None = None
    since_s: float = 0.0


def at(line: int) -> Running:
    return Running(line=line)


def test_ranks_at_different_lines_for_long_wait_for_one_another() -> None:
    words = waiting_words([Rank(0, running=at(8)), Rank(1, running=at(12))], 6.0, 5.0)
    assert "rank 0 is at line 8" in words and "rank 1 is at line 12" in words


def test_a_rank_that_waits_for_one_that_is_over_is_named() -> None:
    words = waiting_words([Rank(0, running=at(8)), Rank(1, is_busy=False)], 6.0, 5.0)
    assert "rank 0 is at line 8; rank 1 has come to its end" in words


@pytest.mark.parametrize(
    "ranks",
    [
        [Rank(0, running=at(8)), Rank(1, running=at(8))],
        [Rank(0, running=at(8)), Rank(1, running=at(12), since_s=5.0)],
        [Rank(0, running=at(8)), Rank(1)],
        [Rank(0, running=at(8))],
        [Rank(0, is_busy=False), Rank(1, is_busy=False)],
    ],
)  # fmt: skip
def test_ranks_at_work_are_left_alone(ranks: list[Rank]) -> None:
    assert not waiting_words(ranks, 6.0, 5.0)


def test_ranks_that_have_not_told_it_are_counted_and_nothing_is_said_to_be_equal() -> None:
    one, two = (msgspec.structs.replace(spread(*values), missing=1) for values in ((2.0,), (2.0, 2.0)))
    assert (spread_words(one), spread_sign(one)) == ("told by 1 of 2 ranks", "1/2")
    assert (spread_words(two), spread_sign(two)) == ("equal on 2 of 3 ranks", "2/3")
    assert spread_sign(msgspec.structs.replace(spread(2.0, 3.0), missing=1)) == "≠"
