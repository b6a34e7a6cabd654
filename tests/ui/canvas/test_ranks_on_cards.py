"""What cards say over all ranks is read in full at every zoom."""

import math
from functools import reduce
from operator import or_

import msgspec
import pytest
from PySide6.QtGui import QPainter

from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.ranks import Range, Spread
from gradstudio.protocol.messages.records import Preview, Summary, TensorRecord
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.ui.canvas.paint.card.card_painter import fitting_hint
from gradstudio.ui.canvas.paint.card.debug_section_painter import paint_debug_sections
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.test_painted_numbers import painted, texts_of


def on_four_ranks(value: float, shape: tuple[int, ...] = (), differs: bool = False) -> Summary:
    """A value that four ranks hold."""

    def of(rank: int) -> Summary:
        if math.isnan(value):
            return Summary(dtype="float32", shape=shape, nan=1, value="nan" if shape == () else None)
        own = value + rank * 0.3324 * differs
        kept = own if shape == () else None
        return Summary(dtype="float32", shape=shape, minimum=own, maximum=own, mean=own, rms=own, value=kept)

    told = (Spread.of(rank, of(rank), str(of(rank)).encode()) for rank in range(4))
    preview = None if shape == () else Preview(8, 1, bytes(8 * 4))
    return msgspec.structs.replace(of(0), spread=reduce(or_, told), preview=preview)


@pytest.mark.parametrize("zoom", [1.0, 0.8, 0.6, 0.4])
@pytest.mark.parametrize(
    ("value", "gradient", "words"),
    [
        (on_four_ranks(math.nan), on_four_ranks(1.0), ("NaN", "equal")),
        (on_four_ranks(math.nan), on_four_ranks(math.nan), ("NaN", "NaN")),
        (on_four_ranks(0.5, (64, 4), differs=True), None, ("Δ", "")),
        (on_four_ranks(0.5, differs=True), on_four_ranks(0.5, differs=True), ("Δ", "")),
    ],
)
def test_words_about_all_ranks_are_cut_at_no_zoom(
    hand: Hand, zoom: float, value: Summary, gradient: Summary | None, words: tuple[str, str]
) -> None:
    item, tables = hand.add("torch.mean", 40, 200), hand.session.results.tables
    record = TensorRecord(device="cpu", summary=value, requires_grad=gradient is not None, grad_fn="MeanBackward0")
    tables.add_rows([Row(step=1, node=item, outputs=(record,))])
    if gradient is not None:
        tables.set_gradients([GradRow(node=item, state="value", grad=gradient)], whole=True)
    tables.pace.flush()
    hand.canvas.overlays.show_over_ranks(True)
    texts = painted(hand.canvas.scene, hand.canvas.canvas_style, item, zoom)
    first = next((text for text in texts if text.startswith(words[0])), None)
    assert first is not None, texts
    texts.remove(first)
    assert any(words[1] in text or text == "=" for text in texts) or not words[1], texts
    assert not [text for text in (first, *texts) if "…" in text.replace("NaN r0…", "")], texts


@pytest.mark.parametrize("words", ["rank 2: 0.28 s late", "r2: 0.28 s late", "r2 late"])
def test_who_came_late_is_named_in_the_room_there_is(hand: Hand, words: str) -> None:
    item, tables = hand.add("torch.distributed.barrier", 40, 200), hand.session.results.tables
    tables.add_rows([Row(step=1, node=item, outputs=(), came=Range(0.0, 0, 0.28, 2))])
    tables.pace.flush()
    scene, style = hand.canvas.scene, hand.canvas.canvas_style
    scene.updates.well(item)
    width = style.meter.width(words, "mono_small") + 2 * PADDING + 1.0

    def paint(painter: QPainter) -> None:
        paint_debug_sections(painter, style, scene.stack.cards[item].extras, 0.0, width)

    assert texts_of(paint) == [words]


@pytest.mark.parametrize(("room", "words"), [(200, "[64, 4] ≠"), (60, "[64,4] ≠"), (20, "≠")])
def test_a_shape_without_room_says_at_least_whether_ranks_hold_the_same(hand: Hand, room: int, words: str) -> None:
    style = hand.canvas.canvas_style
    unit = style.meter.width("[64,4] ≠", "mono") / 56
    assert fitting_hint(style, "[64, 4] ≠", "mono", room * unit) == words


@pytest.mark.parametrize(
    ("room", "words"), [("[16, 8, 32]", "[16, 8, 32]"), ("[16,8,32]", "[16,8,32]"), ("[16,8,…]", "[16,8,…]"),
                        ("[16,…]", "[16,…]"), ("[1…", "")],
)  # fmt: skip
def test_a_shape_without_room_is_cut_between_its_dimensions(hand: Hand, room: str, words: str) -> None:
    style = hand.canvas.canvas_style
    assert fitting_hint(style, "[16, 8, 32]", "mono", style.meter.width(room, "mono")) == words


@pytest.mark.parametrize(
    ("hint", "room", "words"),
    [
        ("[16, 8] v1→v2", "[16,8] v1→v2", "[16,8] v1→v2"),
        ("[16, 8] v1→v2", "[16,8] v1", "[16,8]"),
        ("[16, 8] strided", "[16, 8", "[16,8]"),
        ("[16, 8, 4] v1", "[16,…]", "[16,…]"),
        ("[16, 8] v1", "[1…", ""),
        ("[16, 8] of [64, 8]", "[16,8] of [64,8]", "[16,8] of [64,8]"),
        ("[16, 8] ≠", "", ""),
    ],
)
def test_so_is_one_with_words_behind_it(hand: Hand, hint: str, room: str, words: str) -> None:
    style = hand.canvas.canvas_style
    assert fitting_hint(style, hint, "mono", style.meter.width(room, "mono")) == words
