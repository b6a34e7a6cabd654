"""A document that is written after every edit: lines whose records are the same are taken as they were."""

import contextlib

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from gradstudio.document.file import dumps, text_slices
from gradstudio.document.gsg.line_memo import LineMemo
from gradstudio.graph import edits as e
from gradstudio.graph import slices
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


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(any_edit, st.integers(0, 12)), max_size=40))
def test_a_text_that_was_given_up_half_way_leaves_no_trace(history: list[tuple[e.Edit, int]]) -> None:
    graph, memo = Graph(), LineMemo()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "AT_ONCE", 2)
        for edit, count in history:
            with contextlib.suppress(EditError):
                e.apply(graph, edit)
            text = text_slices(graph, None, memo)
            for _ in zip(range(count), text, strict=False):
                pass
            text.close()
        assert dumps(graph, None, memo) == dumps(graph)


def test_places_of_many_are_gathered_in_slices_as_well_as_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "AT_ONCE", 2)
    graph = Graph()
    for k in range(8):
        e.apply(graph, e.AddNode(node(k), ROOT, k))
    without = len(list(text_slices(graph, None, LineMemo())))
    e.apply(graph, e.SetPlaces({ItemId(f"n{k}"): Place(float(k), 0.0) for k in range(8)}))
    printed = len(range(2, 8, 2))
    assert len(list(text_slices(graph, None, LineMemo()))) >= without + printed
