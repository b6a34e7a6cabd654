"""Slips in undrawn Python are looked for in every text that a document may hold, and in no other."""

from pathlib import Path

import msgspec
import pytest

from gradstudio.advice.check_summary import summary_json
from gradstudio.advice.diagnosis.slips.code_slips import of_code
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.file_lines import FileText
from gradstudio.program.reading.reader import read_script

LISTED = """\
class Net(nn.Module, Mixed):
    def __init__(self):
        super().__init__()
        self.layers = []
        self.layers.append(nn.Linear(2, 2))
"""
DEEP = "class Net(Module):\n    def __init__(self):\n        x" + ".a()" * 3000


def holding(code: str) -> Graph:
    """A program with a card of this code."""
    graph = read_script("while open('a').read():\n    pass\n", keeps_code=True).graph
    (card,) = graph.nodes.values()
    graph.nodes[card.id] = msgspec.structs.replace(card, literals={**card.literals, "code": repr(code)})
    graph.revision += 1
    return graph


def test_layers_in_a_plain_list_are_told_of() -> None:
    assert [one.kind for one in of_code(holding(LISTED))] == ["left_out"]


@pytest.mark.parametrize("code", ["class A:\n    x = '\0'", "class A((((", DEEP], ids=["null", "open", "deep"])
def test_of_a_text_that_is_no_python_nothing_is_said(code: str) -> None:
    graph = holding(code)
    assert list(of_code(graph)) == []
    assert summary_json(graph, compile_graph(graph), FileText(), Path())["missing"] == []


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (LISTED, "self.layers.append(nn.Linear(2, 2))"),
        ("def f(net):\n    while True:\n        net.loss().backward()\n        opt.step()\n", "net.loss().backward()"),
        (
            "class Net(nn.Module):\n    def __init__(self):\n        self.a = 1\n        self.b = {'x': nn.ReLU()}\n",
            "self.b = {'x': nn.ReLU()}",
        ),
        (
            "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
            "        return x\n    @staticmethod\n    def backward(ctx, g):\n        return ctx.a\n",
            "def backward(ctx, g):",
        ),
    ],
    ids=["list", "zero_grad", "dict", "backward"],
)
def test_what_is_found_in_a_text_is_told_with_its_line(code: str, line: str) -> None:
    told = list(of_code(holding(code)))
    assert [code.splitlines()[one.line - 1].strip() for one in told] == [line]
