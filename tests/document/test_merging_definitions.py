"""An edited text of a program with groups: the groups follow, and what did not change stays as it was."""

from gradstudio.document.python.merge_edits import merge
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code
from tests.program.reading.definitions.test_definition_reader import NET, PAIR


def edited(graph: Graph, text: str) -> Graph:
    apply_all(graph, merge(graph, text))
    assert write_code(graph)[0] == text
    return graph


def names(graph: Graph) -> dict[tuple[str, ...], ItemId]:
    return {node.names: node.id for node in graph.nodes.values() if node.names}


def test_an_edit_outside_leaves_definitions_alone() -> None:
    graph = read_script(NET).graph
    before = graph.definitions["Net"]
    edited(graph, NET.replace("torch.ones(3, 2)", "torch.ones(4, 2)"))
    assert graph.definitions["Net"] is before


def test_an_edit_inside_keeps_the_items_that_stay() -> None:
    graph = read_script(NET).graph
    before, order = names(graph.definitions["Net"].graph), list(graph.order())
    text = NET.replace("x = self.dropout(self.first(x))", "h = self.first(x)\n        x = self.dropout(h)")
    after = names(edited(graph, text).definitions["Net"].graph)
    assert {key: after[key] for key in before} == before
    assert list(graph.order()) == order
    assert after["h",] not in {*before.values(), *order}


def test_a_new_argument_and_its_calls() -> None:
    text = PAIR.replace("def scale(a, k=2.0)", "def scale(a, k=2.0, j=1.0)").replace("scale(a)", "scale(a, j=3.0)")
    edited(read_script(PAIR).graph, text)


def test_definitions_come_and_go_with_their_text_and_undo_brings_them_back() -> None:
    graph = read_script(PAIR).graph
    inverse = apply_all(graph, merge(graph, "x = 1\n"))
    assert not graph.definitions
    apply_all(graph, inverse)
    assert write_code(graph)[0] == PAIR
