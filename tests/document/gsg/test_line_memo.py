"""A document that is written after every edit: lines whose records are the same are taken as they were."""

import contextlib

import hypothesis.strategies as st
from hypothesis import given, settings

from gradstudio.document.file import dumps
from gradstudio.document.gsg.line_memo import LineMemo
from gradstudio.graph import edits as e
from gradstudio.graph.errors import EditError
from gradstudio.graph.model import ROOT, Definition, Graph, ItemId, Node, Place
from tests.graph.test_edits import any_edit, node


@settings(max_examples=200, deadline=None)
@given(st.lists(any_edit, max_size=40))
def test_a_document_that_is_written_again_and_again_has_the_text_of_one_written_once(history: list[e.Edit]) -> None:
    graph, memo = Graph(), LineMemo()
    for edit in history:
        with contextlib.suppress(EditError):
            e.apply(graph, edit)
        assert dumps(graph, None, memo) == dumps(graph)


def test_a_definition_and_the_program_share_no_lines_of_items_with_the_same_id() -> None:
    inner, memo = Graph(), LineMemo()
    e.apply(inner, e.AddNode(node(0), ROOT, 0))
    e.apply(inner, e.SetPlaces({ItemId("n0"): Place(1.0, 2.0)}))
    graph = Graph()
    e.apply(graph, e.AddNode(Node(id=ItemId("n0"), operator="torch.exp"), ROOT, 0))
    e.apply(graph, e.SetPlaces({ItemId("n0"): Place(3.0, 4.0)}))
    for definition in (Definition("part", (), (), inner), Definition("other", (), (), inner)):
        e.apply(graph, e.SetDefinition("part", definition.but(name="part")))
        assert dumps(graph, None, memo) == dumps(graph, None, memo) == dumps(graph)
