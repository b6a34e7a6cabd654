"""What a card has room to say of a value that several ranks hold."""

import msgspec

from gradstudio.protocol.messages.ranks import Spread
from gradstudio.protocol.messages.records import PlainRecord, Summary
from gradstudio.scene.card.result_sections import result_sections, tensor_display
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.value_format import ranks_alarm, ranks_sign, ranks_text
from gradstudio.scene.words.tooltips import plain_text
from tests.scene.card.test_result_sections import NODE, Told

ONE = Summary(dtype="float32", shape=(2,), minimum=0.0, maximum=1.0, mean=0.5, rms=0.7, value=(0.0, 1.0))


def on_two_ranks(digest: bytes, mean: float = 0.5) -> Summary:
    other = msgspec.structs.replace(ONE, mean=mean)
    return msgspec.structs.replace(ONE, spread=Spread.of(0, ONE, b"a") | Spread.of(1, other, digest))


def test_with_one_rank_nothing_is_said_of_ranks() -> None:
    assert ranks_sign(ONE) == ranks_text(ONE) == ranks_alarm(ONE) == ""


def test_of_a_plain_number_the_same_is_said_on_its_card_and_at_the_pointer() -> None:
    def told(rank: int, value: float, nan: int = 0) -> Spread:
        figure = None if nan else value
        of_one = Summary(dtype="float", shape=(), minimum=figure, maximum=figure, nan=nan)
        return Spread.of(rank, of_one, str(value).encode())

    record = PlainRecord(what="number", class_name="float", value=0.5, spread=told(0, 0.5) | told(1, 0.75))
    words = "different on 2 ranks: 0.5 (rank 0) to 0.75 (rank 1)"
    card = result_sections(Told(record), NODE, ("loss",), Shown(over_ranks=True))
    assert card.sections[0].value is not None and card.sections[0].value.text == "Δ = 0.25"
    assert card.hints == {0: "float ≠"}
    assert card.height == result_sections(Told(record), NODE, ("loss",), Shown()).height, "no card changes its size"
    assert plain_text(record) == f"<code>0.5</code><br>{words}"
    odd = msgspec.structs.replace(record, spread=told(0, 0.5) | told(1, 0.0, nan=1))
    (section,) = result_sections(Told(odd), NODE, ("loss",), Shown(over_ranks=True)).sections
    assert section.value is not None and (section.value.text, section.value.tone) == ("NaN r1", "bad")


def test_what_one_rank_alone_has_told_says_nothing_over_ranks() -> None:
    """As of gradients inside a backward: its number is shown, not "all equal"."""
    alone = msgspec.structs.replace(ONE, spread=Spread.of(0, ONE, b"a"))
    assert ranks_sign(alone) == ranks_text(alone) == ""
    assert tensor_display(alone, over_ranks=True) == tensor_display(alone)
    assert tensor_display(on_two_ranks(b"a"), over_ranks=True).text == "all equal"


def test_what_all_ranks_hold_alike_is_no_alarm() -> None:
    same = on_two_ranks(b"a")
    assert ranks_sign(same) == " =" and ranks_alarm(same) == ""


def test_what_differs_is_marked_and_told_with_its_ranks() -> None:
    other = on_two_ranks(b"b", mean=0.75)
    assert ranks_sign(other) == ranks_alarm(other) == " ≠" and ranks_alarm(other, "∇") == " ∇≠"
    assert ranks_text(other) == "different on 2 ranks: mean 0.5 (rank 0) to 0.75 (rank 1)"
