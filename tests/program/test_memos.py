"""What is known of a graph goes with it: a program that is closed leaves nothing behind."""

import gc
import weakref

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

TEXT = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


def twice(v):
    w = v * 2
    return w


block = Block()
x = torch.ones(1, 2)
y = twice(block(x)).sum()
y.backward()
"""


def alive(graph: Graph) -> list[weakref.ref[object]]:
    """Marks of a graph that was printed, compiled and drawn, and of its definitions."""
    write_script(graph)
    compile_graph(graph)
    card_groups(graph)
    return [weakref.ref(graph), *map(weakref.ref, graph.definitions.values())]


def test_nothing_holds_a_graph_that_nobody_has_any_more() -> None:
    marks = alive(read_script(TEXT).graph)
    assert len(marks) == 3
    gc.collect()
    assert [mark() for mark in marks if mark() is not None] == []
