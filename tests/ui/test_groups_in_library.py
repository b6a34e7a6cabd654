"""Groups in the Library and the search: used again, published, brought into another document."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstudio.graph.recipes.copying import alike
from gradstudio.ui.main_window import MainWindow
from gradstudio.ui.state.own_groups import MINE, OF_DOCUMENT
from gradstudio.ui.state.published import Published
from tests.graph.test_scope import with_group


def rows_under(window: MainWindow, title: str) -> list[str]:
    """The keys in a category of the Library."""
    model = window.library.model
    group = model.find((title,))
    found = (model.operator(model.index(k, 0, group)) for k in range(model.rowCount(group))) if group.isValid() else ()
    return [row.key for row in found if row is not None]


@pytest.mark.feature(40)
def test_groups_of_the_document_are_added_from_the_library(window: MainWindow) -> None:
    window.session.graph_store.load(with_group())
    assert rows_under(window, OF_DOCUMENT) == ["group:add_up"]
    tree, model = window.library.tree, window.library.model
    tree.setCurrentIndex(model.find((OF_DOCUMENT, "group:add_up")))
    QTest.keyClick(tree, Qt.Key.Key_Return)
    calls = [node for node in window.session.graph_store.graph.nodes.values() if node.operator == "group:add_up"]
    assert len(calls) == 2


@pytest.mark.feature(40)
def test_a_published_group_is_there_for_every_document(window: MainWindow) -> None:
    window.session.graph_store.load(with_group())
    call = next(one.id for one in window.session.graph_store.graph.nodes.values() if one.operator == "group:add_up")
    window.canvas.select(frozenset({call}))
    window.actions["group.publish"].trigger()
    assert rows_under(window, MINE) == ["published:add_up"]
    window.session.new()
    assert rows_under(window, OF_DOCUMENT) == []
    window.canvas.add_operator("published:add_up")
    window.canvas.add_operator("published:add_up")
    graph = window.session.graph_store.graph
    assert list(graph.definitions) == ["add_up"]
    assert [node.operator for node in graph.nodes.values()] == ["group:add_up"] * 2
    window.session.graph_store.undo_stack.undo()
    window.session.graph_store.undo_stack.undo()
    assert not graph.definitions and not graph.nodes


def test_published_groups_are_renamed_and_deleted(tmp_path: Path) -> None:
    published = Published(tmp_path / "groups")
    published.publish(with_group(), "add_up")
    published.rename("add_up", "total")
    assert published.names() == ("total",)
    document = published.document("total")
    assert document is not None
    assert alike(document.definitions["total"], with_group().definitions["add_up"])
    published.delete("total")
    assert published.names() == ()


def test_a_group_cannot_be_put_into_itself(window: MainWindow) -> None:
    window.session.graph_store.load(with_group())
    call = next(one.id for one in window.session.graph_store.graph.nodes.values() if one.operator == "group:add_up")
    window.canvas.step_in(call)
    count = len(window.canvas.board.graph.nodes)
    assert window.canvas.add_operator("group:add_up") is None
    assert len(window.canvas.board.graph.nodes) == count
