"""Two documents on one engine: each hears what it asked for, and the one that ran last is live."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Log, Memory
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session


@pytest.fixture
def engine(qtbot: QtBot) -> Iterator[EngineClient]:
    client = EngineClient(spare=False)
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    yield client
    client.close()


@pytest.fixture
def two(engine: EngineClient) -> Iterator[tuple[Session, Session]]:
    made = Session(engine), Session(engine)
    made[1].number = 2
    yield made
    for session in made:
        session.close()


def full(session: Session, value: str) -> ItemId:
    store = session.graph_store
    edits, item = recipes.add_operator(store.graph, "torch.full", 0, 0)
    store.submit(edits, "Add")
    for path, text in (("size", "(2,)"), ("fill_value", value)):
        assert store.attempt(recipes.set_literal, "Set", item, path, text)
    return item


def finish(qtbot: QtBot, session: Session) -> None:
    qtbot.waitUntil(lambda: session.run.state.outcome != "" and not session.run.state.busy)


def value(session: Session, item: ItemId) -> object:
    outputs = session.results.outputs(item)
    return outputs[0].summary.value if outputs else None  # type: ignore[union-attr]


@pytest.mark.feature(56)
def test_results_come_to_the_document_that_ran_and_stay_when_another_runs(
    qtbot: QtBot, two: tuple[Session, Session]
) -> None:
    one, other = two
    first, second = full(one, "1.0"), full(other, "2.0")
    words: list[object] = []
    one.run.status.noted.connect(words.append)
    one.run.run()
    finish(qtbot, one)
    assert one.run.state.live and not other.results.outputs(first) and not other.run.state.outcome
    other.run.run()
    finish(qtbot, other)
    assert value(one, first) == value(one, first) is not None and value(other, second) is not None
    assert value(one, first) != value(other, second)
    assert other.run.state.live and not one.run.state.live
    assert one.run.state.outcome == "done" and "Untitled 2" in str(words[-1])
    one.run.run()
    finish(qtbot, one)
    assert one.run.state.live and not other.run.state.live


@pytest.mark.feature(56)
def test_results_stay_current_while_another_document_is_live_and_the_program_is_the_same(
    qtbot: QtBot, two: tuple[Session, Session]
) -> None:
    one, other = two
    item = full(one, "1.0")
    full(other, "2.0")
    one.run.run()
    finish(qtbot, one)
    other.run.run()
    finish(qtbot, other)
    assert value(one, item) is not None and not one.results.stale(item)
    words: list[object] = []
    one.run.status.noted.connect(words.append)
    one.run.come_to_front()
    one.run.come_to_front()
    assert words == ["“Untitled 2” ran since: the live state is gone, what was recorded stays. Run begins anew."], (
        "said once, where a person sees it"
    )
    assert "“Untitled 2” ran since" in one.run.why_not("zero_grad") and one.run.can("run")
    assert one.graph_store.attempt(recipes.set_literal, "Set", item, "fill_value", "3.0")
    qtbot.waitUntil(lambda: one.results.stale(item))
    one.graph_store.undo_stack.undo()
    qtbot.waitUntil(lambda: not one.results.stale(item))
    other.close()
    added = full(one, "5.0")
    qtbot.waitUntil(lambda: one.results.inference(added) is not None)
    assert not one.results.stale(item), "what goes on behind the end leaves the results true"


def test_tensors_of_another_documents_run_are_not_in_ones_own_memory(
    qtbot: QtBot, two: tuple[Session, Session]
) -> None:
    one, other = two
    full(one, "1.0")
    full(other, "2.0")
    for session in two:
        session.run.run()
        finish(qtbot, session)
    one.engine.client.received.emit(Memory(time_s=1e9, device="cpu", series={"tensors": 7, "process": 10**8}))
    assert (one.memory.newest("tensors"), one.memory.newest("process")) == (None, 10**8)
    assert other.memory.newest("tensors") == 7


def test_shapes_are_inferred_without_taking_the_live_state_away(qtbot: QtBot, two: tuple[Session, Session]) -> None:
    one, other = two
    item = full(one, "1.0")
    full(one, "3.0")
    one.run.stepper.step()
    finish(qtbot, one)
    asked = full(other, "2.0")
    qtbot.waitUntil(lambda: other.results.inference(asked) is not None)
    assert one.run.state.live and one.results.inference(asked) is None
    one.run.stepper.step()
    finish(qtbot, one)
    assert one.run.state.at_end and value(one, item) is not None
    assert not other.run.state.live


def test_a_run_that_waited_for_the_engine_ends_where_it_was_asked_for(qtbot: QtBot) -> None:
    client = EngineClient(spare=False)
    one, other = Session(client), Session(client)
    item = full(one, "1.0")
    one.run.run()
    one.engine.shown, other.engine.shown = False, True
    assert one.run.state.waiting
    client.start()
    qtbot.waitUntil(lambda: value(one, item) is not None and not one.run.state.busy)
    assert one.run.state.outcome == "done" and not other.run.state.outcome
    client.close()


def test_while_one_runs_the_other_is_told_so(two: tuple[Session, Session], engine: EngineClient) -> None:
    one, other = two
    full(one, "1.0")
    full(other, "2.0")
    one.run.run()
    assert one.run.state.busy
    assert "“Untitled” is running in another tab" in other.run.why_not("run")
    refused: list[object] = []
    other.run.status.refused.connect(refused.append)
    other.run.run()
    assert refused and not other.run.state.busy


def test_marks_and_words_are_of_the_document_that_runs(qtbot: QtBot, two: tuple[Session, Session]) -> None:
    one, other = two
    full(one, "1.0")
    heard: dict[Session, list[object]] = {one: [], other: []}
    for session in two:
        session.engine.received.connect(heard[session].append)
    one.run.run()
    finish(qtbot, one)
    engine = one.engine.client
    engine.received.emit(Log(level="info", text="of the run"))
    engine.received.emit(Memory(time_s=1.0, device="cpu", series={"tensors": 1}, mark="Run"))
    assert [event for event in heard[one] if isinstance(event, Log)]
    assert not [event for event in heard[other] if isinstance(event, Log)]
    assert [event.mark for event in heard[other] if isinstance(event, Memory)][-1] == ""


def test_a_closed_document_hears_nothing_and_holds_nothing(qtbot: QtBot, two: tuple[Session, Session]) -> None:
    one, other = two
    full(one, "1.0")
    item = full(other, "2.0")
    one.run.run()
    finish(qtbot, one)
    heard: list[object] = []
    one.engine.received.connect(heard.append)
    one.close()
    other.run.run()
    finish(qtbot, other)
    assert value(other, item) is not None and not heard


def test_a_restart_by_one_is_told_to_the_other(qtbot: QtBot, two: tuple[Session, Session]) -> None:
    one, other = two
    full(one, "1.0")
    one.run.run()
    finish(qtbot, one)
    died: list[object] = []
    one.engine.died.connect(died.append)
    other.run.restart_engine()
    assert died == ["it was restarted from another tab"] and not one.run.state.live
