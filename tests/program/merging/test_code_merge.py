"""An edited text of a program that holds undrawn Python: what was not edited keeps its record, code its card."""

import pytest

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.errors import NotReadable
from gradstudio.program.merging.merge import merge_text
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code

TEXT = """
import time
import torch

x = torch.ones(3)
t = time.time()  # now
y = x * 2
"""


@pytest.fixture
def graph() -> Graph:
    return read_script(TEXT, keeps_code=True).graph


def edited(graph: Graph, old: str, new: str) -> Graph:
    code, _ = write_code(graph)
    assert old in code
    return merge_text(graph, code.replace(old, new))


def codes(graph: Graph) -> dict[ItemId, str]:
    return {node.id: code_of(node) for node in graph.nodes.values() if is_code(node)}


def test_an_edit_beside_it_leaves_code_as_it_was(graph: Graph) -> None:
    after = edited(graph, "x * 2", "x * 3")
    assert codes(after) == codes(graph)
    assert after.nodes.keys() == graph.nodes.keys()


def test_edited_code_stays_the_same_card(graph: Graph) -> None:
    after = edited(graph, "t = time.time()  # now", "t = time.time()\nwhile t > 3:\n    t -= t")
    assert codes(after).keys() == codes(graph).keys()
    assert "while t > 3:\n    t -= t" in "\n".join(codes(after).values())


def test_what_can_be_drawn_is_drawn_when_it_is_typed_beside_code(graph: Graph) -> None:
    after = edited(graph, "t = time.time()  # now", "t = 2.0")
    assert len(codes(after)) == 1
    assert {node.operator for node in after.nodes.values()} >= {"python.literal", "operator.mul"}


def test_a_slip_of_the_pen_is_still_told(graph: Graph) -> None:
    with pytest.raises(NotReadable, match="Did you mean"):
        edited(graph, "y = x * 2", "y = torch.reluu(x)")
