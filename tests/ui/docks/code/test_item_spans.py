"""Where items stand in the text."""

import random

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Span
from gradstudio.ui.docks.code.item_spans import MANY, ItemSpans


def test_chosen_items_come_in_the_order_of_their_lines_however_many_they_are() -> None:
    chance = random.Random(4)
    lines = chance.sample(range(1, 5000), 2 * MANY)
    spans = [Span(ItemId(f"n{line}"), line, 0, line, 9) for line in lines]
    places = ItemSpans(spans)
    for share in (0.02, 0.1, 0.4, 0.8, 1.0):
        items = frozenset(span.node for span in spans if chance.random() < share) | {ItemId("elsewhere")}
        in_order = sorted((span for span in spans if span.node in items), key=lambda span: span.line)
        assert list(places.in_order(items)) == in_order


def test_what_has_a_part_on_some_lines_is_found_also_where_it_begins_above_them() -> None:
    chance = random.Random(5)
    spans = [
        Span(ItemId(f"n{k}"), line, 0, line + (chance.randrange(9) if k % 5 == 0 else 0), 9)
        for k, line in enumerate(chance.sample(range(1, 400), 150))
    ]
    places = ItemSpans(spans)
    for first in range(1, 400, 13):
        items = frozenset(span.node for span in spans if chance.random() < 0.7)
        lines = range(first, first + 10)
        expected = [s for s in spans if s.node in items and not set(lines).isdisjoint(range(s.line, s.end_line + 1))]
        found = places.on_lines(items, lines)
        assert sorted(span.node for span in found) == sorted(span.node for span in expected)
