"""Cards of code split and merged: the text stays, the wires are those that a reader of the text would draw."""

import ast
from pathlib import Path

import msgspec
import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import ReplaceNode, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.group_view import close_group, open_group
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.code_cards import can_split, merge_with_next, next_card, split, statement_texts
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from tests.helpers.program_runs import ProgramRuns

APART = """import torch

x = torch.ones(2)

import json

# read
d = dict((k, x) for k in "ab")   # odd

import time
def load( text ):
    return json.loads(text)
    # deep


s = load("[1]"); t = [*s]
print(d["a"].sum(), t)

y = x + 1
print(y)
"""
TOGETHER = """import torch

x = torch.ones(2)

import json
# read
d = dict((k, x) for k in "ab")   # odd
try:
    z = d["a"]
finally:
    n = json.dumps([1])
for k in range(2):
    # inside
    x = {k: x}[k]
del n
text = '''one

two'''; u = [*text]

y = x + 1
print(y, u)
"""
LOOP = """import torch

x = torch.ones(2)
for k in range(2):
    import json
    while x.sum() > 100:
        x = json.loads("1")
    w = {k: x}
    x = w[k] * 2
print(x)
"""
DEFINITION = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        import json
        h = dict((k, x) for k in "ab")["a"]
        return self.fc(h)


net = Net()
print(net(torch.ones(2)).shape)
"""
ALL = 'import os\nos.environ["K"] = "1"\nimport torch\nexec("n = 2")\nx = torch.ones(n)\nprint(x)\n'


def read(text: str) -> Graph:
    return read_script(text, keeps_code=True).graph


def cards(graph: Graph) -> list[ItemId]:
    return [item for item in graph.order() if item in graph.nodes and is_code(graph.nodes[item])]


def dense(text: str) -> list[str]:
    """The lines without the empty ones: an empty line parts cards of code."""
    return [line for line in text.split("\n") if line]


def by_name(graph: Graph) -> set[tuple[str, str, str]]:
    """Wires as (name, what reads it, port)."""
    names = graph.nodes
    return {
        (names[wire.source].names[wire.output], reader_name(graph, wire), wire.port)
        for wire in graph.wires.values()
        if wire.source in names and names[wire.source].names
    }


def reader_name(graph: Graph, wire: Wire) -> str:
    node = graph.nodes.get(wire.target)
    return "block" if node is None else " ".join((node.operator, *node.names))


def split_all(graph: Graph) -> None:
    for item in cards(graph):
        if can_split(graph, item):
            apply_all(graph, split(graph, item))


def merge_all(graph: Graph) -> None:
    item = next((one for one in cards(graph) if next_card(graph, one) is not None), None)
    while item is not None:
        apply_all(graph, merge_with_next(graph, item))
        item = next((one for one in cards(graph) if next_card(graph, one) is not None), None)


def snapshot(graph: Graph) -> tuple[object, ...]:
    return dict(graph.nodes), dict(graph.wires), dict(graph.bodies), dict(graph.places), dict(graph.parents)


def test_statements_take_the_comments_above_them_along_and_those_on_one_line_are_one() -> None:
    code = "# top\na = 1; b = 2\n# of c\nc = {\n}  # end\n\n\ndef f():\n    pass\n    # deep\nd = '''\n\n'''\n# tail"
    texts = statement_texts(code)
    assert texts == [
        "# top\na = 1; b = 2",
        "# of c\nc = {\n}  # end",
        "\ndef f():\n    pass\n    # deep",
        "d = '''\n\n'''\n# tail",
    ]


@pytest.mark.parametrize("text", [TOGETHER, LOOP, ALL])
def test_split_leaves_one_statement_on_each_card_and_every_line_as_it_was(text: str) -> None:
    graph = read(text)
    before, state = write_script(graph), snapshot(graph)
    back = [apply_all(graph, split(graph, item)) for item in cards(graph) if can_split(graph, item)]
    assert back
    assert all(len(statement_texts(code_of(graph.nodes[item]))) == 1 for item in cards(graph))
    assert dense(write_script(graph)) == dense(before)
    program = compile_graph(graph)
    assert not program.incomplete
    assert ast.dump(ast.parse(write_script(graph))) == ast.dump(ast.parse(before))
    for edits in reversed(back):
        apply_all(graph, edits)
    assert snapshot(graph) == state


def test_merge_leaves_the_text_as_it_was() -> None:
    graph = read(APART)
    before, state = write_script(graph), snapshot(graph)
    (first, second, *_) = cards(graph)
    back = apply_all(graph, merge_with_next(graph, first))
    assert second not in graph
    assert write_script(graph) == before
    apply_all(graph, back)
    assert snapshot(graph) == state
    merge_all(graph)
    assert write_script(graph) == before
    assert not compile_graph(graph).incomplete


@pytest.mark.parametrize("text", [APART, TOGETHER, LOOP, ALL])
def test_the_text_is_the_same_byte_for_byte_when_cards_are_split_and_merged_and_split_again(text: str) -> None:
    graph = read(text)
    merge_all(graph)
    merged = write_script(graph)
    split_all(graph)
    parted = write_script(graph)
    merge_all(graph)
    assert write_script(graph) == merged
    split_all(graph)
    assert write_script(graph) == parted


@pytest.mark.parametrize("text", [APART, TOGETHER, LOOP])
def test_cards_that_are_split_are_wired_as_the_reader_wires_them(text: str) -> None:
    graph = read(text)
    split_all(graph)
    again = read(write_script(graph))
    assert len(cards(again)) == len(cards(graph))
    assert by_name(graph) == by_name(again)


@pytest.mark.parametrize("text", [APART, TOGETHER, LOOP, ALL])
def test_split_and_merged_again_is_wired_as_it_was(text: str) -> None:
    graph = read(text)
    merge_all(graph)
    wires, count = by_name(graph), len(cards(graph))
    split_all(graph)
    assert len(cards(graph)) > count
    merge_all(graph)
    assert by_name(graph) == wires
    assert len(cards(graph)) == count


@pytest.mark.parametrize("text", [APART, TOGETHER, LOOP, ALL])
def test_the_program_prints_what_it_printed(text: str, tmp_path: Path, python: ProgramRuns) -> None:
    graph = read(text)
    expected = python.printed(write_script(graph), tmp_path)
    assert expected.startswith(python.printed(text, tmp_path))
    split_all(graph)
    assert python.printed(write_script(graph), tmp_path) == expected
    merge_all(graph)
    assert python.printed(write_script(graph), tmp_path) == expected


def test_cards_of_code_are_parted_by_an_empty_line_also_when_they_are_printed_a_second_time() -> None:
    graph = read("import torch\nimport time\n\nn = time.time()\nx = torch.ones(2)\n")
    (one, other) = cards(graph)
    apply_all(graph, (ReplaceNode(msgspec.structs.replace(graph.nodes[other], blank_before=False)),))
    before = write_script(graph)
    apply_all(graph, (ReplaceNode(msgspec.structs.replace(graph.nodes[one], blank_before=True)),))
    assert write_script(graph) == before
    assert "import time\n\nn =" in before


def test_another_name_of_a_card_goes_into_the_lines_of_both() -> None:
    graph = read('import torch\nx = torch.ones(2)\na = dict((k, x) for k in "ab")\nb = {**a}\n\nc = {**b, "k": x}\n')
    one, other = cards(graph)
    x = next(item for item, node in graph.nodes.items() if "x" in node.names)
    apply_all(graph, recipes.rename(graph, x, ("ones",)))
    apply_all(graph, (ReplaceNode(msgspec.structs.replace(graph.nodes[one], names=("a", "p"))),))
    before = write_script(graph)
    apply_all(graph, merge_with_next(graph, one))
    assert write_script(graph) == before
    assert code_of(graph.nodes[one]).endswith('\n\nc = {**p, "k": ones}')
    assert other not in graph
    apply_all(graph, split(graph, one))
    assert dense(write_script(graph)) == dense(before)


def test_a_card_in_a_definition_is_split_where_it_stands() -> None:
    graph = read(DEFINITION)
    before = write_script(graph)
    shown = open_group(graph, "Net")
    (card,) = cards(shown)
    apply_all(shown, split(shown, card))
    apply_all(graph, close_group(graph, "Net", shown))
    assert len(cards(graph.definitions["Net"].graph)) == 2
    assert dense(write_script(graph)) == dense(before)
    assert not compile_graph(graph).incomplete


def test_what_cannot_be_split_or_merged_is_refused_in_words() -> None:
    graph = read("import torch\nimport time\n\nx = torch.ones(2)\n")
    (card,) = cards(graph)
    with pytest.raises(Refused, match="more than one statement"):
        split(graph, card)
    with pytest.raises(Refused, match="another one right behind"):
        merge_with_next(graph, card)
