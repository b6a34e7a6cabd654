"""Cells of a confusion matrix say what they count, at the place where they are."""

from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.charts import Chart, ConfusionDrawn
from gradstudio.scene.card.confusion_cells import Cell, counts_text
from gradstudio.scene.hit_test import hit
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from gradstudio.scene.words.tooltips import tooltip
from tests.helpers.drawing import EvenMeasure

COUNTS = ((88, 1, 1), (0, 70, 12), (5, 0, 40))


class Learnt(NoResults):
    """Every card has the chart."""

    def chart(self, node: ItemId) -> Chart | None:
        return ConfusionDrawn(node=node, counts=COUNTS)


def test_every_cell_says_target_prediction_and_how_many_of_how_many() -> None:
    graph = read_script("import torch\nnet = torch.ones(3)\n").graph
    (item,) = graph.nodes
    scene = Scene(graph, Learnt(), Shown(), EvenMeasure())
    box = scene.placement.box(item)
    assert box is not None
    found: dict[Cell, str] = {}
    places: dict[Cell, tuple[int, int]] = {}
    for y in range(int(box.y), int(box.bottom)):
        for x in range(int(box.x), int(box.right)):
            under = hit(scene, x, y, 1.0)
            if under.cell is not None:
                found[under.cell], places[under.cell] = tooltip(scene, under), (x, y)
    assert set(found) == {(row, column) for row in range(3) for column in range(3)}
    assert found[1, 2] == "target 1, said 2: 12 of 82" and found[0, 0] == "target 0, said 0: 88 of 90"
    x, y = places[2, 2]
    assert hit(scene, x, y, 0.4).cell is None, "from afar it lies elsewhere"


def test_all_counts_are_a_table_of_tabs() -> None:
    text = counts_text(ConfusionDrawn(node=ItemId("net"), counts=COUNTS))
    assert text == "target \\ said\t0\t1\t2\n0\t88\t1\t1\n1\t0\t70\t12\n2\t5\t0\t40"
