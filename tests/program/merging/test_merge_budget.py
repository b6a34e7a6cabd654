"""What a typed line that adds a node asks of our own functions: hardly more in a program of more modules."""

from gradstudio.document.python.merge_edits import merge
from gradstudio.document.python.python_document import read_python
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from tests.helpers.call_count import calls_of

CALLS_A_LAYER = 240
"""Lowering it is welcome."""


def network(layers: int) -> Graph:
    """So many layers that are made, called and followed by a function, each under a name of its own."""
    lines = ["import torch", "from torch import nn", "", "h0 = torch.randn(4, 8)"]
    for k in range(layers):
        lines += [f"layer{k} = nn.Linear(8, 8)", f"y{k} = layer{k}(h{k})", f"h{k + 1} = torch.relu(y{k})"]
    return read_python("\n".join(lines) + "\n").graph


def type_a_line(graph: Graph, number: int) -> None:
    """A new line behind a call in the middle, on the canvas and compiled."""
    lines = compile_graph(graph).code.split("\n")
    middle = next(k for k, line in enumerate(lines) if line.startswith("y5 = "))
    lines.insert(middle + 1, f"fresh{number} = torch.tanh(y5)")
    apply_all(graph, merge(graph, "\n".join(lines)))
    compile_graph(graph)


def calls_of_a_line(layers: int) -> int:
    """Calls of functions in gradstudio, once such a line was typed before."""
    graph = network(layers)
    type_a_line(graph, 0)
    count = calls_of(lambda: type_a_line(graph, 1))
    assert {"fresh0", "fresh1"} <= {name for node in graph.nodes.values() for name in node.names}
    return count


def test_a_line_that_adds_a_node_asks_little_of_the_others() -> None:
    short, long = 40, 80
    a_layer = (calls_of_a_line(long) - calls_of_a_line(short)) / (long - short)
    assert a_layer <= CALLS_A_LAYER, f"{a_layer} calls a layer of three nodes"
