"""The inspector, by typing and clicking: what it refuses, what it changes in the graph, what it says."""

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QPalette, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import nested_now
from gradstudio.graph.edits import ReplaceNode
from gradstudio.graph.model import DOCUMENT_DEVICE, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed, GradRow, Row
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.statement_numbers import statement_places
from gradstudio.ui.docks.inspector.editors.argument_editor import ArgumentEditor
from gradstudio.ui.docks.inspector.editors.data_editor import DataEditor
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.docks.inspector.value_facts import number_facts, stale_sentence
from gradstudio.ui.docks.inspector.values.tensor_page import TensorPage
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.style import style_sheet
from tests.ui.conftest import Add

SUMMARY = Summary(dtype="float32", shape=(2,), minimum=1.0, maximum=2.0, mean=1.5, rms=1.58, value=[1.0, 2.0])


def literal(session: Session, item: ItemId, path: str) -> str:
    return session.graph_store.graph.nodes[item].literals.get(path, "")


def type_into(editor: ArgumentEditor, text: str) -> None:
    assert isinstance(editor.field, QLineEdit)
    editor.field.setFocus()
    editor.field.selectAll()
    QTest.keyClicks(editor.field, text)
    QTest.keyClick(editor.field, Qt.Key.Key_Return)


def choose(editor: ArgumentEditor, text: str) -> None:
    assert isinstance(editor.field, QComboBox)
    editor.field.setCurrentIndex(editor.field.findText(text, Qt.MatchFlag.MatchStartsWith))
    editor.field.activated.emit(editor.field.currentIndex())


def show_result(session: Session, item: ItemId) -> None:
    record = TensorRecord(device="cpu", summary=SUMMARY, stride=(1,), requires_grad=True, grad_fn="MulBackward0")
    session.results.tables.add_rows([Row(step=0, node=item, outputs=(record,))])


def test_without_a_selection_it_says_what_to_do(inspector: InspectorPanel) -> None:
    assert inspector.empty.isVisible() and "Library" in inspector.empty.text()
    assert "details" not in vars(inspector)


@pytest.mark.feature(44)
def test_a_number_that_is_typed_is_in_the_graph(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.full")
    session.attention.select([item])
    type_into(inspector.details.arguments.editors["fill_value"], "7")
    assert literal(session, item, "fill_value") == "7"
    assert session.graph_store.undo_stack.undoText() == "Change fill_value"


def test_a_wrong_entry_is_refused_in_words_and_the_old_value_stands(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.zeros", size="(2, 3)")
    session.attention.select([item])
    editor = inspector.details.arguments.editors["size"]
    type_into(editor, "two")
    assert editor.problem.isVisible() and editor.problem.text()
    assert literal(session, item, "size") == "(2, 3)"
    QTest.keyClick(editor.field, Qt.Key.Key_Escape)
    assert editor.text == "(2, 3)" and not editor.problem.isVisible()


def test_a_wrong_entry_that_is_left_gives_way_to_the_old_value_and_the_reason_stays(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    session.attention.select([add("torch.full", size="(2, 3)", fill_value="1")])
    editors = inspector.details.arguments.editors
    for path, old in (("size", "(2, 3)"), ("fill_value", "1")):
        editor = editors[path]
        assert isinstance(editor.field, QLineEdit)
        editor.field.setFocus()
        editor.field.selectAll()
        QTest.keyClicks(editor.field, "two ways")
        QTest.keyClick(editor.field, Qt.Key.Key_Tab)
        assert editor.text == old
        assert editor.problem.isVisible() and "two ways" in editor.problem.text()
        editor.field.setFocus()
        QTest.keyClick(editor.field, Qt.Key.Key_End)
        QTest.keyClicks(editor.field, " ")
        assert not editor.problem.isVisible()


def test_numbers_half_written_over_several_lines_outlive_news_from_the_graph(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item, other = add("torch.tensor", data="[[1, 2], [3, 4]]"), add("torch.randn")
    session.attention.select([item])
    field = inspector.details.arguments.editors["data"].field
    assert isinstance(field, QPlainTextEdit)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "[[7")
    assert session.graph_store.attempt(recipes.set_note, "Note", other, "hello")
    assert field.toPlainText() == "[[7"


def test_what_a_wire_must_bring_is_said_in_a_row_of_its_own_height(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    session.attention.select([add("torch.nn.functional.mse_loss")])
    waiting = [made for made in inspector.details.findChildren(QLabel) if made.text() == "needs a wire"]
    assert len(waiting) == 2
    assert all(made.height() >= made.sizeHint().height() and made.frameWidth() == 0 for made in waiting)


def test_an_emptied_field_goes_back_to_the_default(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.nn.functional.softmax", dim="1")
    session.attention.select([item])
    editor = inspector.details.arguments.editors["dim"]
    assert isinstance(editor.field, QLineEdit)
    editor.field.clear()
    QTest.keyClick(editor.field, Qt.Key.Key_Return)
    assert literal(session, item, "dim") == ""


def test_booleans_are_switched_and_dtypes_and_the_documents_device_chosen_from_lists(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    session.attention.select([item])
    editors = inspector.details.arguments.editors
    switch = editors["requires_grad"].field
    assert isinstance(switch, QCheckBox) and switch.text() == "False  (default)"
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton, pos=QPoint(8, switch.height() // 2))
    choose(editors["dtype"], "float64")
    assert literal(session, item, "requires_grad") == "True"
    assert literal(session, item, "dtype") == "torch.float64"
    box = editors["device"].field
    assert isinstance(box, QComboBox) and box.currentText() == "document"
    choose(editors["device"], "cpu")
    assert literal(session, item, "device") in ('"cpu"', "'cpu'")
    choose(inspector.details.arguments.editors["device"], "document")
    assert literal(session, item, "device") == DOCUMENT_DEVICE


def test_a_switch_back_to_the_default_is_unsaid(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.sum", keepdim="True")
    session.attention.select([item])
    switch = inspector.details.arguments.editors["keepdim"].field
    assert isinstance(switch, QCheckBox) and switch.isChecked()
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert "keepdim" not in session.graph_store.graph.nodes[item].literals
    assert not switch.isChecked()


def test_a_dtype_may_be_typed_in_other_words(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.randn")
    session.attention.select([item])
    box = inspector.details.arguments.editors["dtype"].field
    assert isinstance(box, QComboBox)
    line = box.lineEdit()
    line.setFocus()
    QTest.keyClicks(line, "bf16")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert literal(session, item, "dtype") == "torch.bfloat16"
    line.selectAll()
    QTest.keyClicks(line, "flaot32")
    QTest.keyClick(line, Qt.Key.Key_Return)
    editor = inspector.details.arguments.editors["dtype"]
    assert "Did you mean torch.float32?" in editor.problem.text() and line.text() == "flaot32"
    QTest.mouseClick(editor.back, Qt.MouseButton.LeftButton)
    assert literal(session, item, "dtype") == ""
    assert not editor.back.isVisible()


def test_the_arrow_keys_step_a_number(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.eye", n="3")
    session.attention.select([item])
    editor = inspector.details.arguments.editors["n"]
    QTest.keyClick(editor.field, Qt.Key.Key_Up)
    QTest.keyClick(editor.field, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert literal(session, item, "n") == "14"


def test_names_in_a_field_are_wired(inspector: InspectorPanel, session: Session, add: Add) -> None:
    n = add("python.literal", value="3")
    session.graph_store.attempt(recipes.rename, "Rename", n, ("n",))
    item = add("torch.ones", size="(2,)")
    session.attention.select([item])
    type_into(inspector.details.arguments.editors["size"], "2, m")
    assert "'m' is not a value" in inspector.details.arguments.editors["size"].problem.text()
    type_into(inspector.details.arguments.editors["size"], "2, n")
    assert session.graph_store.graph.wires[item, "size.1"].source == n
    assert literal(session, item, "size.0") == "2"


def press(qtbot: QtBot, inspector: InspectorPanel, words: str) -> None:
    """Click the button of that name in the arguments."""
    widgets = inspector.details.arguments.findChildren(QWidget)
    found = [b for b in widgets if isinstance(b, QToolButton) and b.accessibleName() == words and not b.isHidden()]
    assert len(found) == 1, [b.accessibleName() for b in widgets if isinstance(b, QToolButton)]
    qtbot.waitUntil(found[0].isVisible)
    QTest.mouseClick(found[0], Qt.MouseButton.LeftButton)


def test_elements_of_a_list_are_moved_and_taken_out(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    store = session.graph_store
    shown = add("builtins.print")
    for k, text in enumerate(('"a"', '"b"', '"c"')):
        store.attempt(recipes.split_list, "Split", shown, "values", k + 1)
        store.attempt(recipes.set_literal, "Set", shown, f"values.{k}", text)
    session.attention.select([shown])
    press(qtbot, inspector, "Move down: values[0]")
    assert [literal(session, shown, f"values.{k}") for k in range(3)] == ['"b"', '"a"', '"c"']
    press(qtbot, inspector, "Remove values[1]")
    assert [literal(session, shown, f"values.{k}") for k in range(2)] == ['"b"', '"c"']


def test_a_shape_is_split_into_its_sizes_and_joined(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.ones", size="(2, 3)")
    session.attention.select([item])
    press(qtbot, inspector, "A port for each element")
    assert literal(session, item, "size.1") == "3"
    press(qtbot, inspector, "One port for the whole list")
    assert literal(session, item, "size") == "(2, 3)"


def test_a_tensor_literal_is_changed_in_a_table(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.tensor", data="[[1, 2], [3, 4]]")
    session.attention.select([item])
    editor = inspector.details.arguments.editors["data"]
    assert isinstance(editor, DataEditor)
    QTest.mouseClick(editor.as_table, Qt.MouseButton.LeftButton)
    table = editor.table
    assert table.isVisible() and (table.rowCount(), table.columnCount()) == (3, 3)
    cell = table.item(1, 1)
    assert cell is not None
    cell.setText("π")
    assert literal(session, item, "data") == "[[1, 2], [3, math.pi]]"
    cell = table.item(1, 0)
    assert cell is not None
    cell.setText("x")
    assert literal(session, item, "data") == "[[1, 2], [3, math.pi]]"
    table.setCurrentCell(0, 2)
    QApplication.clipboard().setText("5\t6\n7\t8\n")
    QTest.keyClick(table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert literal(session, item, "data") == "[[1, 2, 5, 6], [3, math.pi, 7, 8]]"
    table.selectRow(0)
    QTest.keyClick(table, Qt.Key.Key_Delete)
    assert literal(session, item, "data") == "[[3, math.pi, 7, 8]]"


def test_a_tensor_literal_is_written_over_several_lines(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.tensor", data="[[1, 2], [3, 4]]")
    session.attention.select([item])
    field = inspector.details.arguments.editors["data"].field
    assert isinstance(field, QPlainTextEdit) and field.toPlainText().count("\n") == 1
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "[[5, 6],")
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(field, "[7, 8]]")
    assert field.toPlainText() == "[[5, 6],\n[7, 8]]"
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert literal(session, item, "data") == "[[5, 6], [7, 8]]"


def test_return_takes_a_tensor_literal_up_or_says_why_not(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.tensor", data="[1, 2]")
    session.attention.select([item])
    editor = inspector.details.arguments.editors["data"]
    editor.field.setFocus()
    editor.field.selectAll()  # type: ignore[attr-defined]  # a QPlainTextEdit
    QTest.keyClicks(editor.field, "[7, hello")
    QTest.keyClick(editor.field, Qt.Key.Key_Return)
    assert editor.problem.isVisible() and editor.problem.text() and editor.text == "[7, hello"
    assert literal(session, item, "data") == "[1, 2]"
    for _ in "hello":
        QTest.keyClick(editor.field, Qt.Key.Key_Backspace)
    assert not editor.problem.isVisible()
    QTest.keyClicks(editor.field, "8]")
    QTest.keyClick(editor.field, Qt.Key.Key_Return)
    assert literal(session, item, "data") == "[7, 8]"


def test_a_wired_argument_names_its_source_and_the_click_goes_there(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    source, target = add("torch.randn"), add("torch.exp")
    store = session.graph_store
    assert store.attempt(recipes.connect, "Wire", source, 0, target, "input")
    session.attention.select([target])
    name = store.graph.nodes[source].names[0]
    link = next(button for button in inspector.details.arguments.findChildren(QPushButton) if name in button.text())
    QTest.mouseClick(link, Qt.MouseButton.LeftButton)
    assert session.attention.current == source


def test_the_name_is_changed_and_a_word_of_python_is_refused(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    session.attention.select([item])
    field = inspector.details.head.name
    for text in ("weights", "class"):
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
    assert session.graph_store.graph.nodes[item].names == ("weights",)
    problem = inspector.details.head.name_problem
    assert problem.isVisible() and "class" in problem.text() and "status bar" not in problem.text()
    assert field.text() == "weights"


def test_value_and_gradient_of_the_selected_tensor_are_shown(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    session.attention.select([item])
    show_result(session, item)
    session.results.tables.set_gradients([GradRow(node=item, state="value", grad=SUMMARY)], whole=True)
    qtbot.waitUntil(lambda: inspector.details.values.value.pairs.pairs().get("shape") == "[2]")
    pairs = inspector.details.values.value.pairs.pairs()
    assert (pairs["grad_fn"], pairs["mean"], pairs["dtype"]) == ("MulBackward0", "1.5", "float32 on cpu")
    assert str(inspector.details.values.value.model.index(1, 0).data()) == "2"
    assert inspector.details.values.gradient.remark.text() == "Has a gradient."
    assert inspector.details.values.gradient.model.rowCount() == 2


def test_what_is_not_computed_is_not_shown_as_zero(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    session.results.tables.set_inference([PortInference(node=item, dtype="float32", shape=(2, 3), device="cpu")])
    session.attention.select([item])
    assert inspector.details.values.value.remark.text() == "Not computed yet."
    assert inspector.details.values.value.pairs.pairs()["shape"] == "[2, 3] expected"
    assert inspector.details.values.gradient.remark.text() == "No backward has run yet."
    assert inspector.details.values.value.model.rowCount() == 0


def test_a_failure_shows_our_words_and_torchs_unchanged(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.exp")
    session.attention.select([item])
    failed = Failed(revision=1, node=item, address="y", line=3, type_name="RuntimeError", message="mat1 and\n  mat2")
    session.results.tables.add_failure(Failure(failed, "The shapes do not fit.", ("Transpose it",)))
    qtbot.waitUntil(inspector.details.trouble.isVisible)
    theirs = inspector.details.trouble.theirs
    qtbot.waitUntil(lambda: theirs.text() == "RuntimeError: mat1 and\n  mat2")
    assert inspector.details.trouble.ours.text() == "The shapes do not fit."


def test_the_place_of_a_statement_is_the_number_on_its_card(inspector: InspectorPanel, session: Session) -> None:
    session.graph_store.load(read_script("import torch\n\nx = torch.randn(3)\ny = (x * 2).sum()\nx.add_(1)\n").graph)
    graph = session.graph_store.graph
    added, nested = list(graph.nodes)[-1], nested_now(graph)
    assert nested
    session.attention.select([added])
    assert statement_places(graph, nested)[added] == 3
    assert inspector.details.order.place.text() == "3 of 3"
    session.attention.select(nested)
    assert inspector.details.order.place.text() == "2 of 3", "a part is printed in the statement after it"


def test_earlier_and_later_move_the_statement(inspector: InspectorPanel, session: Session, add: Add) -> None:
    first, second = add("torch.randn"), add("torch.randn")
    session.attention.select([second])
    assert inspector.details.order.place.text() == "2 of 2" and not inspector.details.order.later.isEnabled()
    QTest.mouseClick(inspector.details.order.earlier, Qt.MouseButton.LeftButton)
    assert list(session.graph_store.graph.order()) == [second, first]
    assert inspector.details.order.place.text() == "1 of 2"


def test_a_note_is_taken_up_when_its_field_is_left(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.randn")
    session.attention.select([item])
    inspector.details.note.edit.setFocus()
    QTest.keyClicks(inspector.details.note.edit, "look here")
    inspector.details.head.name.setFocus()
    assert session.graph_store.graph.nodes[item].note == "look here"


def test_undo_shows_the_old_value_again(inspector: InspectorPanel, session: Session, add: Add) -> None:
    item = add("torch.full", fill_value="1")
    session.attention.select([item])
    type_into(inspector.details.arguments.editors["fill_value"], "2")
    session.graph_store.undo_stack.undo()
    assert inspector.details.arguments.editors["fill_value"].text == "1"


def test_a_block_is_explained_with_the_number_of_its_statements(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    assert session.graph_store.attempt(recipes.wrap, "Wrap", [item], "no_grad")
    session.attention.select(list(session.graph_store.graph.blocks))
    assert inspector.details.head.key.text() == "with torch.no_grad()"
    assert "1 statement." in inspector.details.head.summary.text()


def test_a_part_is_called_inline_only_while_it_is_printed_so(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    store = session.graph_store
    x, part, user = add("torch.randn"), add("operator.neg"), add("torch.exp")
    assert store.attempt(recipes.connect, "Wire", x, 0, part, "a")
    assert store.attempt(recipes.connect, "Wire", part, 0, user, "input")
    store.submit((ReplaceNode(msgspec.structs.replace(store.graph.nodes[part], names=(), nested=True)),), "Nest")
    session.attention.select([part])
    assert inspector.details.head.name.placeholderText() == "written inline"
    assert store.attempt(recipes.wrap, "Wrap", (part,))
    assert store.graph.nodes[part].nested
    assert inspector.details.head.name.placeholderText() == "on its own line"


def test_a_comment_beside_the_statement_is_shown_with_its_note(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    store = session.graph_store
    store.submit(
        (ReplaceNode(msgspec.structs.replace(store.graph.nodes[item], note="why", beside="(B, T)")),), "Edit code"
    )
    session.attention.select([item])
    assert inspector.details.note.edit.toPlainText() == "why\n(B, T)"
    inspector.details.note.commit()
    assert (store.graph.nodes[item].note, store.graph.nodes[item].beside) == ("why", "(B, T)")


def test_the_note_is_brought_into_view_to_be_written(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    session.attention.select([add("torch.nn.functional.mse_loss")])
    note = inspector.details.note
    inspector.resize(340, 200)
    assert note.visibleRegion().isEmpty()
    inspector.focus_note()

    def is_seen() -> bool:
        return note.edit.visibleRegion().boundingRect().height() == note.edit.height()

    qtbot.waitUntil(is_seen)
    assert inspector.focusWidget() is note.edit
    with qtbot.waitSignal(inspector._throttle.due):
        inspector._throttle.request()
    qtbot.waitUntil(is_seen)


def test_who_scrolls_away_from_the_note_is_not_brought_back(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    session.attention.select([add("torch.nn.functional.mse_loss")])
    inspector.resize(340, 200)
    inspector.focus_note()
    bar = inspector.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() > 0)
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    inspector.resize(340, 180)
    with qtbot.waitSignal(inspector._throttle.due):
        inspector._throttle.request()
    assert bar.value() == 0


def test_the_wheel_over_the_tabs_changes_no_tab_and_below_the_figures_is_no_hole(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.ones")
    show_result(session, item)
    session.attention.select([item])
    tabs = inspector.details.values.tabs
    qtbot.waitUntil(tabs.isVisible)
    turn_wheel(tabs.tabBar())
    assert tabs.currentIndex() == 0
    page = inspector.details.values.value
    for index in (0, 1):
        tabs.setCurrentIndex(index)
        qtbot.waitUntil(lambda: abs(tabs.height() - tabs.heightForWidth(tabs.width())) <= 2)
    tabs.setCurrentIndex(0)
    qtbot.waitUntil(lambda: page.height() - page.pairs.geometry().bottom() <= 4)


def turn_wheel(widget: QWidget) -> bool:
    """A notch towards the hand, over the middle of a widget; False: it is left to what lies around."""
    middle = QPointF(widget.rect().center())
    wheel = QWheelEvent(
        middle, widget.mapToGlobal(middle), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, wheel)
    return wheel.isAccepted()


def test_the_wheel_over_the_numbers_scrolls_what_they_lie_in_until_they_are_clicked_or_it_is_at_its_end(
    qtbot: QtBot, dark: Theme
) -> None:
    area, page = QScrollArea(), TensorPage(dark)
    qtbot.addWidget(area)
    area.setWidget(page)
    area.setWidgetResizable(True)
    area.resize(340, 150)
    page.show_page("", (), Summary(dtype="float32", shape=(5, 40, 3)), lambda *_: None)
    area.show()
    bar, rows, (box,) = area.verticalScrollBar(), page.table.verticalScrollBar(), page.findChildren(QSpinBox)
    assert page.table.isVisible() and bar.maximum() > 0 and rows.maximum() > 0
    area.setFocus()
    for over in (page.table.viewport(), box):
        assert not turn_wheel(over) and (rows.value(), box.value()) == (0, 0)
    bar.setValue(bar.maximum())
    assert turn_wheel(page.table.viewport()) and rows.value() > 0
    rows.setValue(0)
    bar.setValue(0)
    area.activateWindow()
    page.table.setFocus()
    qtbot.waitUntil(page.table.hasFocus)
    assert turn_wheel(page.table.viewport()) and rows.value() > 0


def test_figures_beside_a_nan_are_said_to_be_of_the_finite() -> None:
    odd = Summary(dtype="float32", shape=(2,), minimum=0.0, maximum=0.0, mean=0.0, rms=0.0, nan=1)
    assert [name for name, _ in number_facts(odd)] == [
        "min (finite)", "max (finite)", "mean (finite)", "rms (finite)", "not finite"
    ]  # fmt: skip
    assert [name for name, _ in number_facts(SUMMARY)] == ["min", "max", "mean", "rms"]


def test_an_older_value_says_the_one_reason_why_it_is_old(session: Session) -> None:
    assert stale_sentence(session.run).startswith("Of a run whose engine has ended since.")
    session.run.status.set(live=True, stale=True)
    assert stale_sentence(session.run).startswith("Of the program as it was before your last change.")


def test_a_value_that_was_overwritten_since_says_by_which_statement(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    made, writer = add("torch.ones", size="(2,)"), add("torch.Tensor.mul_", other="10")
    rows = [
        Row(step=k, node=node, outputs=(TensorRecord(device="cpu", summary=SUMMARY, storage=7, version=k - 1),))
        for k, node in ((1, made), (2, writer))
    ]
    session.results.tables.add_rows(rows)
    assert session.results.version_now(7) == 1
    session.attention.select([made])
    page = inspector.details.values.value
    inspector.refresh()
    assert page.remark.text().startswith("As it was computed. Overwritten since by ")
    session.attention.look_at(0)
    assert session.results.version_now(7) == 0
    inspector.refresh()
    assert page.remark.text() and "Overwritten" not in page.remark.text()


def test_a_default_that_is_chosen_from_a_list_has_room_to_be_said(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    session.attention.select([add("torch.Tensor.backward")])
    boxes = [box for box in inspector.details.findChildren(QComboBox) if box.currentText().startswith("None")]
    assert boxes and all(box.currentText() == "None  (default)" for box in boxes)


def test_a_default_in_a_list_is_dim_and_what_is_chosen_is_not(
    inspector: InspectorPanel, session: Session, add: Add, dark: Theme
) -> None:
    item = add("torch.Tensor.backward")
    session.attention.select([item])
    editors = inspector.details.arguments.editors
    path, editor = next((path, one) for path, one in editors.items() if is_closed_list(one.field))
    inspector.setStyleSheet(style_sheet(dark))

    def inks() -> tuple[str, str]:
        box = editor.field
        assert isinstance(box, QComboBox)
        box.view().ensurePolished()
        return box.palette().color(QPalette.ColorRole.ButtonText).name(), box.view().palette().text().color().name()

    assert inks() == (dark.text_dim, dark.text)
    choose(editor, "True")
    assert literal(session, item, path) == "True"
    assert inks() == (dark.text, dark.text)
    QTest.mouseClick(editor.back, Qt.MouseButton.LeftButton)
    assert inks() == (dark.text_dim, dark.text)


def is_closed_list(field: QWidget) -> bool:
    return isinstance(field, QComboBox) and not field.isEditable()


def test_while_a_slider_moves_fields_follow_and_the_rest_when_it_rests(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item, slide = add("torch.arange", end="1"), session.run.status.slide
    session.attention.select([item])
    pairs, seen = inspector.details.values.value.pairs, list[dict[str, str]]()
    slide.rested.connect(lambda: seen.append(pairs.pairs()))
    slide.move(follows=True)
    assert session.graph_store.attempt(recipes.set_literal, "Set", item, "end", "5")
    assert inspector.details.arguments.editors["end"].text == "5"
    show_result(session, item)
    qtbot.waitUntil(lambda: len(seen) == 1)
    assert "shape" not in seen[0]
    qtbot.waitUntil(lambda: pairs.pairs().get("shape") == "[2]")


def test_an_argument_of_several_selected_nodes_is_changed_in_all_of_them(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    first, second, other = add("torch.randn"), add("torch.zeros"), add("torch.relu")
    session.attention.select([first, second])
    inspector.refresh()
    assert inspector.shared.isVisibleTo(inspector) and "all of them" in inspector.empty.text()
    entries = session.graph_store.undo_stack.index()
    type_into(inspector.shared.editors["size"], "(4, 5)")
    assert {literal(session, item, "size") for item in (first, second)} == {"(4, 5)"}
    assert session.graph_store.undo_stack.index() == entries + 1
    session.attention.select([first, other])
    inspector.refresh()
    assert not inspector.shared.isVisibleTo(inspector)
    session.attention.select([first])
    inspector.refresh()
    assert not inspector.shared.isVisibleTo(inspector) and inspector.item == first


def test_where_several_selected_nodes_differ_their_values_stand_below_the_field(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    first, second = add("torch.randn"), add("torch.randn")
    for item, size in ((first, "(4, 5)"), (second, "(2,)")):
        assert session.graph_store.attempt(recipes.set_literals, "Size", (item,), "size", size)
    session.attention.select([first, second])
    inspector.refresh()
    size, dtype = (inspector.shared.editors[path] for path in ("size", "dtype"))
    assert size.mixed is not None and not size.mixed.isHidden()
    assert size.mixed.text() in ("mixed: (4, 5), (2,)", "mixed: (2,), (4, 5)")
    assert dtype.mixed is None
    type_into(size, "(7,)")
    inspector.refresh()
    assert size.mixed.isHidden()
    assert {literal(session, item, "size") for item in (first, second)} == {"(7,)"}


def test_of_several_nodes_of_any_kind_dtype_and_shape_are_listed_and_lead_to_them(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    made, other, more = add("torch.randn"), add("torch.relu"), add("torch.Tensor.backward")
    show_result(session, made)
    session.attention.select([other, made, more])
    inspector.refresh()
    names = [session.graph_store.graph.nodes[item].names[0] for item in (made, other)]
    lines = inspector.checks.lines
    assert [line.link for line in lines] == [made, other, more]
    assert [line.name for line in lines[:2]] == names
    assert lines[0].text.endswith("[2]") and lines[0].text.startswith("float32") and lines[1].text == "–"
    session.attention.select([add("torch.randn") for _ in range(20)])
    inspector.refresh()
    assert len(inspector.checks.lines) == 13 and inspector.checks.lines[-1].text == "and 8 more"
    session.attention.select([made])
    inspector.refresh()
    assert not inspector.checks.lines


def test_dtype_and_shape_are_said_before_a_run_at_the_top(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    item = add("torch.randn")
    session.results.tables.set_inference([PortInference(node=item, dtype="float32", shape=(2, 3), device="cpu")])
    session.attention.select([item])
    inspector.refresh()
    assert inspector.details.head.gives.text() == "float32 [2, 3]  expected"
    show_result(session, item)
    inspector.refresh()
    assert (
        inspector.details.head.gives.text().startswith("float32 [")
        and "expected" not in inspector.details.head.gives.text()
    )


def test_the_inputs_of_a_call_fit_into_a_narrow_dock(
    inspector: InspectorPanel, session: Session, add: Add, qtbot: QtBot
) -> None:
    first, stacked = add("torch.randn"), add("torch.stack")
    assert session.graph_store.attempt(recipes.connect, "Wire", first, 0, stacked, "tensors.0")
    session.attention.select([stacked])
    inspector.resize(264, 480)
    inspector.show()
    inspector.refresh()
    content = inspector.widget()
    assert content is not None
    qtbot.waitUntil(inspector.verticalScrollBar().isVisible)
    assert content.minimumSizeHint().width() <= inspector.viewport().width()


def test_an_endless_loop_is_called_a_while_and_has_no_variable_among_its_results(
    inspector: InspectorPanel, session: Session
) -> None:
    text = "import torch\n\nx = torch.ones(3)\nwhile x.sum() < 9:\n    x = x * 2\n"
    session.graph_store.load(read_script(text, keeps_code=True).graph)
    (block,) = session.graph_store.graph.blocks
    session.attention.select([block])
    words = [one.text() for one in inspector.details.findChildren(QLabel)]
    assert "while" in words and "while …" in words
    assert "for" not in words and "result 1" not in words


PAIRS = """import torch
batches = [(torch.ones(2), torch.zeros(2)), (torch.zeros(2), torch.ones(2))]
for x, y in batches:
    z = x + y
"""


def test_what_a_loop_gives_is_called_as_the_loop_is_not_by_its_id(session: Session, inspector: InspectorPanel) -> None:
    session.restore(read_script(PAIRS).graph, None)
    graph = session.graph_store.graph
    wire = next(wire for wire in graph.wires.values() if wire.source in graph.blocks)
    session.attention.select([wire.target])
    inspector.refresh()
    links = [link for link in inspector.findChildren(QPushButton, "link") if not link.isHidden()]
    assert [link.text() for link in links] == ["← for x, y"]
