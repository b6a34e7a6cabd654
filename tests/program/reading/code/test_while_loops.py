"""`while` of a text: a loop that is drawn, with its condition as code ahead of its body and printed as its head."""

import pytest

from gradstudio.document.file import dumps, loads
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Block, Graph
from gradstudio.graph.recipes.nodes import set_literal
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NotReadable
from gradstudio.program.original.original_script import original_script
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code
from gradstudio.scene.card.frame_layout import block_code

HEAD = "import torch\n\nx = torch.ones(3)\nk = 0\n"
LONG = " and ".join(f"(x.sum() + {number}.0).item() < {number}_000_000.0" for number in range(1, 5))


def read(text: str) -> Graph:
    graph = read_script(text, keeps_code=True).graph
    graph.original = text
    assert incomplete(graph) == {}
    return graph


def loops(graph: Graph) -> list[Block]:
    return [block for block in graph.blocks.values() if block.endless]


def codes(graph: Graph) -> list[str]:
    return [code_of(node) for node in graph.nodes.values() if is_code(node)]


@pytest.mark.parametrize(
    "loop",
    [
        "while k < 3:\n    x = x * 2\n    k += 1",
        "while k < 3:  # a few times\n    # doubles\n    x = x * 2\n    k += 1",
        "while not (x > 9).all():\n    x = x * 2",
        "while (n := int(x.sum())) < 30:\n    x = x * 2",
        "while True:\n    x = x * 2\n    if x.sum() > 9:\n        break",
        "while k < 3:\n    k += 1\n    if k == 1:\n        continue\n    x = x * 2",
        "while k < 3:\n    k += 1\n    while x.sum() < k:\n        x = x * 2",
        "while x.sum() < 4 and '#' != ')':\n    x = x * 2",
    ],
)
def test_it_is_drawn_around_what_it_holds_and_printed_as_it_was(loop: str) -> None:
    text = f"{HEAD}{loop}\n"
    graph = read(text)
    assert len(loops(graph)) == loop.count("while")
    assert any(graph.loop_around(node.id) for node in graph.nodes.values() if node.operator == "operator.mul")
    written = write_code(graph)[0]
    if "'#'" not in loop:
        assert loop in written
    assert write_code(read(written))[0] == written
    assert original_script(graph, "t", report=False).text == text


def test_a_condition_of_several_lines_becomes_one_and_is_never_broken() -> None:
    graph = read(f"{HEAD}while (\n    k < 3  # far\n    and x.sum() < 9\n):\n    x = x * 2\n    k += 1\n")
    assert "# far\nwhile k < 3 and x.sum() < 9:\n" in write_code(graph)[0]
    written = write_code(read(f"{HEAD}while {LONG}:\n    x = x * 2\n"))[0]
    assert f"while {LONG}:\n" in written
    assert write_code(read(written))[0] == written


def test_the_head_says_the_condition_and_what_is_edited_in_it_stays_a_while() -> None:
    graph = read(f"{HEAD}while k < 3:\n    x = x * 2\n    k += 1\nwhile True:\n    x = x + 1\n    break\n")
    first, second = loops(graph)
    assert (title(graph, first.id), block_code(graph, first)) == ("while k < 3", "while k < 3:")
    assert block_code(graph, second) == "while True:"
    item = next(node.id for node in graph.nodes.values() if node.operator == "operator.mul")
    apply_all(graph, set_literal(graph, item, "b", "5"))
    assert "while k < 3:\n    x = x * 5\n    k += 1\n" in original_script(graph, "t", report=False).text


@pytest.mark.parametrize(
    "loop",
    [
        "while k < 3:\n    k += 1\nelse:\n    k = 0",
        "while True:\n    try:\n        k = int(input())\n    except ValueError:\n        pass\n    break",
    ],
    ids=["else", "nothing in it is drawn"],
)
def test_what_chooses_while_it_runs_and_what_holds_code_alone_is_code(loop: str) -> None:
    graph = read(f"{HEAD}{loop}\n")
    assert codes(graph) == [loop]
    assert not loops(graph)


def test_a_condition_that_reads_a_name_of_a_definition_is_renamed_with_it() -> None:
    text = "import torch\n\n\ndef f(x, device):\n    while device < 3:\n        x = x * 2\n        device += 1\n"
    text += "    return x\n\n\ny = f(torch.ones(2), 1)\n"
    assert "while device_ < 3:" in write_code(read(text))[0]


def test_a_document_keeps_it() -> None:
    graph = read(f"{HEAD}while k < 3:\n    x = x * 2\n    k += 1\n")
    assert write_code(loads(dumps(graph))) == write_code(graph)


def test_without_code_it_is_refused_with_what_to_write() -> None:
    with pytest.raises(NotReadable):
        read_script(f"{HEAD}while k < 3:\n    k += 1\n")


@pytest.mark.parametrize("turns", ["for i in range(2):", "while x.sum() < 20:"])
def test_what_is_written_into_behind_an_inner_loop_that_bound_it_is_what_that_bound(turns: str) -> None:
    text = "import torch\n\nx = torch.ones(3)\nfor k in range(2):\n    for j in range(2):\n"
    text += f"        {turns}\n            x = x * 2\n        x += 1\nfor m in range(2):\n    print(x.sum())\n"
    graph = read(text)
    assert text in write_code(graph)[0]
    (summed,) = (node.id for node in graph.nodes.values() if node.operator == "torch.Tensor.sum")
    (wire,) = graph.wires_to(summed)
    assert graph.nodes[wire.source].operator == "operator.mul"
