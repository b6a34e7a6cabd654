"""Groups in the Library and the search: used again, published, brought into another document."""

from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen, QPixmap, QStandardItem, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem

from gradstudio.graph.recipes.grouping.definition_copies import are_equivalent
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.library.library_model import OPERATOR_ROLE, SPANS_ROLE
from gradstudio.ui.state.library.published_groups import PublishedGroups
from gradstudio.ui.state.library.user_groups import MINE, OF_DOCUMENT, document_rows, published_rows
from gradstudio.ui.widgets.operator_text import home_of
from tests.graph.groups.test_group_view import with_group


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
    window.canvas.selection.select(frozenset({call}))
    window.actions["group.publish"].trigger()
    assert rows_under(window, MINE) == ["published:add_up"]
    window.session.new()
    assert rows_under(window, OF_DOCUMENT) == []
    window.canvas.operator_commands.add_operator("published:add_up")
    window.canvas.operator_commands.add_operator("published:add_up")
    graph = window.session.graph_store.graph
    assert list(graph.definitions) == ["add_up"]
    assert [node.operator for node in graph.nodes.values()] == ["group:add_up"] * 2
    window.session.graph_store.undo_stack.undo()
    window.session.graph_store.undo_stack.undo()
    assert not graph.definitions and not graph.nodes


def test_published_groups_are_renamed_and_deleted(tmp_path: Path) -> None:
    published = PublishedGroups(tmp_path / "groups")
    published.publish(with_group(), "add_up")
    published.rename("add_up", "total")
    assert published.names() == ("total",)
    document = published.document("total")
    assert document is not None
    assert are_equivalent(document.definitions["total"], with_group().definitions["add_up"])
    published.delete("total")
    assert published.names() == ()


def test_a_group_cannot_be_put_into_itself(window: MainWindow) -> None:
    window.session.graph_store.load(with_group())
    call = next(one.id for one in window.session.graph_store.graph.nodes.values() if one.operator == "group:add_up")
    window.canvas.group_commands.step_in(call)
    count = len(window.canvas.scene.graph.nodes)
    assert window.canvas.operator_commands.add_operator("group:add_up") is None
    assert len(window.canvas.scene.graph.nodes) == count


def test_every_row_of_a_group_is_painted(window: MainWindow) -> None:
    """In the Library, in its search, and in the search of the canvas: what fails in a paint ends the program."""
    window.session.graph_store.load(with_group())
    call = next(one.id for one in window.session.graph_store.graph.nodes.values() if one.operator == "group:add_up")
    window.canvas.selection.select(frozenset({call}))
    window.actions["group.publish"].trigger()
    tree = window.library.tree
    window.library.show()
    for title in (OF_DOCUMENT, MINE):
        tree.expand(window.library.model.find((title,)))
    tree.grab()
    window.library.field.setFocus()
    QTest.keyClicks(window.library.field, "add_up")
    tree.expandAll()
    tree.grab()
    for row in (*document_rows(window.session.graph_store.graph), *published_rows(window.shelf.published)):
        assert home_of(row) in ("Group", "My groups")
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Qt.Key.Key_Tab)
    popup = window.canvas.searching.popup
    assert popup is not None
    popup.grab()
    QTest.keyClicks(popup.field, "add_up")
    popup.grab()


def test_a_paint_that_fails_gives_its_painter_back(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    delegate, tree = window.library.tree.itemDelegate(), window.library.tree
    model = window.library.model
    group = next(model.index(k, 0) for k in range(model.rowCount()) if model.rowCount(model.index(k, 0)))
    broken, item = QStandardItemModel(), QStandardItem("row")
    item.setData(model.operator(model.index(0, 0, group)), OPERATOR_ROLE)
    item.setData(5, SPANS_ROLE)  # no stretches of a title: painting it raises
    broken.appendRow(item)
    pixmap = QPixmap(300, 40)
    painter, option = QPainter(pixmap), QStyleOptionViewItem()
    option.widget, option.rect = tree, QRect(0, 0, 300, 24)  # type: ignore[attr-defined]
    pen = QPen(Qt.GlobalColor.red)
    painter.setPen(pen)
    raised: list[object] = []
    monkeypatch.setattr("sys.excepthook", lambda *what: raised.append(what[0]))
    window.library.hide()
    delegate.paint(painter, option, broken.index(0, 0))
    assert raised == [TypeError]
    assert painter.pen() == pen
    assert painter.end()
