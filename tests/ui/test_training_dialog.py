"""Graph ▸ Add training with…: what is chosen in the dialog stands in the program, and learns."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from gradstudio.document.data.data_graph import data_graph
from gradstudio.document.data.digits import digits
from gradstudio.document.python.merge_edits import merge
from gradstudio.graph.edits import apply_all
from gradstudio.graph.recipes import add_operator, connect, set_literal
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.menus.card_menu import item_rows
from gradstudio.ui.dialogs.training.awaited_shapes import LOOK_MS
from gradstudio.ui.dialogs.training.training_dialog import NEW, TrainingDialog
from gradstudio.ui.state.engines.engine_child import EngineChild
from gradstudio.ui.state.session import Session
from tests.ui.desk import Desk

LOSS = """import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(64, 2)
y = (X[:, 0] > 0).long()
net = nn.Linear(2, 2)
loss = F.cross_entropy(net(X), y)
"""


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LOSS)


def ask(desk: Desk, act: Callable[[TrainingDialog], None]) -> list[TrainingDialog]:
    """The command, and what a person does in its dialog; the dialogs that came."""
    seen: list[TrainingDialog] = []

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TrainingDialog)
        seen.append(dialog)
        try:
            act(dialog)
        finally:
            if dialog.isVisible():
                dialog.reject()  # else what is wrong would wait for ever

    QTimer.singleShot(0, answer)
    desk.window.actions["graph.ask_training"].trigger()
    return seen


def test_what_is_chosen_stands_in_the_program_and_learns(desk: Desk) -> None:
    def choose(dialog: TrainingDialog) -> None:
        dialog.epochs.setValue(4)
        dialog.optimizer.setCurrentText("SGD")
        QTest.keyClicks(dialog.rate, "0.2")
        dialog.schedule.setCurrentIndex(1)
        QTest.keyClicks(dialog.clip, "1.0")
        dialog.accumulate.setValue(2)
        dialog.mixed.setChecked(True)
        dialog.accept()

    assert ask(desk, choose)
    text = write_script(desk.graph)
    for line in (
        "optimizer = optim.SGD(net.parameters(), lr=0.2, momentum=0.9)",
        "scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)",
        "(loss / 2).backward()",
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
        "    scheduler.step()",
    ):
        assert line.replace("torch.nn", "nn") in text.replace("torch.nn", "nn"), text
    assert "torch.autocast(" in text and "for epoch in range(4):" in text
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert desk.session.run.state.outcome == "done"


def test_an_early_stop_asks_ends_where_python_does_and_says_so(desk: Desk) -> None:
    def choose(dialog: TrainingDialog) -> None:
        dialog.epochs.setValue(60)
        QTest.keyClicks(dialog.rate, "0.9")
        dialog.patience.setValue(2)
        assert "Run asks first" in dialog.asks.text() and dialog.asks.isVisible()
        dialog.accept()

    assert ask(desk, choose)
    assert "asks first" in desk.said
    text = write_script(desk.graph)
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["epoch"] < 59
    shown: list[str] = []
    desk.session.run.code_question.ask = lambda parts: bool(shown.append(str(parts)) or True)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert "if waited >= 2:" in shown[0] and "break" in shown[0] and "optimizer" not in shown[0]
    desk.until(lambda: f"Ended early, in epoch {names['epoch'] + 1} of 60" in desk.said)
    assert "loss_test" in desk.said and "best" not in desk.said
    store = desk.session.results.tables.curves
    (name,) = [name for key, name in store.longest().items() if key.node == desk.node("loss_test")]
    points, values = store.points(name)
    assert len(points) == names["epoch"] + 1 and values[-1] == pytest.approx(names["loss_test"].item(), rel=1e-9)


def test_a_layer_behind_a_dropout_is_made_first_and_learns_what_python_learns(desk: Desk) -> None:
    layers = "drop = nn.Dropout(0.5)\nh = drop(net(X))\nfc2 = nn.Linear(2, 2)\nloss = F.cross_entropy(fc2(h), y)\n"
    desk.open(LOSS.replace("loss = F.cross_entropy(net(X), y)\n", layers))
    desk.window.actions["graph.training"].trigger()
    words = "“fc2” is made before the loop now, so it begins with other random numbers than before."
    bubble = desk.window.canvas.bubble
    assert desk.said.endswith(words) and bubble.text() == words and bubble.isVisible()
    names: dict[str, Any] = {}
    exec(write_script(desk.graph), names)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    desk.until(lambda: desk.session.results.outputs(desk.node("loss_test")) is not None)
    (record,) = desk.session.results.outputs(desk.node("loss_test")) or ()
    assert isinstance(record, TensorRecord) and record.summary.minimum == names["loss_test"].item()


def test_a_number_that_is_none_is_said_and_nothing_is_added(desk: Desk) -> None:
    def choose(dialog: TrainingDialog) -> None:
        add = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
        for text, is_good in (("-1", False), ("fast", False), ("1e-3", True)):
            dialog.rate.setText(text)
            assert add.isEnabled() == is_good and dialog.said.isVisible() != is_good
        dialog.reject()

    assert ask(desk, choose)
    assert "optimizer" not in write_script(desk.graph)


def test_where_nothing_can_be_trained_no_question_is_asked(desk: Desk) -> None:
    desk.open("import torch\nx = torch.randn(3)\ny = x.sum()\n")
    refused: list[str] = []
    desk.session.run.status.refused.connect(refused.append)
    desk.window.actions["graph.ask_training"].trigger()  # a dialog would wait for ever
    assert "nothing to train" in refused[0]


OPEN = LOSS.replace("loss = F.cross_entropy(net(X), y)\n", "logits = net(X)\n")


def lines(desk: Desk) -> list[str]:
    return [line.strip() for line in write_script(desk.graph).splitlines()]


def wait_for_shapes(desk: Desk) -> None:
    desk.until(lambda: desk.session.results.inference(desk.node("logits")) is not None)


def test_of_a_prediction_the_target_that_fits_is_offered_and_chosen(desk: Desk) -> None:
    desk.open(OPEN)
    wait_for_shapes(desk)
    desk.click("logits")

    def choose(dialog: TrainingDialog) -> None:
        assert [dialog.targets.itemText(k) for k in range(dialog.targets.count())] == [
            "y",
            "X (what the model is given)",
            NEW,
        ]
        assert dialog.targets.currentText() == "y" and dialog.loss.currentText() == "cross_entropy"
        dialog.accept()

    assert ask(desk, choose)
    assert "loss = F.cross_entropy(logits, y_batch)" in lines(desk) and "loss.backward()" in lines(desk)
    desk.window.actions["edit.undo"].trigger()
    assert write_script(desk.graph) == write_script(read_script(OPEN).graph), "one step"


def test_a_new_target_is_made_where_that_is_chosen(desk: Desk) -> None:
    desk.open(OPEN)
    wait_for_shapes(desk)

    def choose(dialog: TrainingDialog) -> None:
        dialog.targets.setCurrentText(NEW)
        dialog.loss.setCurrentText("mse_loss")
        dialog.accept()

    assert ask(desk, choose)
    assert "loss = F.mse_loss(logits, target_batch)" in lines(desk)
    assert any(line.startswith("target = torch.randn(64, 2") for line in lines(desk)), lines(desk)


def test_of_a_loss_without_a_target_several_that_fit_are_to_be_chosen_from(desk: Desk) -> None:
    desk.open(OPEN + "other = torch.zeros(64, dtype=torch.long)\ncriterion = nn.CrossEntropyLoss()\n")
    edits, loss = add_operator(desk.graph, "torch.nn.functional.cross_entropy", 0, 0)
    desk.session.graph_store.submit(edits, "Add")
    wire = connect(desk.graph, desk.node("logits"), 0, loss, "input")
    desk.session.graph_store.submit(wire, "Connect")
    wait_for_shapes(desk)
    desk.until(lambda: desk.session.results.inference(desk.node("other")) is not None)
    desk.window.actions["graph.training"].trigger()
    assert "'other' or 'y' could be it" in desk.said, desk.said

    def choose(dialog: TrainingDialog) -> None:
        add = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
        assert not add.isEnabled() and "Choose the target" in dialog.said.text()
        dialog.targets.setCurrentText("y")
        assert add.isEnabled() and dialog.loss.currentText() == "cross_entropy" and not dialog.loss.isEnabled()
        dialog.accept()

    assert ask(desk, choose)
    assert "loss = F.cross_entropy(logits, y_batch)" in lines(desk)


def test_before_shapes_are_known_the_dialog_waits_for_them_and_opens(desk: Desk) -> None:
    desk.open(OPEN)
    assert desk.session.results.inference(desk.node("logits")) is None, "the engine was not asked yet"
    desk.window.actions["graph.ask_training"].trigger()
    assert desk.said == "Add training begins as soon as the engine has told the shapes. Esc gives it up."
    assert QApplication.activeModalWidget() is None
    offered: list[str] = []

    def accept() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, TrainingDialog):
            offered.extend(dialog.targets.itemText(k) for k in range(dialog.targets.count()))
            dialog.accept()

    timer = QTimer(desk.window.canvas, interval=LOOK_MS)  # the dialog has an event loop of its own
    timer.timeout.connect(accept)
    timer.start()
    desk.until(lambda: "loss.backward()" in lines(desk))
    timer.stop()
    assert offered == ["y", "X (what the model is given)", NEW]
    assert "loss = F.cross_entropy(logits, y_batch)" in lines(desk)


def open_loss_without_target(desk: Desk, text: str = OPEN) -> None:
    """Nothing of it is known yet: the engine was not asked."""
    desk.open(text)
    edits, loss = add_operator(desk.graph, "torch.nn.functional.cross_entropy", 0, 0)
    desk.session.graph_store.submit(edits, "Add")
    wire = connect(desk.graph, desk.node("logits"), 0, loss, "input")
    desk.session.graph_store.submit(wire, "Connect")


def test_before_shapes_are_known_the_shortest_training_of_an_open_loss_waits_for_them(desk: Desk) -> None:
    open_loss_without_target(desk)
    desk.window.actions["graph.training"].trigger()
    assert "Esc gives it up" in desk.said
    desk.until(lambda: "loss.backward()" in lines(desk))
    assert "loss = F.cross_entropy(logits, y_batch)" in lines(desk) and desk.said.startswith("A loop learns the loss")


def test_a_run_that_is_asked_for_while_a_training_waits_for_shapes_trains(desk: Desk) -> None:
    open_loss_without_target(desk)
    desk.window.actions["graph.training"].trigger()
    desk.window.actions["run.run"].trigger()
    assert desk.said == "Add training comes first. Then: Run." and "loss.backward()" not in lines(desk)
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    names: dict[str, Any] = {}
    exec(write_script(desk.graph), names)
    assert desk.value("loss_test") == names["loss_test"].item()


def test_a_training_that_is_asked_for_behind_a_run_is_added_when_that_has_failed(desk: Desk) -> None:
    """The run says nothing of what it did not come to: the engine is asked for that."""
    open_loss_without_target(desk, OPEN.replace("X = ", "bad = torch.ones(2) @ torch.ones(3)\nX = "))
    desk.window.actions["run.run"].trigger()
    desk.window.actions["graph.training"].trigger()
    desk.until(lambda: "loss.backward()" in lines(desk))
    assert desk.session.run.state.outcome == "failed"


def test_a_training_that_is_given_up_leaves_the_run_that_waits_for_it(desk: Desk) -> None:
    open_loss_without_target(desk)
    desk.window.actions["graph.training"].trigger()
    desk.window.actions["run.run"].trigger()
    desk.key(Qt.Key.Key_Escape)
    desk.until(lambda: desk.session.run.state.outcome == "done")
    assert "loss.backward()" not in lines(desk)


def test_escape_gives_the_waiting_up_and_leaves_the_selection(desk: Desk) -> None:
    desk.open(OPEN)
    desk.click("logits")
    desk.window.actions["graph.training"].trigger()
    desk.key(Qt.Key.Key_Escape)
    assert desk.said == "Add training was given up." and desk.current == desk.node("logits")
    wait_for_shapes(desk)
    later: list[None] = []
    QTimer.singleShot(2 * LOOK_MS, lambda: later.append(None))
    desk.until(lambda: later)
    assert write_script(desk.graph) == write_script(read_script(OPEN).graph)


def test_an_engine_that_does_not_come_is_said(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    """The session's engine is none: it is started only to end."""
    session.restore(read_script(OPEN).graph, None)
    window.actions["graph.training"].trigger()
    assert "Esc gives it up" in window.status.message.full
    session.engine.client.move_to("nowhere", lambda _options, parent: EngineChild(["/no/such/engine"], parent))
    words = "There is no engine, so shapes are not known: Run ▸ Restart engine, then Add training again."
    qtbot.waitUntil(lambda: window.status.message.full == words)


def test_a_last_layer_with_too_few_outputs_for_stored_classes_is_given_as_many(desk: Desk) -> None:
    """Torch would refuse the largest class in the first turn."""
    graph = data_graph(digits())
    apply_all(graph, merge(graph, write_script(graph) + "fc2 = torch.nn.Linear(64, 8)\nlogits = fc2(X)\n", anew=True))
    desk.session.graph_store.load(graph)
    wait_for_shapes(desk)
    desk.click("logits")
    words = "“y” has 10 classes, “fc2” gives 8: it is set to 10."

    def choose(dialog: TrainingDialog) -> None:
        assert dialog.targets.currentText() == "y" and dialog.said.isVisible() and dialog.said.text() == words
        dialog.targets.setCurrentText(NEW)
        assert not dialog.said.isVisible()
        dialog.targets.setCurrentText("y")
        dialog.accept()

    assert ask(desk, choose)
    assert desk.said.endswith(words)
    assert desk.graph.nodes[desk.node("fc2")].literals["out_features"] == "10"
    assert "loss = F.cross_entropy(logits, y_batch)" in lines(desk)
    desk.window.actions["edit.undo"].trigger()
    assert desk.graph.nodes[desk.node("fc2")].literals["out_features"] == "8", "one step"


def test_a_last_layer_is_given_as_many_also_where_the_target_is_wired_already(desk: Desk) -> None:
    graph = data_graph(digits())
    net = "fc2 = torch.nn.Linear(64, 8)\nlogits = fc2(X)\nloss = torch.nn.functional.cross_entropy(logits, y)\n"
    apply_all(graph, merge(graph, write_script(graph) + net, anew=True))
    desk.session.graph_store.load(graph)
    wait_for_shapes(desk)
    desk.click("loss")
    desk.window.actions["graph.training"].trigger()
    assert desk.said.endswith("“y” has 10 classes, “fc2” gives 8: it is set to 10.")
    assert desk.graph.nodes[desk.node("fc2")].literals["out_features"] == "10"
    desk.window.actions["edit.undo"].trigger()
    assert desk.graph.nodes[desk.node("fc2")].literals["out_features"] == "8", "one step"


def test_the_menu_of_a_loss_that_no_loop_learns_yet_leads_there(desk: Desk) -> None:
    def offered(name: str) -> list[Callable[[], object]]:
        rows = [row for row in item_rows(desk.window.canvas, desk.node(name)) if isinstance(row, tuple)]
        return [does for text, does in rows if text.startswith("Add training")]

    assert [len(offered(name)) for name in ("X", "net", "y", "loss")] == [0, 0, 0, 2]
    desk.click("loss")
    offered("loss")[0]()
    assert "for epoch in range" in write_script(desk.graph)
    assert not offered("loss")


OTHER_WIDTH = OPEN.replace("y = (X[:, 0] > 0).long()", "y = X[:, :1] * 2 + 1").replace("Linear(2, 2)", "Linear(2, 8)")


def open_other_width(desk: Desk) -> None:
    """Open it, and wait for its shapes: those of what was open before may still come."""
    desk.open(OTHER_WIDTH)
    known = desk.session.results.inference
    desk.until(lambda: (found := known(desk.node("y"))) is not None and list(found.shape or ()) == [64, 1])


def test_after_a_run_an_edit_counts_at_once_and_not_what_the_run_left(desk: Desk) -> None:
    """The run's prediction has 8 columns, the program's one: the target fits without another run."""
    open_other_width(desk)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    assert desk.session.results.outputs(desk.node("logits")) is not None
    desk.session.graph_store.submit(set_literal(desk.graph, desk.node("net"), "out_features", "1"), "Set")
    desk.window.actions["graph.training"].trigger()
    desk.until(lambda: "loss.backward()" in lines(desk))
    assert "loss = F.mse_loss(logits, y_batch)" in lines(desk)
    assert desk.said == "A loop learns the loss now: Run (F5), and Curves draws it."


def test_a_last_layer_is_given_as_many_outputs_as_the_target_has_columns(desk: Desk) -> None:
    open_other_width(desk)
    words = "“y” has 1 column, “net” gives 8: it is set to 1."

    def choose(dialog: TrainingDialog) -> None:
        assert dialog.targets.currentText() == "y" and dialog.loss.currentText() == "mse_loss"
        assert dialog.said.isVisible() and dialog.said.text() == words
        dialog.epochs.setValue(2)
        dialog.accept()

    assert ask(desk, choose)
    assert desk.said.endswith(words) and desk.graph.nodes[desk.node("net")].literals["out_features"] == "1"
    names: dict[str, Any] = {}
    exec(write_script(desk.graph), names)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.at_end and not desk.session.run.state.busy)
    (record,) = desk.session.results.outputs(desk.node("loss_test")) or ()
    assert isinstance(record, TensorRecord) and record.summary.minimum == names["loss_test"].item()


def test_words_that_come_later_have_room_and_take_none_of_the_fields(desk: Desk) -> None:
    def fill(dialog: TrainingDialog) -> None:
        before = dialog.rate.height()
        dialog.rate.setText("fast")
        dialog.clip.setText("-1")
        QApplication.processEvents()
        assert dialog.rate.height() == before
        assert dialog.said.height() >= dialog.said.heightForWidth(dialog.said.width())
        bottom = dialog.buttons.geometry().bottom()
        assert dialog.said.geometry().bottom() < dialog.buttons.y() and bottom < dialog.height()

    assert ask(desk, fill)


def test_where_nothing_can_be_trained_all_words_are_on_the_canvas(desk: Desk) -> None:
    """The line in the status bar is cut before it says what to do."""
    desk.open(f"{LOSS}with torch.no_grad():\n    net.weight -= 0.1 * net.weight\n")
    desk.window.actions["graph.training"].trigger()
    bubble = desk.window.canvas.bubble
    desk.until(lambda: "Take that away" in bubble.text())
    assert bubble.isVisible() and bubble.text() == desk.said
