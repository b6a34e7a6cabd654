"""What is called inside calls, and what a value is made by: through parameters, results, settings and second names."""

import pytest

from gradstudio.graph.analysis.call_addresses import locate_item
from gradstudio.graph.analysis.call_paths import CallPaths
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script

BEGIN = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        return self.fc(x)
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 3)
    def forward(self, x):
        return torch.tanh(self.out(x))
"""
WAYS = {
    "a parameter": "def run(net, x):\n    return net(x)\ny = run(Net(), torch.ones(2, 4))\n",
    "parameters of two calls": (
        "def inner(m, x):\n    return m(x)\ndef run(net, x):\n    return inner(net, x)\n"
        "y = run(Net(), torch.ones(2, 4))\n"
    ),
    "a result": "def build():\n    net = Net()\n    return net\nnet = build()\ny = net(torch.ones(2, 4))\n",
    "a method that gives it back": "net = Net().double()\ny = net(torch.ones(2, 4).double())\n",
    "a setting": (
        "class Keeper(nn.Module):\n    def __init__(self, kept):\n        super().__init__()\n"
        "        self.kept = kept\n    def forward(self, x):\n        return self.kept(x)\n"
        "keeper = Keeper(Net())\ny = keeper(torch.ones(2, 4))\n"
    ),
}


def calls_in(paths: CallPaths, graph: Graph, prefix: str = "") -> list[ItemId]:
    """Every call of a module, and those in functions and modules that are called."""
    found = []
    for item in graph.order():
        full = ItemId(prefix + item)
        if item in graph.nodes and graph.nodes[item].operator == CALL:
            found.append(full)
        inside = locate_item(paths.graph, ItemId(f"{full}/@inputs"))
        is_made = item in graph.nodes and graph.nodes[item].operator in ("group:Net", "group:Other", "group:Keeper")
        if inside is not None and not is_made:
            found += calls_in(paths, inside.graph, f"{full}/")
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_module_is_found_by_whatever_way_it_comes(way: str) -> None:
    paths = CallPaths(read_script(BEGIN + WAYS[way]).graph)
    called = {call: paths.group(call) for call in calls_in(paths, paths.graph)}
    (call,) = [call for call, group in called.items() if group == "Net"]
    maker = paths.maker(call)
    assert maker is not None
    assert list(paths.calls(maker)) == [call]
    assert [word for word in called.values() if word not in ("Net", "Keeper")] == [""]  # the Linear in it


def test_two_calls_of_one_function_call_what_each_was_given() -> None:
    text = "def run(net, x):\n    return net(x)\nx = torch.ones(2, 4)\na = run(Net(), x)\nb = run(Other(), x)\n"
    paths = CallPaths(read_script(BEGIN + text).graph)
    groups = [paths.group(call) for call in calls_in(paths, paths.graph)]
    assert [group for group in groups if group] == ["Net", "Other"]


def test_of_what_is_made_in_one_way_or_another_nothing_is_said() -> None:
    text = "def run(net, x):\n    return net(x)\nnet = Net()\nif torch.rand(()) > 0.5:\n    net = Other()\n"
    text += "y = run(net, torch.ones(2, 4))\n"
    paths = CallPaths(read_script(BEGIN + text).graph)
    assert {paths.group(call) for call in calls_in(paths, paths.graph)} == {""}


def test_nor_of_a_list_of_what_is_made_in_one_way_or_another() -> None:
    text = "def run(nets, x):\n    for net in nets:\n        x = net(x)\n    return x\nnet = Net()\n"
    rebound = "if torch.rand(()) > 0.5:\n    net = Other()\n"
    for between, groups in ((rebound, {""}), ("", {"Net", ""})):
        paths = CallPaths(read_script(BEGIN + text + between + "y = run([net], torch.ones(2, 4))\n").graph)
        assert {paths.group(call) for call in calls_in(paths, paths.graph)} == groups


def test_a_value_that_goes_round_is_followed_once() -> None:
    text = "def same(h):\n    return h\nh = torch.ones(3)\nfor k in range(4):\n    h = same(h)\ny = h.sum()\n"
    graph = read_script(BEGIN + text).graph
    paths = CallPaths(graph)
    first = next(node.id for node in graph.nodes.values() if node.operator == "torch.ones")
    assert {graph.nodes[wire.target].operator for wire, _ in paths.uses(first)} == {"torch.Tensor.sum"}


def test_what_is_taken_of_a_parameter_is_what_takes_that_one() -> None:
    text = "def run(net, x):\n    z = x.exp()\n    return net(z)\nnet = Net()\nx = torch.ones(2, 4)\ny = run(net, x)\n"
    graph = read_script(BEGIN + text).graph
    paths = CallPaths(graph)
    net, x = (next(node.id for node in graph.nodes.values() if name in node.names) for name in ("net", "x"))
    inside = graph.definitions["run"].graph
    taken = {item: [inside.nodes[wire.target].operator for wire, _ in paths.uses(item)] for item in (net, x)}
    assert taken == {net: [CALL], x: ["torch.Tensor.exp"]}
