"""Slips in undrawn Python are looked for in every text that a document may hold, and in no other."""

from pathlib import Path

import msgspec
import pytest

from gradstudio.advice.check_summary import summary_json
from gradstudio.advice.diagnosis.slips import attribute_slips
from gradstudio.advice.diagnosis.slips.code_slips import of_code
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import code_of
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


NEVER_ZEROED = "def f(net):\n    while True:\n        net.loss().backward()\n        opt.step()\n"
IN_DICT = """\
class Net(nn.Module):
    def __init__(self):
        self.ä = {'ö': nn.ReLU(),
            'x': nn.ReLU()}  # two
"""
BY_NUMBER = "class Net(nn.Module):\n    def __init__(self):\n        self.b = {1: nn.ReLU()}\n"
FILLED = LISTED.replace("[]", "[nn.ReLU()]")


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
        (NEVER_ZEROED, "net.loss().backward()"),
        (BY_NUMBER, "self.b = {1: nn.ReLU()}"),
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


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        (LISTED, LISTED.replace("[]", "nn.ModuleList()")),
        (FILLED, FILLED.replace("[nn.ReLU()]", "nn.ModuleList([nn.ReLU()])")),
        (IN_DICT, IN_DICT.replace("{", "nn.ModuleDict({").replace("}", "})")),
        (NEVER_ZEROED, NEVER_ZEROED.replace("        net.loss", "        opt.zero_grad()\n        net.loss")),
    ],
    ids=["list", "filled list", "dict", "zero_grad"],
)
def test_one_line_of_the_code_is_mended_and_then_nothing_is_found(code: str, mended: str) -> None:
    graph = holding(code)
    (finding,) = of_code(graph)
    (fix,) = finding_fixes(finding, graph)
    apply_all(graph, fix.edits or ())
    (card,) = graph.nodes.values()
    assert code_of(card) == mended
    assert list(of_code(graph)) == []


@pytest.mark.parametrize(
    ("line", "right", "title"),
    [
        (
            "net.fc.weight.require_grad = False",
            "net.fc.weight.requires_grad = False",
            "Write net.fc.weight.requires_grad",
        ),
        ("net.requires_grad = False", "net.requires_grad_(False)", "Write net.requires_grad_(False)"),
    ],
)
def test_an_attribute_is_written_as_torch_knows_it(line: str, right: str, title: str) -> None:
    code = f"while open('a'):\n    {line}\n    net.parameters()\n"
    graph = holding(code)
    (finding,) = attribute_slips.of_code(graph)
    (fix,) = finding_fixes(finding, graph)
    assert fix.title == title
    apply_all(graph, fix.edits or ())
    (card,) = graph.nodes.values()
    assert code_of(card) == code.replace(line, right)
    assert list(attribute_slips.of_code(graph)) == []


def test_what_no_container_of_torch_can_hold_is_mended_by_hand() -> None:
    graph = holding(BY_NUMBER)
    assert [finding_fixes(finding, graph) for finding in of_code(graph)] == [()]


@pytest.mark.parametrize(
    "body", ["net.loss().backward(); opt.step()", "\n        x = 1; net.loss().backward()\n        opt.step()"]
)
def test_what_shares_its_line_is_mended_by_hand(body: str) -> None:
    graph = holding(f"def f(net):\n    while True: {body}\n")
    (finding,) = of_code(graph)
    assert (finding.kind, finding_fixes(finding, graph)) == ("no_zero_grad", ())
