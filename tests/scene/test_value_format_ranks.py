"""What a card has room to say of a value that several ranks hold."""

import msgspec

from gradstudio.protocol.messages.ranks import Spread
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene.value_format import ranks_alarm, ranks_sign, ranks_text

ONE = Summary(dtype="float32", shape=(2,), minimum=0.0, maximum=1.0, mean=0.5, rms=0.7, value=(0.0, 1.0))


def on_two_ranks(digest: bytes, mean: float = 0.5) -> Summary:
    other = msgspec.structs.replace(ONE, mean=mean)
    return msgspec.structs.replace(ONE, spread=Spread.of(0, ONE, b"a") | Spread.of(1, other, digest))


def test_with_one_rank_nothing_is_said_of_ranks() -> None:
    assert ranks_sign(ONE) == ranks_text(ONE) == ranks_alarm(ONE) == ""


def test_what_all_ranks_hold_alike_is_no_alarm() -> None:
    same = on_two_ranks(b"a")
    assert ranks_sign(same) == " =" and ranks_alarm(same) == ""


def test_what_differs_is_marked_and_told_with_its_ranks() -> None:
    other = on_two_ranks(b"b", mean=0.75)
    assert ranks_sign(other) == ranks_alarm(other) == " ≠" and ranks_alarm(other, "∇") == " ∇≠"
    assert ranks_text(other) == "different on 2 ranks: mean 0.5 (rank 0) to 0.75 (rank 1)"
