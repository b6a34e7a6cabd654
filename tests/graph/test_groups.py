"""Groups that are reused: made of a selection, taken apart again; the program computes the same."""

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.boundary_cards import INPUTS_CARD
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import definition_graph, group_of
from gradstudio.graph.groups.group_view import boundary_edits, close_group, open_group
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, ROOT, Graph, ItemId
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.graph.recipes.grouping.ungrouping import ungroup
from gradstudio.graph.recipes.nodes import add_operator
from gradstudio.graph.recipes.wiring.connection import connect
from gradstudio.graph.rules import why_not
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code
from tests.document.graphs import tables

ATTENTION = """
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 2
c = b + a
for t in range(3):
    c = c * b
    d = c + 1
e = c.sum() + d.sum()
e.backward()
"""
LAYERS = """
import torch
import torch.nn.functional as F
from torch import nn, optim

x = torch.randn(4, 2)
n = 8
fc1 = nn.Linear(2, n)
fc2 = nn.Linear(n, 1)
opt = optim.SGD([*fc1.parameters(), *fc2.parameters()], lr=0.1)
h = F.relu(fc1(x))
y = fc2(h)
loss = (y**2).mean()
loss.backward()
opt.step()
"""


def named(graph: Graph, *names: str) -> list[ItemId]:
    """The statements that bind these names, and all blocks whose variable is among them."""
    nodes = [node.id for node in graph.nodes.values() if set(node.names) & set(names)]
    return nodes + [block.id for block in graph.blocks.values() if block.variable in names]


def code(graph: Graph) -> str:
    """The text of a program, every statement of which can run."""
    assert not incomplete(graph)
    return write_code(graph)[0]


def the_call(graph: Graph) -> ItemId:
    return next(item for item in graph.order() if group_of(graph, item))


def test_a_selection_becomes_a_function_with_what_flows_in_and_out() -> None:
    graph = read_script(ATTENTION).graph
    edits = make_group(graph, named(graph, "b", "c", "t"), "grow")
    before = tables(graph)
    inverse = apply_all(graph, edits)
    assert code(graph) == (
        "import torch\n\n\ndef grow(a):\n    b = a * 2\n    c = b + a\n    for t in range(3):\n        c = c * b\n"
        "        d = c + 1\n    return c, d\n\n\na = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "c, d = grow(a)\ne = c.sum() + d.sum()\ne.backward()\n"
    )
    apply_all(graph, inverse)
    assert tables(graph) == before


def test_a_selection_with_layers_becomes_a_module_that_is_constructed_and_called() -> None:
    graph = read_script(LAYERS).graph
    apply_all(graph, make_group(graph, named(graph, "fc1", "fc2", "h", "y"), "two_layers"))
    text = code(graph)
    assert "class TwoLayers(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n" in text
    assert (
        "        self.fc1 = nn.Linear(2, n)\n        self.fc2 = nn.Linear(n, 1)\n\n    def forward(self, x):\n" in text
    )
    assert "        h = F.relu(self.fc1(x))\n        y = self.fc2(h)\n        return y\n" in text
    assert "two_layers = TwoLayers(n)\ny = two_layers(x)\n" in text
    assert "optim.SGD([*two_layers.fc1.parameters(), *two_layers.fc2.parameters()], lr=0.1)" in text


@pytest.mark.parametrize(("text", "names"), [(ATTENTION, ("b", "c", "t")), (LAYERS, ("fc1", "fc2", "h", "y"))])
def test_ungrouping_gives_the_statements_back(text: str, names: tuple[str, ...]) -> None:
    graph = read_script(text).graph
    before = sorted(code(graph).splitlines())
    apply_all(graph, make_group(graph, named(graph, *names), "group"))
    grouped = tables(graph)
    inverse = apply_all(graph, ungroup(graph, the_call(graph)))
    assert sorted(code(graph).splitlines()) == before
    assert not graph.definitions
    apply_all(graph, inverse)
    assert tables(graph) == grouped


def test_a_result_that_nobody_uses_is_given_back() -> None:
    graph = read_script("a = 1.0\nb = a + 1\nc = b + 2\n").graph
    apply_all(graph, make_group(graph, named(graph, "b", "c"), "f"))
    assert code(graph) == "def f(a):\n    b = a + 1\n    c = b + 2\n    return c\n\n\na = 1.0\nc = f(a)\n"


def test_a_part_in_the_middle_is_refused_with_its_name() -> None:
    graph = read_script("a = 1.0\nb = a + 1\nc = b + 2\nd = b + c\n").graph
    with pytest.raises(Refused, match="'c' would have to run in the middle"):
        make_group(graph, named(graph, "b", "d"), "f")


def test_a_block_is_not_cut_in_two() -> None:
    graph = read_script("a = 1.0\nfor t in range(3):\n    b = a + t\nc = a + 1\n").graph
    with pytest.raises(Refused, match="cuts 'for t' in two"):
        make_group(graph, named(graph, "b", "c"), "f")


def test_nothing_selected_and_no_name_are_refused() -> None:
    graph = read_script("a = 1.0\nb = a + 1\n").graph
    with pytest.raises(Refused, match="Select the statements"):
        make_group(graph, [], "f")
    with pytest.raises(Refused, match="not a Python name"):
        make_group(graph, named(graph, "b"), "two words")


def test_a_group_inside_a_loop_takes_what_the_loop_carries() -> None:
    graph = read_script("h = 1.0\nfor t in range(3):\n    k = h * 2\n    h = k + t\ny = h + 1\n").graph
    apply_all(graph, make_group(graph, [item for item in graph.nodes if graph.nodes[item].names in (("k",),)], "f"))
    assert code(graph) == (
        "def f(h):\n    k = h * 2\n    return k\n\n\n"
        "h = 1.0\nfor t in range(3):\n    k = f(h)\n    h = k + t\ny = h + 1\n"
    )


def test_the_inside_knows_its_edges() -> None:
    graph = read_script("a = 1.0\nb = a + 1\nc = b + 2\n").graph
    apply_all(graph, make_group(graph, named(graph, "b", "c"), "f"))
    inner = definition_graph(graph, "f")
    first, last = named(inner, "b")[0], named(inner, "c")[0]
    assert definition_graph(graph, "f") is inner
    assert why_not(inner, DEFINITION_INPUTS, 0, last, "b") == ""
    assert why_not(inner, first, 0, DEFINITION_OUTPUTS, "0") == ""
    assert why_not(inner, DEFINITION_INPUTS, 1, last, "b")
    assert why_not(graph, DEFINITION_INPUTS, 0, graph.bodies[inner.parents[first]][0], "b")


# -------------------------------------------------------------------- laws


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Statements over numbers, some of them in loops that carry."""
    names = ["a", "b"]
    lines = ["a = 2.0", "b = 3.0"]
    for k in range(draw(st.integers(1, 7))):
        left, right = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        sign = draw(st.sampled_from("+-*"))
        if draw(st.integers(0, 4)) == 0:
            lines += [f"for t{k} in range(2):", f"    {left} = {left} {sign} {right}", f"    v{k} = {left} + t{k}"]
            names.append(f"v{k}")
            continue
        target = draw(st.sampled_from([*names, f"v{k}"]))
        inner = f"({left} {sign} 1) * {right}" if draw(st.booleans()) else f"{left} {sign} {right}"
        lines.append(f"{target} = {inner}")
        names.append(target)
    lines.append(f"total = {' + '.join(dict.fromkeys(names))}")
    return "\n".join(lines) + "\n"


def values(text: str) -> dict[str, object]:
    space: dict[str, object] = {}
    exec(text, space)  # numbers only, made above
    return {name: value for name, value in space.items() if isinstance(value, float)}


@tried(max_examples=60, deadline=None)
@given(programs(), st.data())
def test_groups_of_any_selection_compute_the_same_and_come_apart_again(text: str, data: st.DataObject) -> None:
    graph = read_script(text).graph
    before, total = tables(graph), values(code(graph))["total"]
    last = graph.bodies[ROOT][-1]
    items = data.draw(st.sets(st.sampled_from([item for item in graph.order() if item != last]), min_size=1))
    try:
        edits = make_group(graph, items, "f")
    except Refused:
        return
    inverse = apply_all(graph, edits)
    assert values(code(graph))["total"] == total
    held = tables(graph)
    back = apply_all(graph, ungroup(graph, the_call(graph)))
    assert not graph.definitions
    assert values(code(graph))["total"] == total
    apply_all(graph, back)
    assert tables(graph) == held
    apply_all(graph, inverse)
    assert tables(graph) == before


def test_a_layer_that_is_put_into_a_function_makes_it_a_module_whose_calls_are_split() -> None:
    graph = read_script("import torch\nx = torch.ones(2, 2)\nfor t in range(2):\n    y = x * 2\n    z = y + 1\n").graph
    apply_all(graph, make_group(graph, named(graph, "y"), "head"))
    shown = open_group(graph, "head")
    edits, call = add_operator(shown, "torch.nn.Linear", 0.0, 0.0)
    apply_all(shown, (*edits, *boundary_edits(shown)))
    apply_all(shown, connect(shown, INPUTS_CARD, 0, call, "inputs.0"))
    before = tables(graph)
    inverse = apply_all(graph, close_group(graph, "head", shown))
    assert graph.definitions["head"].is_module
    text = code(graph)
    assert "class head(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self." in text
    assert "head_1 = head()\nfor t in range(2):\n    y = head_1(x)\n    z = y + 1\n" in text
    apply_all(graph, inverse)
    assert tables(graph) == before
