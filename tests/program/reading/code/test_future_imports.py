"""What a text asks for in advance: it changes nothing that is drawn, and code beside that is read as the text says."""

import pytest

from gradstudio.document.file import dumps, loads
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.nodes import set_literal
from gradstudio.graph.text.code_records import is_code
from gradstudio.program.original.original_script import original_script
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

TYPED = """\
from __future__ import annotations

import time
import torch


class Meter:
    def add(self, value: Later) -> Meter:
        return self


x = torch.ones( 3 )
y = x * 2
meter = Meter()
"""
FUTURE = "from __future__ import annotations\n"


def read(text: str) -> Graph:
    graph = read_script(text, keeps_code=True).graph
    graph.original = text
    return graph


def codes(graph: Graph) -> int:
    return sum(map(is_code, graph.nodes.values()))


def test_statements_are_drawn_beside_code_whose_annotations_wait() -> None:
    graph = read(TYPED)
    assert {node.operator for node in graph.nodes.values()} > {"torch.ones", "operator.mul"}
    written = write_script(graph)
    assert written.startswith(FUTURE)
    assert write_script(read(written)) == written


def test_the_text_stays_as_it_was_typed_and_so_does_the_import_where_it_is_edited() -> None:
    graph = read(TYPED)
    assert original_script(graph, "t", report=False).text == TYPED
    item = next(node.id for node in graph.nodes.values() if node.operator == "operator.mul")
    apply_all(graph, set_literal(graph, item, "b", "3"))
    assert original_script(graph, "t", report=False).text == TYPED.replace("x * 2", "x * 3")


def test_a_document_keeps_it() -> None:
    graph = read(TYPED)
    again = loads(dumps(graph))
    assert again.header.deferred_annotations
    assert write_script(again) == write_script(graph)


def test_where_no_code_has_annotations_nothing_is_kept_of_it() -> None:
    graph = read(FUTURE + "import time\nimport torch\n\nx = torch.ones(3)\nt = time.time()\n")
    assert not graph.header.deferred_annotations
    assert FUTURE not in write_script(graph)


@pytest.mark.parametrize("word", ["division", "print_function", "annotations", "generator_stop"])
def test_what_asks_for_what_python_does_anyway_is_no_code(word: str) -> None:
    assert codes(read(f"from __future__ import {word}\nimport torch\nx = torch.ones(3)\n")) == 0


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import barry_as_FLUFL\nimport torch\nx = torch.ones(3)\n",
        "from __future__ import division\nimport time\nimport torch\nx = torch.ones(3)\ndivision = time.time()\n"
        "print(division)\n",
    ],
    ids=["another syntax", "its name is the code's"],
)
def test_an_import_that_has_to_stand_first_is_no_card_below_others(text: str) -> None:
    graph = read(text)
    lines = [line for line in write_script(graph).split("\n") if line]
    assert not any(line.startswith("from __future__") for line in lines[1:])
