"""The inspector's page of a module and its call: names, mode, learning, leaves; all modules of the document."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import calls_of, card_groups
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, ValueNow
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.run.run_events import keep
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import NameLabel, PairTable, field_row


def layer(session: Session, key: str = "torch.nn.Linear") -> tuple[ItemId, ItemId]:
    edits, call = recipes.add_operator(session.graph_store.graph, key, 0, 0)
    session.graph_store.submit(edits, "Add")
    return card_groups(session.graph_store.graph).modules[call], call


def click(button: QPushButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(8, button.height() // 2))


def record(value: list[float]) -> ModuleRecord:
    low, high = min(value), max(value)
    summary = Summary(dtype="float32", shape=(2,), minimum=low, maximum=high, mean=sum(value) / 2, rms=1.0, value=value)
    return ModuleRecord(
        class_name="Linear", parameters={"bias": TensorRecord(device="cpu", summary=summary, requires_grad=True)}
    )


@pytest.mark.parametrize("half", [0, 1])
def test_either_half_shows_the_page_of_both(inspector: InspectorPanel, session: Session, half: int) -> None:
    pair = layer(session)
    session.attention.select((pair[half],))
    details = inspector.details
    assert inspector.item == pair[1]
    assert details.head.title.text() == "Linear"
    assert details.head.name.text() == "fc"
    assert details.head.result.name.text() == "y"
    assert "in_features" in details.arguments.editors
    assert details.inputs.isVisible()
    assert details.module.isVisible()


def test_the_card_says_what_its_layer_holds(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session)
    results = session.results
    results.tables.add_rows([Row(step=1, node=module, outputs=()), Row(step=2, node=call, outputs=())])
    held = NodeMemory(node=module, alive_bytes=4096, grad_bytes=2048)
    results.tables.set_memory(MemoryByNode(revision=0, rows=(held, NodeMemory(node=call, alive_bytes=1024))))
    session.attention.select((call,))
    words = inspector.details.costs.ledger.words()
    assert words[1:] == ["alive  1 KiB", "parameters, buffers  4 KiB", "gradients  2 KiB"]


def test_the_result_is_renamed_apart_from_the_module(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session)
    session.attention.select((call,))
    field = inspector.details.head.result.name
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "hidden")
    QTest.keyClick(field, Qt.Key.Key_Return)
    graph = session.graph_store.graph
    assert graph.nodes[call].names == ("hidden",)
    assert graph.nodes[module].names == ("fc",)


def test_the_mode_is_a_statement_that_two_buttons_write(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session, "torch.nn.Dropout")
    session.attention.select((call,))
    section = inspector.details.module
    assert section.mode.train.isChecked()
    click(section.mode.evaluate)
    assert not module_modes.is_training(session.graph_store.graph, module)
    assert section.mode.evaluate.isChecked()
    session.graph_store.undo_stack.undo()
    assert module_modes.is_training(session.graph_store.graph, module)
    assert section.mode.train.isChecked()


def test_pressing_the_mode_that_holds_changes_nothing(inspector: InspectorPanel, session: Session) -> None:
    _, call = layer(session, "torch.nn.Dropout")
    session.attention.select((call,))
    count = session.graph_store.undo_stack.index()
    click(inspector.details.module.mode.train)
    assert session.graph_store.undo_stack.index() == count
    assert inspector.details.module.mode.train.isChecked()


def test_freezing_writes_requires_grad(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session)
    session.attention.select((call,))
    switch = inspector.details.module.learning
    assert (switch.first.text(), switch.second.text()) == ("Learn", "Freeze")
    assert switch.first.isChecked()
    click(switch.second)
    assert module_modes.is_frozen(session.graph_store.graph, module)
    assert switch.second.isChecked()
    assert not switch.first.isChecked()
    count = session.graph_store.undo_stack.index()
    click(switch.second)
    assert session.graph_store.undo_stack.index() == count
    assert switch.second.isChecked()
    click(switch.first)
    assert not module_modes.is_frozen(session.graph_store.graph, module)


def test_calling_again_shares_the_module(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session)
    session.attention.select((call,))
    click(inspector.details.module.again)
    assert len(calls_of(session.graph_store.graph, module)) == 2


def test_leaves_are_rows_and_a_click_shows_the_leaf(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session)
    session.results.tables.add_rows((Row(step=1, node=module, outputs=(record([1.0, 2.0]),), pass_number=1),))
    grad = Summary(dtype="float32", shape=(2,), minimum=3.0, maximum=4.0, mean=3.5, rms=3.5355339, value=[3.0, 4.0])
    session.results.tables.set_gradients((GradRow(node=module, path="bias", state="value", grad=grad),), True)
    session.attention.select((call,))
    section, values = inspector.details.module, inspector.details.values
    row = section.leaves.topLevelItem(0)
    assert row is not None
    assert [row.text(k) for k in range(4)] == ["bias", "[2]", "1 … 2", "5"]
    spot = section.leaves.visualItemRect(row).center()
    QTest.mouseClick(section.leaves.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert values.chooser.currentText() == "fc.bias"
    assert values.value.model.index(1, 0).data() == "2"
    assert values.gradient.model.index(0, 0).data() == "3"


def test_a_leaf_that_was_trained_shows_what_it_is_now(inspector: InspectorPanel, session: Session) -> None:
    module, call = layer(session)
    session.results.tables.add_rows((Row(step=4, node=module, outputs=(record([1.0, 2.0]),), pass_number=1),))
    told = Gradients(revision=1, rows=(), whole=False, written=(ValueNow(module, 4, record([7.0, 9.0])),))
    keep(told, session.results.tables, None, {})  # as a leader says it, once all ranks have come to the end
    session.attention.select((call,))
    row = inspector.details.module.leaves.topLevelItem(0)
    assert row is not None
    assert row.text(2) == "7 … 9"
    session.results.tables.set_written((ValueNow(module, 3, record([7.0, 9.0])),))  # of another run's module
    inspector.refresh()
    row = inspector.details.module.leaves.topLevelItem(0)
    assert row is not None
    assert row.text(2) == "1 … 2"


def test_nothing_selected_the_document_switches_the_modules_that_it_matters_to(
    inspector: InspectorPanel, session: Session
) -> None:
    assert not inspector.modes.isVisible()
    first, _ = layer(session, "torch.nn.Dropout")
    second, _ = layer(session, "torch.nn.BatchNorm1d")
    same, _ = layer(session)
    session.attention.select(())
    inspector.refresh()
    assert inspector.modes.isVisible()
    assert "dropout" in inspector.modes.remark.text()
    count = session.graph_store.undo_stack.index()
    click(inspector.modes.mode.evaluate)
    graph = session.graph_store.graph
    assert not module_modes.is_training(graph, first)
    assert not module_modes.is_training(graph, second)
    assert module_modes.is_training(graph, same)
    assert inspector.modes.mode.evaluate.isChecked()
    assert session.graph_store.undo_stack.index() == count + 1
    assert session.graph_store.attempt(recipes.set_training, "Train", (second,), True)
    inspector.refresh()
    switch = inspector.modes.mode
    assert not switch.train.isChecked()
    assert not switch.evaluate.isChecked()


def test_modules_that_are_the_same_in_both_modes_leave_nothing_to_switch(
    inspector: InspectorPanel, session: Session
) -> None:
    module, _ = layer(session)
    session.attention.select(())
    inspector.refresh()
    assert not inspector.modes.mode.isEnabled()
    assert session.graph_store.attempt(recipes.set_training, "Evaluate", (module,), False)
    inspector.refresh()
    assert inspector.modes.mode.isEnabled()
    click(inspector.modes.mode.train)
    assert module_modes.is_training(session.graph_store.graph, module)


@pytest.mark.parametrize("width", [300, 340, 420])
def test_the_gradients_of_leaves_are_never_cut(inspector: InspectorPanel, session: Session, width: int) -> None:
    module, call = layer(session)
    session.results.tables.add_rows(
        (Row(step=1, node=module, outputs=(record([-0.123456, 2.34567e-7]),), pass_number=1),)
    )
    grad = Summary(dtype="float32", shape=(2,), minimum=3.0, maximum=4.0, mean=3.5, rms=1.18e-7, value=[1e-7, 4e-8])
    session.results.tables.set_gradients((GradRow(node=module, path="bias", state="value", grad=grad),), True)
    inspector.resize(width, 900)
    session.attention.select((call,))
    QApplication.processEvents()
    tree = inspector.details.module.leaves
    assert sum(tree.columnWidth(k) for k in range(4)) <= tree.viewport().width()
    assert tree.columnWidth(3) >= tree.sizeHintForColumn(3)


def test_a_long_name_of_an_argument_is_shortened_to_its_room(qtbot: QtBot, dark: Theme) -> None:
    row = field_row("track_running_stats", QPushButton())
    qtbot.addWidget(row)
    row.setStyleSheet("QLabel { font-size: 19px; }")
    row.show()
    qtbot.waitExposed(row)
    word = row.findChild(NameLabel)
    assert word is not None
    assert "…" in word.text()
    assert word.fontMetrics().horizontalAdvance(word.text()) <= word.width()


def test_a_device_shows_its_beginning_where_the_box_is_narrow(inspector: InspectorPanel, session: Session) -> None:
    edits, item = recipes.add_operator(session.graph_store.graph, "torch.ones", 0, 0)
    session.graph_store.submit(edits, "Add")
    session.attention.select((item,))
    box = inspector.details.arguments.editors["device"].findChild(QComboBox)
    assert box is not None
    line = box.lineEdit()
    assert line is not None
    assert line.text() == "document"
    assert line.cursorPosition() == 0


def test_a_long_word_makes_the_panel_no_wider(qtbot: QtBot, dark: Theme) -> None:
    table = PairTable()
    qtbot.addWidget(table)
    table.show_pairs((("grad_fn", "NativeBatchNormBackward0"),))
    assert table.minimumSizeHint().width() < 250
    assert table.pairs() == {"grad_fn": "NativeBatchNormBackward0"}


def test_without_room_for_all_the_columns_names_and_shapes_stay_whole(
    inspector: InspectorPanel, session: Session
) -> None:
    module, call = layer(session)
    session.results.tables.add_rows((Row(step=1, node=module, outputs=(record([1.0, 2.0]),), pass_number=1),))
    session.attention.select((call,))
    leaves = inspector.details.module.leaves
    for width, is_hidden in ((500, False), (170, True), (500, False)):
        leaves.setFixedWidth(width)
        leaves.resize(width, leaves.height())
        assert leaves.isColumnHidden(2) is is_hidden
        assert all(leaves.columnWidth(k) >= leaves.sizeHintForColumn(k) for k in (0, 1, 3))
