"""Spreads over ranks: however a tree joins them, they say the same, and the same as all ranks looked at together."""

import random
from functools import reduce
from operator import or_
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.events import Event, Row, Traced
from gradstudio.protocol.messages.ranks import NAMED_RANKS, Holders, Range, Spread
from gradstudio.protocol.messages.records import Summary, TensorRecord

FIGURES = st.one_of(st.none(), st.integers(-3, 3), st.floats(-1e30, 1e30))
SUMMARIES = st.builds(
    Summary,
    dtype=st.sampled_from(["float32", "bfloat16"]),
    shape=st.sampled_from([(2,), (2, 3)]),
    minimum=FIGURES, maximum=FIGURES, mean=FIGURES, rms=FIGURES,
    nan=st.integers(0, 1), posinf=st.integers(0, 1), neginf=st.integers(0, 1),
)  # fmt: skip
LEAVES = st.lists(st.tuples(SUMMARIES, st.sampled_from([b"", b"a", b"b"])), min_size=1, max_size=30)


def leaves(told: list[tuple[Summary, bytes]]) -> list[Spread]:
    return [Spread.of(rank, summary, digest) for rank, (summary, digest) in enumerate(told)]


@given(LEAVES, st.randoms(use_true_random=False))
def test_any_tree_in_any_order_gives_the_same_spread_to_the_last_bit(
    told: list[tuple[Summary, bytes]], chance: random.Random
) -> None:
    expected = reduce(or_, leaves(told))
    rest = leaves(told)
    while len(rest) > 1:
        one = rest.pop(chance.randrange(len(rest)))
        other = rest.pop(chance.randrange(len(rest)))
        rest.append(one | other)
    assert rest == [expected] and repr(rest[0]) == repr(expected)


@given(LEAVES)
def test_it_says_what_all_ranks_together_say(told: list[tuple[Summary, bytes]]) -> None:
    spread = reduce(or_, leaves(told))
    summaries = [summary for summary, _ in told]
    assert spread.ranks == len(told)
    for name in ("minimum", "maximum", "mean", "rms"):
        numbers = {rank: getattr(each, name) for rank, each in enumerate(summaries)}
        numbers = {rank: number for rank, number in numbers.items() if number is not None}
        found = getattr(spread, name)
        if not numbers:
            assert found is None
            continue
        low, high = min(numbers.values()), max(numbers.values())
        first = {number: rank for rank, number in reversed(numbers.items())}
        assert found == Range(low, first[low], high, first[high])
    holders = [rank for rank, each in enumerate(summaries) if each.nan]
    assert spread.nan == Holders(len(holders), tuple(holders[:NAMED_RANKS]))
    infinite = [rank for rank, each in enumerate(summaries) if each.posinf or each.neginf]
    assert spread.infinite == Holders(len(infinite), tuple(infinite[:NAMED_RANKS]))
    alike = len({(each.dtype, each.shape) for each in summaries}) == 1
    assert bool(spread.layout) == alike
    digests = {digest for _, digest in told}
    assert spread.is_equal == (alike and len(digests) == 1 and digests != {b""})


@given(LEAVES)
def test_it_crosses_the_pipe_as_it_is(told: list[tuple[Summary, bytes]]) -> None:
    summary = Summary(dtype="float32", shape=(2,), spread=reduce(or_, leaves(told)))
    row = Row(step=1, node="n", outputs=(TensorRecord(device="cpu", summary=summary),))  # type: ignore[arg-type]
    sent = Traced(revision=1, rows=(row,))
    assert Decoder(cast(type[Event], Event)).feed(encode(sent)) == [sent]


def test_a_thousand_ranks_take_no_more_room_than_eight_but_for_their_numbers() -> None:
    summary = Summary(dtype="float32", shape=(2,), minimum=0.5, maximum=0.5, mean=0.5, rms=0.5, nan=1)

    def size(ranks: int) -> int:
        told = reduce(or_, (Spread.of(rank, summary, bytes(16)) for rank in range(ranks)))
        return len(encode(_row(told)))

    assert size(1000) <= size(8) + 8


def test_more_named_ranks_than_any_spread_has_are_no_message() -> None:
    sent = encode(_row(Spread(9, "", nan=Holders(9, tuple(range(9))))))
    with pytest.raises(BrokenFrame):
        Decoder(cast(type[Event], Event)).feed(sent)


def _row(spread: Spread) -> Traced:
    record = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2,), spread=spread))
    return Traced(revision=1, rows=(Row(step=1, node="n", outputs=(record,)),))  # type: ignore[arg-type]
