"""What is said of the inputs of a pasted part."""

import pytest

from gradstudio.document.clipboard import Fragment
from gradstudio.graph.edits import AddNode, AddWire, Edits
from gradstudio.graph.external_inputs import ExternalInput
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Wire
from gradstudio.scene.words.paste_message import open_inputs_message

PORTS = ("input", "other", "out", "alpha")


def node(item: str) -> Node:
    return Node(id=ItemId(item), operator="torch.add")


def fragment(inputs: int) -> Fragment:
    """A part of one node, into which so many wires led where it was copied."""
    graph = Graph()
    graph.nodes[ItemId("copied")] = node("copied")
    ends = (ExternalInput(ItemId("x"), 0, "", "", ItemId("copied"), port) for port in PORTS[:inputs])
    return Fragment(graph, outside=tuple(ends))


def pasted(wired: int) -> Edits:
    """The node under a new id, so many of its inputs wired to what was there before."""
    wires = (AddWire(Wire(ItemId("there"), 0, ItemId("new"), port)) for port in PORTS[:wired])
    return (AddNode(node("new"), ROOT, 0), *wires)


@pytest.mark.parametrize(
    ("inputs", "wired", "here", "words"),
    [
        (1, 1, 0, "Pasted; 1 input is wired as before"),
        (2, 2, 2, "Pasted; 2 inputs are wired as before"),
        (1, 0, 0, "Pasted; 1 input is open: 'input' of add"),
        (3, 1, 2, "Pasted; 1 input is wired as before, 2 inputs are open"),
        (2, 0, 1, "Pasted; 2 inputs are open: 'input' of add, 'other' of add; Ctrl+Shift+V wires them as they were"),
        (4, 0, 0, "Pasted; 4 inputs are open: 'input' of add, 'other' of add, 'out' of add and more"),
    ],
)
def test_it_counts_what_is_wired_and_names_what_is_open(inputs: int, wired: int, here: int, words: str) -> None:
    assert open_inputs_message(fragment(inputs), pasted(wired), here) == words


def test_wires_within_the_part_are_not_counted() -> None:
    inner = AddWire(Wire(ItemId("new"), 0, ItemId("second"), "input"))
    edits = (*pasted(1), AddNode(node("second"), ROOT, 1), inner)
    assert open_inputs_message(fragment(1), edits, 0) == "Pasted; 1 input is wired as before"
