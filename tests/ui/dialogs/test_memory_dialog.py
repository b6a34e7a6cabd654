"""The question before a program that needs more memory than there is names the node, whose card has the mark."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import Need, PortInference
from gradstudio.scene.card.result_sections import result_sections
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.dialogs.memory_dialog import may_run
from gradstudio.ui.state.run.memory_check import mark_needs
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add

NEED = Need(device="cpu", bytes=41 << 30, free_bytes=19 << 30, node=ItemId("n"))


def answered(button: str, told: list[str]) -> None:
    """Press a button of the question that is about to be asked."""

    def press() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        told.append(f"{box.text()} {box.informativeText()}")
        next(one for one in box.buttons() if one.text().replace("&", "") == button).click()

    QTimer.singleShot(0, press)


@pytest.mark.parametrize(("button", "runs"), [("Run anyway", True), ("Cancel", False)])
def test_the_question_names_the_node_and_the_figures(qtbot: QtBot, button: str, runs: bool) -> None:
    told = list[str]()
    answered(button, told)
    assert may_run(NEED, "c") is runs
    assert "41 GiB on cpu; 19 GiB are free" in told[0]
    assert "run out at c." in told[0]


def test_the_window_asks_with_the_name_of_the_node(window: MainWindow, session: Session, add: Add) -> None:
    told, item = list[str](), add("torch.zeros")
    answered("Cancel", told)
    name = session.graph_store.graph.nodes[item].names[0]
    assert not session.run.memory_check.confirm_size(Need(device="cpu", bytes=2, free_bytes=1, node=item))
    assert f"run out at {name}." in told[0]


def test_the_node_has_the_mark_on_its_own_card(session: Session, add: Add) -> None:
    small, large = add("torch.zeros"), add("torch.ones")
    ports = (
        PortInference(node=small, dtype="float32", shape=(2,)),
        PortInference(node=large, dtype="float32", shape=()),
    )
    need = Need(device="cpu", bytes=41 << 30, free_bytes=19 << 30, node=large)
    session.results.tables.set_inference(mark_needs(ports, (need,)))
    told = [result_sections(session.results, item, ("x",), Shown()) for item in (small, large)]
    assert [well.problem_kind for well in told] == ["", "warning"]
    assert told[1].problem == "This needs about 41 GiB on cpu; 19 GiB are free."
    session.results.tables.set_inference(mark_needs(ports, ()))
    assert result_sections(session.results, large, ("x",), Shown()).problem == ""


def test_a_node_without_results_is_marked_as_well() -> None:
    (port,) = mark_needs((), (NEED,))
    assert (port.node, port.need) == ("n", NEED)
