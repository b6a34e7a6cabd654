"""Layers that methods of a class build, and classes that are handed on, are drawn where that does the same."""

from pathlib import Path

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.graph_index import graphs_of
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import code_of, is_code, is_members
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write

TEXT = (Path(__file__).parents[3] / "corpus" / "accepted" / "residual_stages.py").read_text(encoding="utf-8")


def code_in(graph: Graph) -> list[str]:
    return [
        code_of(node)
        for one in graphs_of(graph)
        for node in one.nodes.values()
        if is_code(node) and not is_members(node)
    ]


def drawn(text: str) -> Graph:
    graph = read_script(text, keeps_code=True).graph
    assert incomplete(graph) == {}
    return graph


def test_a_residual_network_is_definitions_and_calls() -> None:
    graph = drawn(TEXT)
    assert set(graph.definitions) == {"Residual", "Stages"}
    assert code_in(graph) == []
    printed = write(graph).code
    assert "parts.append(Residual(width2, 4, step))" in printed
    assert "self.early = nn.Sequential(*parts)" in printed
    assert "net = Stages([2, 1])" in printed
    assert write(drawn(printed)).code == printed


def test_beside_code_the_method_stays_in_the_class_and_its_calls_are_drawn() -> None:
    graph = drawn(TEXT + "has = {1: net._stage}\n")
    assert code_in(graph) == ["has = {1: net._stage}"]
    printed = write(graph).code
    assert "def _stage(self, kind, width, depth, step=1, squeeze=False):" in printed
    assert "parts.append(Residual(width2, 4, step))" in printed


@pytest.mark.parametrize(
    "more",
    [
        "class Wide(Residual):\n    widening = 1\n\nother = Stages(Wide, [1, 1])\n",  # another class in another call
        "again = dict((k, type(net)(Residual, [k, 1])) for k in (1, 2))\n",
        "again = dict((k, net.__class__(Residual, [k, 1])) for k in (1, 2))\n",
        "again = dict((k, Stages(Residual, [k, 1])) for k in (1, 2))\n",
        "Kept = Stages\n",
        "Residual = None\n",
    ],
)
def test_a_class_that_may_be_another_one_stays_an_argument(more: str) -> None:
    found = read_script(TEXT + more, keeps_code=True).graph
    assert any("kind" in code or "Stages(Residual" in code for code in code_in(found))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        parts = []\n", "        parts = []\n        parts.append(self._first())\n"),  # another method of it
        ("        return nn.Sequential(*parts)\n", "        if parts:\n            return nn.Sequential(*parts)\n"),
        ("    def _stage(", "    @torch.no_grad()\n    @property\n    def _stage("),
        ("self.late = self._stage(kind, 8, depths[1], step=2)", "self.late = self._stage(*(kind, 8, 1, 2))"),
    ],
)
def test_a_method_that_would_do_something_else_there_is_called(old: str, new: str) -> None:
    graph = read_script(TEXT.replace(old, new), keeps_code=True).graph
    assert any("self._stage(" in code for code in code_in(graph))


def test_names_of_the_method_do_not_meet_those_of_the_constructor() -> None:
    text = TEXT.replace("self.width = 4\n", "self.width = 4\n        parts = 5\n        steps = parts\n")
    text = text.replace(
        "nn.Linear(8 * kind.widening, classes)", "nn.Linear(8 * kind.widening, classes + steps - parts)"
    )
    printed = write(drawn(text)).code
    assert "parts2.append(" in printed
    assert "classes + steps - parts" in printed


def test_a_sequential_of_nothing_holds_nothing() -> None:
    graph = drawn("from torch import nn\n\nnet = nn.Sequential()\nn = len(net)\n")
    assert "net = nn.Sequential(*[])" in write(graph).code
