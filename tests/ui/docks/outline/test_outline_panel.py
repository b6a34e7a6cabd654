"""The Outline dock, in the whole window: what it shows, and what can be done in it with mouse and keys."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QMimeData, QModelIndex, QPointF, Qt
from PySide6.QtGui import QDragMoveEvent, QDropEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed, Row
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.outline.outline_model import COLUMNS, NAME, OPERATOR, STATE, VALUE
from gradstudio.ui.docks.outline.panel import OutlinePanel
from gradstudio.ui.state.results.failure import Failure
from tests.ui.test_keys_of_panels import focus, press

Key, Keys = Qt.Key, Qt.KeyboardModifier
TEXT = """import torch
x = torch.tensor([1.0, 2.0])
w = torch.ones(2, requires_grad=True)
y = x * w
with torch.no_grad():
    a = y.sum()
    b = a.exp()
z = y.sum()
"""


class Outline:
    """A person before the outline of a program."""

    def __init__(self, window: MainWindow) -> None:
        self.window, self.session, self.panel = window, window.session, window.outline
        self.tester = QAbstractItemModelTester(self.panel.model, QAbstractItemModelTester.FailureReportingMode.Fatal)

    @property
    def graph(self) -> Graph:
        return self.session.shown_store.graph

    def node(self, name: str) -> ItemId:
        return next(item for item, node in self.graph.nodes.items() if name in node.names)

    @property
    def block(self) -> ItemId:
        return next(iter(self.graph.blocks))

    def tree(self, parent: QModelIndex = QModelIndex()) -> list[object]:
        """All rows as text; what stands under a row follows it as a list."""
        model, found = self.panel.model, list[object]()
        for place in range(model.rowCount(parent)):
            index = model.index(place, NAME, parent)
            found.append(index.data())
            if below := self.tree(index):
                found.append(below)
        return found

    def text(self, item: ItemId, column: int) -> str:
        return str(self.panel.model.index_of(item, column=column).data())

    def click(self, item: ItemId, keys: Keys = Keys.NoModifier) -> None:
        tree = self.panel.tree
        at = tree.visualRect(self.panel.model.index_of(item)).center()
        QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, keys, at)

    def drop(self, items: list[ItemId], row: int, parent: QModelIndex = QModelIndex()) -> None:
        """Let rows go above row number `row`."""
        model, tree = self.panel.model, self.panel.tree
        data: QMimeData = model.mimeData([model.index_of(item) for item in items])
        count = model.rowCount(parent)
        rect = tree.visualRect(model.index(min(row, count - 1), NAME, parent))
        y = rect.top() + 1 if row < count else rect.bottom() - 1
        at, button, move = QPointF(rect.x() + 20, y), Qt.MouseButton.LeftButton, Qt.DropAction.MoveAction
        tree.dragMoveEvent(QDragMoveEvent(at.toPoint(), move, data, button, Keys.NoModifier))
        tree.dropEvent(QDropEvent(at, move, data, button, Keys.NoModifier))


@pytest.fixture
def outline(window: MainWindow) -> Iterator[Outline]:
    graph = read_script(TEXT).graph
    graph.places = layout_missing(graph)
    window.session.restore(graph, None)
    window.frame.docks.bring_forward("outline")
    made = Outline(window)
    focus(window, made.panel.tree)
    yield made
    window.canvas.close_editor()


@pytest.mark.feature(46)
def test_behind_another_tab_it_does_nothing_and_catches_up_when_it_comes_to_the_front(
    qtbot: QtBot, window: MainWindow
) -> None:
    docks, panel, session = window.frame.docks, window.outline, window.session
    docks.bring_forward("library")
    qtbot.waitUntil(lambda: panel.visibleRegion().isEmpty())
    session.restore(read_script(TEXT).graph, None)
    told = list[object]()
    for signal in (panel.model.modelReset, panel.model.dataChanged, panel.model.rowsInserted):
        signal.connect(lambda *what: told.append(what))
    outline = Outline(window)
    assert session.shown_store.attempt(recipes.rename, "Rename", outline.node("w"), ("weight",))
    session.shown_store.submit(recipes.add_operator(outline.graph, "torch.relu", 0, 0)[0], "Add")
    session.attention.select([outline.node("weight")])
    assert told == []
    docks.bring_forward("outline")
    qtbot.waitUntil(lambda: bool(told))
    assert outline.tree()[:3] == ["x", "weight", "y"]
    assert panel.item == outline.node("weight")
    session.shown_store.undo_stack.undo()
    session.shown_store.undo_stack.undo()
    docks.bring_forward("library")
    qtbot.waitUntil(lambda: panel.visibleRegion().isEmpty())
    session.shown_store.undo_stack.redo()
    docks.bring_forward("outline")
    qtbot.waitUntil(lambda: "weight" in outline.tree())


def test_the_program_is_a_tree_with_wires_under_each_statement(outline: Outline) -> None:
    assert outline.tree() == [
        "x",
        "w",
        "y",
        ["a ← x", "b ← w"],
        "with no_grad",
        ["a", ["self ← y"], "b", ["self ← a"]],
        "z",
        ["self ← y"],
    ]
    assert outline.text(outline.node("y"), OPERATOR) == "*"
    assert outline.panel.tree.isExpanded(outline.panel.model.index_of(outline.block))
    assert not outline.panel.tree.isExpanded(outline.panel.model.index_of(outline.node("y")))


@pytest.mark.feature(46)
def test_its_columns_share_the_width_and_their_titles_can_be_read(outline: Outline) -> None:
    tree = outline.panel.tree
    tree.resize(300, 300)
    header, metrics = tree.header(), tree.header().fontMetrics()
    assert header.length() <= tree.viewport().width() and not tree.horizontalScrollBar().isVisible()
    for column, title in enumerate(COLUMNS):
        assert header.sectionSize(column) >= metrics.horizontalAdvance(title) + 8, title
    assert outline.panel.field.fontMetrics().horizontalAdvance(outline.panel.field.placeholderText()) < 180


def test_in_a_narrow_dock_names_and_titles_can_be_read(outline: Outline) -> None:
    """What the state is stands in the sign before a name, and in its tooltip."""
    tree = outline.panel.tree
    tree.resize(240, 300)
    header, metrics = tree.header(), tree.header().fontMetrics()
    assert tree.isColumnHidden(STATE) and header.length() <= tree.viewport().width()
    for column, title in ((NAME, "Name"), (OPERATOR, "Operator"), (VALUE, "Value")):
        assert header.sectionSize(column) >= metrics.horizontalAdvance(title) + 8, title
    name = tree.visualRect(outline.panel.model.index_of(outline.node("y")))
    assert name.width() >= metrics.averageCharWidth() * 10
    outline.session.graph_store.attempt(recipes.set_muted, "Mute", [outline.node("z")], True)
    assert str(outline.panel.model.index_of(outline.node("z")).data(Qt.ItemDataRole.ToolTipRole)).endswith("muted")
    tree.resize(400, 300)
    assert not tree.isColumnHidden(STATE)


def test_it_follows_every_edit_and_takes_it_back(outline: Outline) -> None:
    store, before = outline.session.shown_store, outline.tree()
    seen = [before]
    for recipe, arguments in (
        (recipes.rename, (outline.node("x"), ("data",))),
        (recipes.delete, ([outline.node("w")],)),
        (recipes.connect, (outline.node("x"), 0, outline.node("y"), "b")),
        (recipes.wrap, ([outline.node("z")], "enable_grad")),
        (recipes.unwrap, (outline.block,)),
        (recipes.put_at, (outline.node("z"), ROOT, 1)),
    ):
        assert store.attempt(recipe, "Edit", *arguments), recipe  # type: ignore[arg-type]
        seen.append(outline.tree())
        assert seen[-1] != seen[-2]
        fresh = OutlinePanel(outline.session, outline.window.canvas, outline.window.theme)
        assert outline.tree() == Outline.tree(_like(outline, fresh))
        fresh.deleteLater()
    while store.undo_stack.canUndo():
        store.undo_stack.undo()
    assert outline.tree() == before


def _like(outline: Outline, panel: OutlinePanel) -> Outline:
    twin = object.__new__(Outline)
    twin.window, twin.session, twin.panel = outline.window, outline.session, panel
    return twin


@pytest.mark.feature(46)
def test_the_selection_is_that_of_the_canvas_both_ways(outline: Outline) -> None:
    attention, canvas = outline.session.attention, outline.window.canvas
    outline.click(outline.node("y"))
    assert attention.selection == {outline.node("y")}
    outline.click(outline.node("z"), Keys.ControlModifier)
    assert attention.selection == {outline.node("y"), outline.node("z")}
    attention.select((outline.node("a"),))
    rows = outline.panel.tree.selectionModel().selectedRows()
    assert [index.data() for index in rows] == ["a"]
    assert outline.panel.item == outline.node("a")
    press(Key.Key_Down)
    press(Key.Key_Down)
    assert [wire.target for wire in canvas.lit.selected_wires] == []
    press(Key.Key_Up)
    assert attention.selection == {outline.node("b")} or canvas.lit.selected_wires


@pytest.mark.feature(46)
def test_enter_goes_to_the_card_and_on_a_wire_to_where_it_comes_from(outline: Outline) -> None:
    outline.click(outline.node("y"))
    press(Key.Key_Return)
    assert QApplication.focusWidget() is outline.window.canvas
    focus(outline.window, outline.panel.tree)
    press(Key.Key_Right)
    press(Key.Key_Down)
    press(Key.Key_Down)
    assert outline.panel.wire is not None
    assert outline.window.canvas.lit.selected_wires == {outline.panel.wire}
    press(Key.Key_Return)
    assert outline.session.attention.selection == {outline.node("w")}


@pytest.mark.feature(46)
def test_f2_renames_in_the_row_and_del_deletes_what_the_row_shows(outline: Outline, qtbot: QtBot) -> None:
    outline.click(outline.node("y"))
    press(Key.Key_F2)
    editor = QApplication.focusWidget()
    assert isinstance(editor, QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, "product")
    QTest.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: any("product" in node.names for node in outline.graph.nodes.values()))
    product = outline.node("product")
    focus(outline.window, outline.panel.tree)
    press(Key.Key_Right)
    press(Key.Key_Down)
    press(Key.Key_Delete)
    assert outline.graph.wire_into(product, "a") is None
    assert product in outline.graph
    outline.click(product)
    press(Key.Key_Delete)
    assert product not in outline.graph
    assert outline.panel.tree.currentIndex().isValid()


def test_a_name_that_cannot_be_is_refused_in_words(outline: Outline) -> None:
    model, item = outline.panel.model, outline.node("y")
    assert not model.setData(model.index_of(item), "1st", Qt.ItemDataRole.EditRole)
    assert "is not a Python name" in outline.window.status.message.full
    assert outline.text(item, NAME) == "y"


@pytest.mark.feature(46)
def test_alt_and_arrows_and_drags_change_the_order_as_far_as_wires_allow(outline: Outline) -> None:
    x, w, y, z = (outline.node(name) for name in "xwyz")
    outline.click(w)
    press(Key.Key_Up, Keys.AltModifier)
    assert outline.graph.bodies[ROOT][:2] == (w, x)
    outline.drop([x], 0)
    assert outline.graph.bodies[ROOT][:2] == (x, w)
    outline.drop([z], 0)
    assert outline.graph.bodies[ROOT][0] == x
    assert outline.window.status.message.full == "'z' needs the value of 'y', so it stays behind it."
    outline.drop([z], 3)
    assert outline.graph.bodies[ROOT] == (x, w, y, z, outline.block)
    assert outline.session.graph_store.undo_stack.undoText() == "Move z"


@pytest.mark.feature(46)
def test_a_statement_is_dragged_into_a_block_and_out_again(outline: Outline) -> None:
    block, z = outline.block, outline.node("z")
    outline.drop([z], 1, outline.panel.model.index_of(block))
    assert outline.graph.bodies[BodyId(block)][1] == z
    outline.drop([z], 0)
    assert outline.graph.parents[z] == ROOT
    outline.drop([block], 0, outline.panel.model.index_of(block))
    assert outline.graph.parents[block] == ROOT


@pytest.mark.feature(46)
def test_what_is_the_matter_is_told_in_words(outline: Outline) -> None:
    y, results, store = outline.node("y"), outline.session.results, outline.session.shown_store
    assert outline.text(y, STATE) == ""
    results.tables.add_failure(
        Failure(
            Failed(revision=0, node=y, address="y", line=4, type_name="RuntimeError", message="no"), "Sizes differ."
        )
    )
    assert outline.text(y, STATE) == "error"
    assert "error: Sizes differ." in str(
        outline.panel.model.index_of(y).data(Qt.ItemDataRole.AccessibleDescriptionRole)
    )
    assert not outline.panel.model.index_of(y).data(Qt.ItemDataRole.DecorationRole).isNull()
    outline.session.debug.toggle(y)
    assert store.attempt(recipes.set_muted, "Mute", [outline.node("z")], True)
    assert outline.text(y, STATE) == "error, breakpoint"
    assert outline.text(outline.node("z"), STATE).endswith("muted")


@pytest.mark.feature(46)
def test_the_field_shows_what_it_asks_for_with_the_blocks_around_it(outline: Outline) -> None:
    outline.panel.field.setText("exp")
    outline.panel.filter_now()
    assert outline.tree() == ["with no_grad", ["b"]]
    assert outline.panel.tree.isExpanded(outline.panel.model.index_of(outline.block))
    outline.panel.field.clear()
    outline.panel.filter_now()
    assert outline.tree()[0] == "x"


@pytest.mark.feature(46)
@pytest.mark.qt_log_ignore("does not support", extend=True)  # popups, offscreen
def test_the_menu_key_opens_the_canvass_menu_for_the_row(outline: Outline) -> None:
    outline.click(outline.node("y"))
    press(Key.Key_Menu)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [action.text().partition("\t")[0] for action in menu.actions()]
    menu.close()
    assert "Rename…" in texts
    assert "Duplicate" in texts


def test_another_document_has_an_outline_of_its_own(outline: Outline) -> None:
    first = outline.panel
    outline.window.documents.new()
    assert outline.window.outline is not first
    assert outline.window.outline.model.rowCount() == 0
    assert outline.window.frame.docks["outline"].widget().front is outline.window.outline  # type: ignore[attr-defined]


def test_a_group_that_is_stepped_into_is_outlined(outline: Outline) -> None:
    canvas = outline.window.canvas
    canvas.selection.select(frozenset({outline.node("x"), outline.node("w"), outline.node("y")}))
    outline.window.actions["group.make"].trigger()
    QTest.keyClick(outline.window.canvas.in_place.editor, Key.Key_Return)
    call = next(node.id for node in outline.graph.nodes.values() if node.operator.startswith("group:"))
    assert outline.text(call, OPERATOR).startswith("group ")
    assert canvas.group_commands.step_in(call)
    assert "y" in outline.tree()
    assert "z" not in outline.tree()


@pytest.mark.feature(46)
def test_values_and_shapes_stand_in_their_column(outline: Outline) -> None:
    x, z, results = outline.node("x"), outline.node("z"), outline.session.results
    results.tables.set_inference((PortInference(node=x, shape=(2,), dtype="torch.float32"),))
    assert outline.text(x, VALUE) == "f32[2] expected"
    vector = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2,), value=(1.0, 2.0)))
    number = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(), value=3.0))
    results.tables.add_rows((Row(step=1, node=x, outputs=(vector,)), Row(step=2, node=z, outputs=(number,))))
    assert outline.text(x, VALUE) == "f32[2]"
    assert outline.text(z, VALUE) == "3"
