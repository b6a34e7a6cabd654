"""What the pills of a module say when the past is looked at: the mode of that moment, and whether it was frozen."""

from PySide6.QtGui import QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import LeafState, ModeState, Row
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord
from gradstudio.ui.canvas.paint.card.card_painter import mode_at, paint_card
from gradstudio.ui.canvas.paint.card.card_state import CardState
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.theme import Theme
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.test_painted_numbers import texts_of

WEIGHT = TensorRecord(
    device="cpu", summary=Summary(dtype="float32", shape=(2, 3)), stride=(3, 1), requires_grad=True, storage=7
)
FROZEN = TensorRecord(device="cpu", summary=WEIGHT.summary, stride=(3, 1), storage=7, version=1)


def words_on(hand: Hand, item: ItemId, style: CanvasStyle) -> tuple[set[str], bool]:
    """The modes that are painted on the card of an item now, and whether its head says that it is frozen."""
    scene = hand.canvas.scene
    card, well = scene.stack.cards[item], scene.updates.well(item)

    def paint(painter: QPainter) -> None:
        paint_card(painter, style, card.layout, well, CardState())

    return {text for text in texts_of(paint) if text in ("train", "eval")}, mode_at(card.layout, well)[1]


def module_on(hand: Hand, card: ItemId) -> ItemId:
    """The module that a card shows beside its call."""
    module = hand.canvas.scene.stack.cards[card].layout.module
    assert module is not None
    return module


def test_mode_and_frozen_are_those_of_the_moment(hand: Hand, dark: Theme) -> None:
    card, other = hand.add("torch.nn.BatchNorm1d", 100, 100), hand.add("torch.tensor", 500, 100)
    norm = module_on(hand, card)
    made = ModuleRecord(class_name="BatchNorm1d", parameters={"weight": WEIGHT})
    hand.session.results.tables.add_rows(
        [
            Row(step=1, node=norm, outputs=(made,)),
            Row(step=2, node=other, outputs=(), modes=(ModeState(norm, 0, training=False),)),
            Row(step=3, node=other, outputs=(), writes=(LeafState(7, FROZEN),)),
        ]
    )
    style, seen = CanvasStyle(dark), []
    for moment in (0, 1, 2, None):
        hand.session.attention.look_at(moment)
        seen.append(words_on(hand, card, style))
    assert seen == [({"train"}, False), ({"eval"}, False), ({"eval"}, True), ({"train"}, False)]


def test_before_it_is_made_the_text_says_it(hand: Hand) -> None:
    first, card = hand.add("torch.tensor", 100, 100), hand.add("torch.nn.Dropout", 500, 100)
    drop = module_on(hand, card)
    hand.session.results.tables.add_rows(
        [
            Row(step=1, node=first, outputs=(WEIGHT,)),
            Row(step=2, node=drop, outputs=(ModuleRecord(class_name="Dropout", training=False),)),
        ]
    )
    hand.session.attention.look_at(0)
    scene = hand.canvas.scene
    assert mode_at(scene.stack.cards[card].layout, scene.updates.well(card)) == ("train", False)
