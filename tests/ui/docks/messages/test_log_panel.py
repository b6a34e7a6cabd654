"""Log and Problems: what is said, and where a click goes."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages.events import Hello, Log, Printed, Warned
from gradstudio.ui.docks.messages.log_panel import LogPanel
from gradstudio.ui.docks.messages.message_model import MAX_LINES, Entry, EntryModel
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add


def lines(model: EntryModel) -> list[tuple[str, str]]:
    return [(entry.severity, entry.text) for entry in model.entries]


def test_prints_warnings_and_words_of_the_engine_are_kept_in_order(
    qtbot: QtBot, session: Session, dark: Theme, add: Add
) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    item = add("torch.randn")
    session.engine.received.emit(Hello(protocol=1, ready=True, pid=1, torch="2.13.0", python="3.11"))
    session.results.tables.add_print(Printed(node=item, line=3, text="one\ntwo"))
    session.results.tables.add_warning(Warned(node=item, line=3, category="UserWarning", message="careful"))
    session.engine.received.emit(Log(level="error", text="no such device"))
    assert [severity for severity, _ in lines(log.model)] == ["info", "print", "print", "warning", "error"]
    assert [text for _, text in lines(log.model)][1:3] == ["one", "two"]
    assert log.model.entries[1].where == session.graph_store.graph.nodes[item].names[0]


def test_the_end_of_a_verb_is_told_with_its_time_and_pass(qtbot: QtBot, session: Session, dark: Theme) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    session.run.state_changed.emit(RunState(busy=True, verb="forward"))
    session.run.state_changed.emit(RunState(verb="forward", outcome="done", seconds=0.0123, pass_number=2))
    assert lines(log.model) == [("info", "Forward  pass 2  12.3 ms")]


def test_a_flood_of_lines_drops_the_oldest() -> None:
    model = EntryModel()
    for k in range(MAX_LINES + 10):
        model.add(Entry("print", str(k)))
    assert model.rowCount() <= MAX_LINES
    assert model.entries[-1].text == str(MAX_LINES + 9)


def test_zero_grad_is_told_once_in_the_engines_words(qtbot: QtBot, session: Session, dark: Theme) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    session.run.state_changed.emit(RunState(busy=True, verb="zero_grad"))
    session.engine.received.emit(Log(level="info", text="Zero grad: .grad = None on 1 leaf."))
    session.run.state_changed.emit(RunState(verb="zero_grad", outcome="done", seconds=0.001))
    assert lines(log.model) == [("info", "Zero grad: .grad = None on 1 leaf.")]


def test_why_a_run_was_lost_is_told_once(qtbot: QtBot, session: Session, dark: Theme) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    session.run.state_changed.emit(RunState(busy=True, verb="run"))
    words = "Rank 1 was killed at line 7. All ranks were ended, and begin from nothing"
    session.engine.received.emit(Log(level="error", text=f"{words}."))
    lost = "what it held is lost; the document is not."
    session.run.state_changed.emit(RunState(verb="run", outcome="died", reason=f"{words}; {lost}"))
    assert lines(log.model)[1:] == [("error", f"Run: lost  W{lost[1:]}")]
    session.run.state_changed.emit(RunState(busy=True, verb="run"))
    session.run.state_changed.emit(RunState(verb="run", outcome="died", reason="Another reason; it is told."))
    assert lines(log.model)[-1] == ("error", "Run: lost  Another reason; it is told.")


@pytest.mark.parametrize(("outcome", "severity"), [("stopped", "info"), ("died", "error"), ("failed", "error")])
def test_a_stop_is_told_calmly_and_a_death_is_not(
    qtbot: QtBot, session: Session, dark: Theme, outcome: str, severity: str
) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    session.run.state_changed.emit(RunState(busy=True, verb="run"))
    session.run.state_changed.emit(RunState(verb="run", outcome=outcome, reason="why"))
    assert [severity for severity, _ in lines(log.model)] == [severity]


def test_a_run_over_less_than_is_drawn_names_what_did_not_run(
    qtbot: QtBot, session: Session, dark: Theme, add: Add
) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    add("torch.randn")
    waiting = [add("torch.exp"), add("torch.exp")]
    names = [session.graph_store.graph.nodes[item].names[0] for item in waiting]
    session.run.state_changed.emit(RunState(busy=True, verb="run"))
    session.run.state_changed.emit(RunState(verb="run", outcome="done", at_end=True))
    assert lines(log.model)[1] == ("warning", f"2 nodes did not run: {names[0]}, {names[1]}. See Problems.")


def test_an_error_is_wrapped_so_that_it_can_be_read_whole(qtbot: QtBot, session: Session, dark: Theme) -> None:
    log = LogPanel(session, dark)
    qtbot.addWidget(log)
    log.resize(320, 300)
    log.show()
    log.add("print", "word " * 40)
    log.add("error", "word " * 40)
    log.add("info", "Run: stopped  " + "word " * 40)
    heights = [log.view.visualRect(log.model.index(row, 0)).height() for row in range(3)]
    assert heights[1] >= 3 * heights[0] and heights[2] >= 3 * heights[0]
    log.resize(2000, 300)
    qtbot.waitUntil(lambda: log.view.visualRect(log.model.index(1, 0)).height() == heights[0])
    log.resize(320, 300)
    qtbot.waitUntil(lambda: log.view.visualRect(log.model.index(1, 0)).height() == heights[1])
