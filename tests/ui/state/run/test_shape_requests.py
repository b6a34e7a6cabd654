"""An engine that looks for a shape for too long, or ends over one, is replaced, and is not asked the same again."""

import sys
from collections.abc import Callable, Iterator

import msgspec
import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol import shape_clock
from gradstudio.protocol.messages.events import Event, Log
from gradstudio.protocol.messages.inference import Inferred, PortInference
from gradstudio.ui.state.run import shape_requests
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session

Make = Callable[[str], tuple[Session, list[str]]]


@pytest.fixture
def session(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """With an engine of that mode and no patience at all; and what its log says."""
    monkeypatch.setattr(shape_clock, "SHAPE_PATIENCE_S", -1.0)
    monkeypatch.setattr(shape_requests, "TICK_MS", 300)
    clients: list[EngineClient] = []

    def make(mode: str) -> tuple[Session, list[str]]:
        client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", mode], spare=False)
        clients.append(client)
        client.start()
        qtbot.waitUntil(lambda: client.ready)
        made, said = Session(client), list[str]()

        def hear(event: Event) -> None:
            if isinstance(event, Log):
                said.append(event.text)

        made.engine.received.connect(hear)
        made.graph_store.submit(recipes.add_operator(made.graph_store.graph, "torch.ones", 0, 0)[0], "Add")
        return made, said

    yield make
    for client in clients:
        client.close()


@pytest.mark.parametrize(("mode", "place"), [("dreaming", " at x (line 1)"), ("fainting", "")])
def test_what_ends_the_search_for_shapes_is_not_asked_again_until_the_program_changes(
    qtbot: QtBot, session: Make, mode: str, place: str
) -> None:
    one, said = session(mode)
    words = f"Looking for shapes ended the engine{place}. A run tells them; an edit asks again."
    qtbot.waitUntil(lambda: words in said)
    qtbot.waitUntil(lambda: one.engine.ready)
    one.run.run()
    qtbot.waitUntil(lambda: one.run.state.outcome == "done")
    assert said.count("asked for shapes") == 1
    one.graph_store.submit(recipes.add_operator(one.graph_store.graph, "torch.zeros", 0, 0)[0], "Add")
    qtbot.waitUntil(lambda: said.count("asked for shapes") == 2)


def test_shapes_that_come_are_waited_for_no_longer(qtbot: QtBot, session: Make) -> None:
    one, said = session("fine")
    node = next(iter(one.graph_store.graph.nodes))
    qtbot.waitUntil(lambda: one.results.inference(node) is not None)
    pid = one.engine.pid
    one.run.run()
    qtbot.waitUntil(lambda: one.run.state.outcome == "done")
    assert one.engine.pid == pid
    assert said == []


def test_nobody_waits_for_shapes_that_another_document_has_taken_the_engine_from(qtbot: QtBot) -> None:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "dreaming"], spare=False)
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    behind, front = Session(client), Session(client)
    clocks = [one.run.shapes.patience.findChild(QTimer) for one in (behind, front)]
    ask(behind)
    qtbot.waitUntil(clocks[0].isActive)
    behind.engine.shown = False
    ask(front)
    qtbot.waitUntil(clocks[1].isActive)
    assert not clocks[0].isActive()
    client.close()


def ask(session: Session) -> None:
    """An edit, behind which shapes are asked for."""
    session.graph_store.submit(recipes.add_operator(session.graph_store.graph, "torch.ones", 0, 0)[0], "Add")


def test_shapes_of_another_document_with_the_same_revision_are_not_taken(qtbot: QtBot, session: Make) -> None:
    one, _ = session("fine")
    answers: list[Inferred] = []

    def hear(event: Event) -> None:
        if isinstance(event, Inferred):
            answers.append(event)

    one.engine.received.connect(hear)
    node = next(iter(one.graph_store.graph.nodes))
    qtbot.waitUntil(lambda: answers != [])
    late = PortInference(node=node, dtype="int64", shape=(9, 9))
    ours = msgspec.structs.replace(answers[0], ports=(late,))
    one.engine.received.emit(msgspec.structs.replace(ours, document="another"))
    assert shape_of(one, node) == (2,)
    one.engine.received.emit(ours)
    assert shape_of(one, node) == (9, 9)


def shape_of(session: Session, node: ItemId) -> tuple[int, ...] | None:
    inference = session.results.inference(node)
    assert inference is not None
    return inference.shape
