"""An item has one name: what the head of its card shows is what every panel calls it."""

import pytest

from gradstudio import paths
from gradstudio.document import file
from gradstudio.graph.model import Graph
from gradstudio.graph.text.item_titles import title
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from tests.helpers.drawing import EvenMeasure

WRITES = """
import torch
from torch import nn

fc = nn.Linear(3, 2)
x = torch.randn(4, 3)
w = torch.ones(3, requires_grad=True)
t = torch.zeros(4)
with torch.no_grad():
    w -= 0.1
t[0] = 1.0
w.grad = None
w.data.mul_(2.0)
print(fc(x).sum())
x.add_(1)
"""


def check(graph: Graph) -> int:
    scene = Scene(graph, NoResults(), Shown(), EvenMeasure())
    cards = [card for item, card in scene.stack.cards.items() if item in graph.nodes and card.layout.module is None]
    for card in cards:
        layout = card.layout
        shown = layout.names or layout.title.partition(" ×")[0]
        assert title(graph, layout.item) == shown, (layout.item, shown)
    return len(cards)


def test_what_writes_or_calls_is_called_as_its_card_is() -> None:
    graph = read_script(WRITES).graph
    graph.places = layout_missing(graph)
    assert check(graph) > 8
    titles = {title(graph, item) for item in graph.nodes}
    assert {"w -=", "t[0] =", "w.grad =", "fc(…)"} <= titles, titles


@pytest.mark.parametrize("example", sorted(path.stem for path in paths.examples().glob("*.gsg")))
def test_cards_of_an_example_are_called_as_they_are_titled(example: str) -> None:
    assert check(file.load(paths.examples() / f"{example}.gsg")) > 0
