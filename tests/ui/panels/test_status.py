"""The status bar."""

from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages import Memory
from gradstudio.ui.panels.status import StatusBar
from gradstudio.ui.state.run_controller import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add


def bar(qtbot: QtBot, session: Session, theme: Theme) -> StatusBar:
    made = StatusBar(session, theme)
    qtbot.addWidget(made)
    made.show()
    return made


def test_nodes_and_wires_are_counted(qtbot: QtBot, session: Session, dark: Theme, add: Add) -> None:
    status = bar(qtbot, session, dark)
    assert status.counts.text() == "0 nodes · 0 wires"
    add("torch.randn")
    qtbot.waitUntil(lambda: status.counts.text() == "1 node · 0 wires")


def test_a_refusal_is_said(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.graph_store.refused.emit("a loop: a → b → a")
    assert status.message.text() == "a loop: a → b → a"
    session.run.forward()
    assert "nothing to run" in status.message.text()


def test_a_second_pass_and_changes_by_hand_are_told(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.run.state_changed.emit(RunState(live=True, at_end=True))
    assert not status.passes.isVisible()
    session.run.state_changed.emit(RunState(live=True, at_end=True, pass_number=2, changed_by_hand=True))
    assert status.passes.text() == "pass 2 · changed by hand"


def test_the_engines_state_is_a_light_with_words(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.engine.state_changed.emit("dead")
    assert "does not start" in status.light.words.text()


def test_the_memory_of_the_process_is_shown(qtbot: QtBot, session: Session, dark: Theme) -> None:
    status = bar(qtbot, session, dark)
    session.memory.add(Memory(time_s=0.0, device="cpu", series={"tensors": 5, "process": 2**30}))
    qtbot.waitUntil(lambda: status.memory.text() == "RSS 1 GiB")
