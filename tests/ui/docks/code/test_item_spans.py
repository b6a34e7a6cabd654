"""Where items stand in the text."""

import random

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Span
from gradstudio.ui.docks.code.item_spans import ItemSpans


def test_the_first_of_many_chosen_items_are_those_that_sorting_all_gives() -> None:
    chance = random.Random(4)
    lines = chance.sample(range(1, 1000), 100)
    spans = [Span(ItemId(f"n{line}"), line, 0, line, 9) for line in lines]
    places = ItemSpans(spans)
    for share in (0.02, 0.1, 0.5, 1.0):
        items = frozenset(span.node for span in spans if chance.random() < share) | {ItemId("elsewhere")}
        in_order = sorted((span for span in spans if span.node in items), key=lambda span: span.line)
        for count in (1, 5, 40, 1000):
            assert places.first_of(items, count) == in_order[:count]
