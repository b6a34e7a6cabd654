"""Which numbers of a program are figures of its run."""

from gradstudio.graph.model import Graph
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.records import PlainRecord
from gradstudio.protocol.result_numbers import ResultNumbers

CLASSIFIER = """import torch
import torch.nn as nn
import torch.nn.functional as F

x = torch.randn(40, 4)
y = torch.randint(0, 3, (40,))
net = nn.Linear(4, 3)
out = net(x)
loss = F.cross_entropy(out, y)
"""
SUM_ALONE = """import torch

total = torch.zeros(())
for step in range(3):
    total = total + 1.0
"""


def figures_of(graph: Graph) -> set[str]:
    """What there is where every result is one number."""
    numbers, found = ResultNumbers(graph), set[str]()
    for item, node in graph.nodes.items():
        found |= numbers.of(item, [PlainRecord(what="number", class_name="float", value=0.5)] * len(node.names)).keys()
    return found


def test_sums_and_batches_of_a_test_are_no_figures_of_a_training() -> None:
    text = with_training(read_script(CLASSIFIER).graph, lambda _: None).text
    assert "total = total + cost" in text and "correct = correct + right" in text
    found = figures_of(read_script(text).graph)
    assert {"loss", "loss_test", "accuracy"} <= found
    assert not {"total", "cost", "correct", "right"} & found


def test_where_nothing_learns_what_a_loop_came_to_is_a_figure() -> None:
    assert figures_of(read_script(SUM_ALONE).graph) == {"total"}
