"""Functions and classes of a text become groups, and go back into the same text."""

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import apply_all
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code

NET = """import torch
from torch import nn


# What it is.
class Net(nn.Module):
    def __init__(self, hidden=16, dropout=0.1):
        super().__init__()
        self.hidden = hidden
        self.first = nn.Linear(2, hidden)  # wide
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        # narrow
        x = self.dropout(self.first(x))
        return x / self.hidden


net = Net(hidden=8)
y = net(torch.ones(3, 2))
"""
PAIR = """import torch


def scale(a, k=2.0):
    b = a * k
    return b, a


def twice(a):
    b, c = scale(a)
    with torch.no_grad():
        d = b + c
    return d


x = torch.ones(3)
y = twice(x)
"""


@pytest.mark.parametrize("text", [NET, PAIR])
def test_the_text_is_the_text_again(text: str) -> None:
    graph = read_script(text).graph
    assert not incomplete(graph)
    assert write_code(graph)[0] == text


def test_a_class_is_constructed_and_called_and_shares_its_weights() -> None:
    graph = read_script(NET + "z = net(y)\n").graph
    operators = [graph.nodes[item].operator for item in graph.order()]
    assert operators == ["group:Net", "torch.ones", "python.call", "python.call"]
    definition = graph.definitions["Net"]
    assert (definition.settings, definition.taken) == (("hidden", "dropout"), ("x",))
    assert dict(definition.defaults) == {"hidden": "16", "dropout": "0.1"}
    assert definition.note == "What it is."


def test_ids_are_unique_over_the_document() -> None:
    graph = read_script(PAIR).graph
    inner = [item for one in graph.definitions.values() for item in one.graph.nodes]
    assert len({*inner, *graph.nodes}) == len(inner) + len(graph.nodes)


def test_a_group_that_was_made_on_the_canvas_is_read_back_as_it_was() -> None:
    text = "import torch\nfrom torch import nn\n\nx = torch.ones(2, 2)\nn = 3\nfc = nn.Linear(2, n)\ny = fc(x) + n\n"
    graph = read_script(text).graph
    chosen = [node.id for node in graph.nodes.values() if node.names in (("fc",), ("y",))]
    apply_all(graph, make_group(graph, chosen, "head"))
    code = write_code(graph)[0]
    assert (
        "class Head(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n" in code
    )
    assert write_code(read_script(code).graph)[0] == code


def test_a_setting_read_by_forward_under_a_name_that_is_bound_again_stays_the_setting() -> None:
    text = NET.replace("return x / self.hidden", "hidden = x / self.hidden\n        return hidden")
    graph = read_script(text).graph
    assert not incomplete(graph)
    assert write_code(graph)[0] == text


def test_outputs_that_were_renamed_keep_their_names_through_the_text() -> None:
    graph = read_script(PAIR).graph
    scale = graph.definitions["scale"]
    graph.definitions = {**graph.definitions, "scale": scale.but(outputs=("larger", "given"))}
    text = write_code(graph)[0]
    assert "    return b, a  # outputs: larger, given\n" in text and text.count("# outputs") == 1
    again = read_script(text).graph
    assert again.definitions["scale"].outputs == ("larger", "given")
    assert again.definitions["twice"].outputs == ("d",)
    assert write_code(again)[0] == text


def test_a_comment_that_does_not_name_the_outputs_is_a_comment() -> None:
    for words in ("outputs: one", "outputs: b, b", "outputs: 1, 2", "outputs: if, b", "the outputs"):
        text = PAIR.replace("return b, a\n", f"return b, a  # {words}\n")
        graph = read_script(text).graph
        assert graph.definitions["scale"].outputs == ("b", "a")
        assert words in write_code(graph)[0]
