"""A layer's width changes with those of the layers that take its result: the program runs in torch as it did."""

import pytest

from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.following_sizes import set_literal_and_widths
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\nx = torch.randn(5, 4)\n"
PROGRAMS = {
    "calls": "fc = nn.Linear(4, W)\nbn = nn.BatchNorm1d(W)\nother = nn.Linear(4, 8)\nfc2 = nn.Linear(W, 8)\n"
    "fc3 = nn.Linear(8, 2)\nh = F.relu(bn(fc(x)))\nh = h.tanh()\ny = fc3(fc2(h))\nz = other(x)\n",
    "alone": "other = nn.Linear(4, W)\nfc = nn.Linear(4, 8)\ny = fc(x)\nz = other(x)\n",
    "list": "net = nn.Sequential(nn.Linear(4, W), nn.LayerNorm(W), nn.Dropout(0.1), nn.Linear(W, 8))\ny = net(x)\n",
    "behind a list": "net = nn.Sequential(nn.Linear(4, W), nn.ReLU())\n"
    "head = nn.Linear(W, 1)\ny = head(net(x).relu())\n",
    "into a list": "fc = nn.Linear(4, W)\n"
    "net = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Linear(W, 6), nn.ReLU(), nn.Linear(6, 2)))\ny = net(fc(x))\n",
    "pictures": "p = torch.randn(2, 3, 8, 8)\nconv = nn.Conv2d(3, W, 3)\nnorm = nn.BatchNorm2d(W)\n"
    "more = nn.Conv2d(W, 4, 3)\ny = more(F.max_pool2d(norm(conv(p)).relu(), 2))\n",
    "flat": "fc = nn.Linear(4, W)\nflat = nn.Flatten()\ny = flat(fc(x))\nfc2 = nn.Linear(8, 2)\n",
}
"""W: the width that is changed, first in the layer that has it, and all that follow."""


def first(graph: Graph) -> tuple[ItemId, str]:
    """The first layer of a width of 8, and the argument."""
    paths = ("out_features", "out_channels")
    found = [(node.id, path) for node in graph.nodes.values() for path in paths if node.literals.get(path) == "8"]
    return found[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_takes_it_follows(name: str) -> None:
    graph = read_script(HEAD + PROGRAMS[name].replace("W", "8")).graph
    item, path = first(graph)
    apply_all(graph, set_literal_and_widths(graph, item, path, "5"))
    expected = HEAD + PROGRAMS[name].replace("W", "5")
    assert write_script(graph) == write_script(read_script(expected).graph)
    exec(expected, {})


def test_behind_a_reshaping_layer_nobody_knows() -> None:
    graph = read_script(HEAD + PROGRAMS["flat"].replace("W", "8") + "z = fc2(y)\n").graph
    assert len(set_literal_and_widths(graph, *first(graph), "5")) == 1
