"""A block around lines of code means what it means when a hand types it."""

import pytest

from gradstudio.document.python.wrap_edits import TypedBlock, wrap_lines
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

TEXT = """import torch

x = torch.ones(3)
total = 0.0
try:
    total += x.sum().item()
    words = '''one
  two'''
except RuntimeError:
    words = ""
z = x.sum()
"""


def read() -> tuple[Graph, ItemId]:
    graph = read_script(TEXT, keeps_code=True).graph
    (code,) = (item for item in graph.order() if is_code_at(graph, item))
    return graph, code


@pytest.mark.parametrize(
    ("kind", "head", "below"),
    [
        ("for", "for i in range(3):", ""),
        ("while", "while True:", "    break\n"),
        ("if", "if True:", ""),
        ("try", "try:", "except RuntimeError as error:\n    print(error)\n"),
    ],
)
def test_lines_of_code_stand_in_the_block_and_the_program_runs(kind: TypedBlock, head: str, below: str) -> None:
    graph, code = read()
    before = write_script(graph)
    back = apply_all(graph, wrap_lines(graph, [code], kind))
    text = write_script(graph)
    assert f"\n{head}\n    try:\n        total += x.sum().item()\n        words = '''one\n  two'''\n" in text
    assert f'        words = ""\n{below}' in text
    assert not compile_graph(graph).incomplete
    apply_all(graph, back)
    assert write_script(graph) == before


def test_a_loop_around_code_carries_what_the_code_counts_on() -> None:
    graph, code = read()
    apply_all(graph, wrap_lines(graph, [code], "for"))
    (loop,) = graph.blocks.values()
    assert loop.carried == ("total",)
    assert graph.parents[code] == loop.id


def test_a_loop_within_a_loop_has_a_variable_of_its_own() -> None:
    text = (
        "import torch\n\nn = 0\nfor i in range(2):\n    try:\n        n += i\n    except ValueError:\n        n = 0\n"
    )
    graph = read_script(text, keeps_code=True).graph
    (code,) = (item for item in graph.order() if is_code_at(graph, item))
    apply_all(graph, wrap_lines(graph, [code], "for"))
    assert "\nfor i in range(2):\n    for i2 in range(3):\n        try:\n            n += i\n" in write_script(graph)


def test_an_error_that_is_caught_takes_no_name_of_the_program() -> None:
    graph = read_script(TEXT.replace("total", "error"), keeps_code=True).graph
    (code,) = (item for item in graph.order() if is_code_at(graph, item))
    apply_all(graph, wrap_lines(graph, [code], "try"))
    assert "\nexcept RuntimeError as error2:\n    print(error2)\n" in write_script(graph)


def test_statements_with_others_between_are_refused_in_words() -> None:
    graph, code = read()
    first = next(item for item in graph.order() if graph.nodes[item].names == ("x",))
    with pytest.raises(Refused, match="follow on one another"):
        wrap_lines(graph, [first, code], "while")
    with pytest.raises(Refused, match="Select"):
        wrap_lines(graph, [], "while")
