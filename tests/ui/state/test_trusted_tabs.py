"""Documents with code beside others: each keeps the engine that its code was run in, and what it holds."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.protocol.messages.events import Fetched
from gradstudio.ui.state.run import engine_client
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session

CODE = """import torch
import os

with open("ran.txt", "a") as file:
    file.write("ran")
x = torch.full((2,), {value}, requires_grad=True)
y = (x * x).sum()
y.backward()
"""
DRAWN = "import torch\n\na = torch.full((3,), 5.0)\n"


class Tabs:
    """Documents of one window, one of them in front."""

    def __init__(self, qtbot: QtBot, client: EngineClient, folder: Path) -> None:
        self.qtbot, self.client, self.folder = qtbot, client, folder
        self.sessions: list[Session] = []

    def open(self, text: str) -> Session:
        session = Session(self.client)
        path = self.folder / f"program{len(self.sessions)}.py"
        path.write_text(text)
        session.open(path)
        session.run.code_question.ask = lambda _parts: True
        self.sessions.append(session)
        self.show(session)
        return session

    def show(self, session: Session) -> None:
        for other in self.sessions:
            other.engine.shown = other is session
        session.run.come_to_front()
        self.qtbot.waitUntil(lambda: session.engine.is_ours and session.engine.ready)

    def run(self, session: Session) -> None:
        session.run.run()
        self.qtbot.waitUntil(lambda: session.run.state.outcome == "done" and not session.run.state.busy)

    def fetched(self, session: Session, name: str, *, grad: bool = False) -> Fetched:
        """The table of a value that the engine holds now."""
        graph = session.graph_store.graph
        node = next(node.id for node in graph.nodes.values() if name in node.names)
        with self.qtbot.waitSignal(session.run.questions.fetched) as heard:
            session.run.questions.fetch(node, 0, grad, name, (), (0, 2), (0, 2))
        answer = heard.args[0]
        assert isinstance(answer, Fetched)
        return answer


@pytest.fixture
def tabs(qtbot: QtBot, tmp_path: Path) -> Iterator[Tabs]:
    client = EngineClient(spare=False)
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    made = Tabs(qtbot, client, tmp_path)
    yield made
    for session in made.sessions:
        session.close()
    client.close()


def test_a_drawn_document_in_front_leaves_what_anothers_code_made(tabs: Tabs) -> None:
    code = tabs.open(CODE.format(value=3.0))
    tabs.run(code)
    own, said = tabs.client.pid, list[object]()
    code.run.status.noted.connect(said.append)
    drawn = tabs.open(DRAWN)
    assert drawn.engine.has_walls
    assert tabs.client.pid != own
    tabs.run(drawn)
    assert code.run.state.live and drawn.run.state.live
    tabs.show(code)
    assert tabs.client.pid == own
    assert tabs.fetched(code, "x", grad=True).error == ""
    code.run.zero_grad()
    tabs.qtbot.waitUntil(lambda: not code.run.state.busy)
    assert code.run.state.changed_by_hand
    assert (tabs.folder / "ran.txt").read_text() == "ran", "nothing ran again"
    tabs.show(drawn)
    assert drawn.engine.has_walls and drawn.run.state.live
    assert tabs.fetched(drawn, "a").error == ""
    assert said == []


def test_each_code_has_its_own_engine_and_drawn_ones_share_one_with_walls(tabs: Tabs) -> None:
    drawn = tabs.open(DRAWN)
    tabs.run(drawn)
    pids = [tabs.client.pid]
    for value in (1.0, 2.0):
        tabs.run(tabs.open(CODE.format(value=value)))
        pids.append(tabs.client.pid)
    assert len(set(pids)) == 3
    other = tabs.open(DRAWN)
    assert tabs.client.pid == pids[0]
    tabs.run(other)
    assert not drawn.run.state.live, "as ever: one namespace for all that is drawn"
    for session, pid in zip(tabs.sessions[1:3], pids[1:], strict=True):
        tabs.show(session)
        assert (tabs.client.pid, session.run.state.live) == (pid, True)


def test_so_many_wait_and_no_more(tabs: Tabs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_client, "MOST_ASIDE", 1)
    sessions, engines = [], []
    for value in (1.0, 2.0, 3.0):
        sessions.append(tabs.open(CODE.format(value=value)))
        tabs.run(sessions[-1])
        engines.append(psutil.Process(tabs.client.pid))
    tabs.qtbot.waitUntil(lambda: not engines[0].is_running())
    assert [session.run.state.live for session in sessions] == [False, True, True]
    assert sessions[0].results.outputs(next(iter(sessions[0].graph_store.graph.nodes))) is not None
    tabs.show(sessions[0])
    tabs.run(sessions[0])
    assert sessions[0].run.state.live


def test_a_waiting_engine_ends_with_its_document_and_its_death_is_its_documents(tabs: Tabs) -> None:
    one, two = tabs.open(CODE.format(value=1.0)), tabs.open(CODE.format(value=2.0))
    engines = []
    for session in (one, two):
        tabs.show(session)
        tabs.run(session)
        engines.append(psutil.Process(tabs.client.pid))
    drawn = tabs.open(DRAWN)
    tabs.run(drawn)
    died: list[object] = []
    drawn.engine.died.connect(died.append)
    engines[0].kill()
    tabs.qtbot.waitUntil(lambda: not one.run.state.live)
    assert two.run.state.live and drawn.run.state.live and died == []
    two.close()
    tabs.qtbot.waitUntil(lambda: not engines[1].is_running())
    tabs.sessions.remove(two)
    tabs.show(one)
    tabs.run(one)
    assert one.run.state.live
    tabs.client.close()
    tabs.qtbot.waitUntil(lambda: not psutil.Process().children())


def test_a_document_that_has_no_code_any_more_ends_what_it_began(tabs: Tabs) -> None:
    code = tabs.open(CODE.format(value=1.0))
    tabs.run(code)
    own = psutil.Process(tabs.client.pid)
    graph = code.graph_store.graph
    carried = tuple(node.id for node in graph.nodes.values() if node.operator == "python.code")
    code.graph_store.submit(recipes.delete(graph, carried), "Delete")
    tabs.qtbot.waitUntil(lambda: not own.is_running())
    tabs.qtbot.waitUntil(lambda: code.engine.has_walls and code.engine.ready)
    tabs.run(code)
    assert code.run.state.live


def test_a_spare_for_code_waits_while_a_document_with_code_is_open(qtbot: QtBot, tmp_path: Path) -> None:
    client = EngineClient(spare=True)
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    tabs = Tabs(qtbot, client, tmp_path)
    code = tabs.open(CODE.format(value=1.0))
    qtbot.waitUntil(lambda: client._spare_for_code is not None and client._spare_for_code.ready)
    spare = client._spare_for_code
    assert spare is not None
    pid = int(spare.process.processId())
    assert not (tmp_path / "ran.txt").exists()
    tabs.run(code)
    assert client.pid == pid
    other = tabs.open(CODE.format(value=2.0))
    qtbot.waitUntil(lambda: client._spare_for_code is not None and client._spare_for_code.ready)
    spare = client._spare_for_code
    assert spare is not None
    waiting = psutil.Process(int(spare.process.processId()))
    other.close()
    qtbot.waitUntil(lambda: not waiting.is_running())
    code.close()
    client.close()
    qtbot.waitUntil(lambda: not psutil.Process().children())
