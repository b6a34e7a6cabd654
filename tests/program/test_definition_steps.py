"""Definitions as a traced run executes what is in them."""

from gradstudio.graph.edits import RemoveWire, apply_all
from gradstudio.graph.model import DEFINITION_OUTPUTS, Definition
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import BlockStatement, Inside, Program, Statement
from gradstudio.program.reading.reader import read_script

TEXT = """import torch
from torch import nn


def scale(a, k=2.0):
    b = a * k
    for t in range(3):
        b = b + a
    return b, a


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, 3)

    def forward(self, x):
        y = self.first(x)
        return torch.relu(y)


w = torch.ones(2, 4)
p, q = scale(w)
net = Net(4)
z = net(p)
"""


def compiled() -> tuple[Program, dict[str, Inside]]:
    program = compile_graph(read_script(TEXT).graph)
    return program, {one.name: one for one in program.insides}


def test_the_inside_of_a_function() -> None:
    _, insides = compiled()
    scale = insides["scale"]
    assert (scale.inputs, scale.taken, scale.is_module) == (("a", "k"), ("a", "k"), False)
    assert scale.head == "a, k=2.0"
    assert scale.results == ("b", "a")
    assert (scale.setup, scale.stores, scale.making) == ((), (), "")
    first, loop = scale.body
    assert isinstance(first, Statement)
    assert isinstance(loop, BlockStatement)
    assert first.repeated
    assert loop.repeated
    assert all(one.repeated for one in loop.body)


def test_the_inside_of_a_module() -> None:
    _, insides = compiled()
    net = insides["Net"]
    assert (net.inputs, net.taken, net.is_module) == (("width", "x"), ("x",), True)
    assert (net.head, net.making) == ("x", "width")
    (made,), (called, relu) = net.setup, net.body
    assert isinstance(made, Statement)
    assert isinstance(called, Statement)
    assert isinstance(relu, Statement)
    assert made.text == "self.first = nn.Linear(width, 3)"
    assert called.text == "y = self.first(x)"
    assert net.results == relu.names
    assert made.repeated
    assert called.repeated
    assert relu.repeated


def test_a_result_that_nothing_brings_is_none() -> None:
    graph = read_script(TEXT).graph
    inner = graph.definitions["scale"].graph.copy()
    apply_all(inner, (RemoveWire(inner.wires[DEFINITION_OUTPUTS, "1"]),))
    graph.definitions["scale"] = Definition("scale", ("a", "k"), ("b", "a"), inner, defaults={"k": "2.0"})
    (scale,) = (one for one in compile_graph(graph).insides if one.name == "scale")
    assert scale.results == ("b", "None")


def test_spans_lie_on_the_lines_of_the_definition() -> None:
    program, insides = compiled()
    lines = program.script.split("\n")
    texts = [lines[span.line - 1].strip() for span in insides["scale"].spans]
    assert "b = a * k" in texts
    assert not any("torch.ones" in text for text in texts)


def test_an_inside_is_kept_until_its_place_changes() -> None:
    graph = read_script(TEXT).graph
    once, again = compile_graph(graph), compile_graph(graph)
    assert all(one is other for one, other in zip(once.insides, again.insides, strict=True))
    moved = compile_graph(graph, stem="other")
    assert all(one is not other for one, other in zip(once.insides, moved.insides, strict=True))
