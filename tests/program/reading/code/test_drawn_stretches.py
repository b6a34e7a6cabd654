"""Stretches of a text that is one card of code, and its functions: drawn where they are printed as they were typed."""

import ast

import msgspec
import pytest

from gradstudio.document import file
from gradstudio.graph.edits import ReplaceNode, apply
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.late_names import late_name_edits
from gradstudio.program.merging.merge import merge_text
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script


def read(text: str) -> Graph:
    return read_script(text, keeps_code=True).graph


def codes(graph: Graph) -> str:
    return "\n".join(code_of(node) for node in graph.nodes.values() if is_code(node))


def operators(graph: Graph, name: str) -> list[str]:
    return [node.operator for node in graph.definitions[name].graph.nodes.values()]


SETTINGS = """\
import torch

rate = 0.1
exec("rate = 0.2")

x = torch.ones(2) * rate
# three turns
for k in range(3):
    x = torch.relu(x) - rate
    if x.sum() < 0:
        break
print(x)
"""
"""`exec` may bind anything, `torch` itself, and what stands behind it looks names up when it runs."""


def test_what_stands_behind_exec_is_drawn_in_its_place() -> None:
    graph = read(SETTINGS)
    inside = graph.definitions["loop()"]
    assert inside.inputs == inside.settings == ("rate",)
    assert {"torch.ones", "torch.relu"} <= set(operators(graph, "loop()"))
    assert 'exec("rate = 0.2")\n\nx = k = ...  # drawn: loop()' in codes(graph)
    assert [node.names for node in graph.nodes.values()] == [("torch", "rate", "x", "k")]


def test_a_stretch_is_printed_as_it_was_typed() -> None:
    graph = read(SETTINGS)
    assert write_script(graph) == SETTINGS
    again = file.loads(file.dumps(graph))
    assert write_script(again) == SETTINGS


@pytest.mark.parametrize(
    ("typed", "is_drawn"),
    [
        ("y = torch.ones(2)", True),
        ("y = torch.nn.functional.relu(rate)", False),  # printed F.relu
        ("del rate; y = torch.ones(2)", False),
        ("from torch import ones; y = torch.ones(2)", False),
        ("device = torch.ones(2)", False),  # a word of the writer
        ("y = [torch.ones(k) for k in range(2)]", False),  # a loop, in other words
        ("try:\n    y = torch.ones(2)\nfinally:\n    z = 1", True),
        (
            "if rate:\n    y = 1\nelif torch:\n    y = torch.ones(2)\n    del rate\nelse:\n    y = torch.relu(rate)",
            True,
        ),
        ("if rate: y = torch.ones(2); del rate", False),
        ("if __name__ == '__main__':\n    y = torch.ones(2)\n    exec('')\n    z = torch.relu(y)", True),
    ],
)
def test_a_stretch_is_drawn_as_far_as_it_would_be_printed_as_it_was_typed(typed: str, is_drawn: bool) -> None:
    text = f"import torch\n\nrate = 2\nexec('rate = 3')\n{typed}\n"
    graph = read(text)
    assert bool(graph.definitions) == is_drawn
    assert ast.dump(ast.parse(write_script(graph))) == ast.dump(ast.parse(text))
    assert write_script(read(write_script(graph))) == write_script(graph)


@pytest.mark.parametrize(
    ("typed", "is_drawn"),
    [
        ("y = torch.relu(x)", True),
        ("if x.sum() > 0:\n        y = torch.relu(x)\n    else:\n        y = x", False),  # printed with `bool`
        ("y = Variable(x)", False),  # printed torch.autograd.Variable
        ("y = torch.cat((x, x))", False),  # printed torch.cat([x, x])
    ],
)
def test_a_function_beside_exec_is_drawn_as_far_as_it_would_be_printed_as_it_was_typed(
    typed: str, is_drawn: bool
) -> None:
    text = "import torch\nfrom torch.autograd import Variable\n\n\ndef f(x):\n"
    end = "exec('torch = bool = Variable = None')\n"
    text += f"    z = torch.ones(1)\n    {typed}\n    return torch.add(y, z)\n\n\n{end}"
    graph = read(text)
    assert (codes(graph.definitions["f()"].graph) == "") == is_drawn
    assert write_script(graph) == text


def test_what_a_file_says_of_its_encoding_stays_its_first_line() -> None:
    text = "# -*- coding: utf-8 -*-\nimport torch\n\nexec('n = 2')\nx = torch.ones(n)\n"
    assert write_script(read(text)) == text


def test_an_edited_stretch_is_part_of_the_text() -> None:
    graph = read(SETTINGS)
    target = merge_text(graph, write_script(graph).replace("torch.relu(x)", "torch.abs(x)"))
    assert "torch.abs" in operators(target, "loop()")
    assert "torch.abs(x) - rate" in write_script(target)


def test_what_a_stretch_binds_keeps_its_name() -> None:
    before, after = read(SETTINGS), read(SETTINGS)
    (node,) = after.nodes.values()
    apply(after, ReplaceNode(msgspec.structs.replace(node, names=("rate", "z", "k"))))
    with pytest.raises(Refused, match="'x'"):
        late_name_edits(before, after)
