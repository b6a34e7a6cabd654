"""A statement that takes long is named while it does, and no longer when it is over or stopped."""

import sys
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.progress import Running
from gradstudio.ui.app.window.status_bar import StatusBar
from gradstudio.ui.state.run import run_patience
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.run.run_patience import waited_words
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

Make = Callable[[str], Session]


@pytest.fixture
def session(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """With an engine of that mode, and no patience at all."""
    monkeypatch.setattr(run_patience, "PATIENCE_MS", 0)
    monkeypatch.setattr(run_patience, "TICK_MS", 1)
    clients: list[EngineClient] = []

    def make(mode: str) -> Session:
        client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", mode], spare=False)
        clients.append(client)
        client.start()
        qtbot.waitUntil(lambda: client.ready)
        made = Session(client)
        for key in ("torch.ones", "torch.zeros"):
            made.graph_store.submit(recipes.add_operator(made.graph_store.graph, key, 0, 0)[0], "Add")
        return made

    yield make
    for client in clients:
        client.close()


def test_the_node_at_work_is_named_with_a_way_to_end_it_until_it_is_stopped(
    qtbot: QtBot, session: Make, dark: Theme
) -> None:
    one = session("deaf")
    status = StatusBar(one, dark)
    qtbot.addWidget(status)
    first, second = one.graph_store.graph.nodes
    one.run.run()
    qtbot.waitUntil(lambda: one.results.running_seconds > 0 and one.results.running_node == first)
    assert status.message.full.startswith(
        f"{title(one.graph_store.graph, first)} has been running for 1 s. Stop (Shift+F5) ends it"
    )
    assert status.message.node == first
    one.engine.received.emit(Running(line=2, node=second, seconds=7.5))
    named = f"{title(one.graph_store.graph, second)} has been running for 7 s."
    qtbot.waitUntil(lambda: status.message.full.startswith(named))
    one.run.stop()
    qtbot.waitUntil(lambda: not one.run.state.busy)
    assert not one.results.running_seconds
    assert "was replaced" in status.message.full


def test_a_run_that_is_over_is_waited_for_no_longer(qtbot: QtBot, session: Make) -> None:
    one = session("fine")
    one.run.run()
    qtbot.waitUntil(lambda: not one.run.state.busy)
    assert not one.results.running_seconds and not one.results.running_node


def test_an_engine_that_has_not_begun_is_named_instead() -> None:
    words = "The engine has not answered for 4 s. Stop (Shift+F5) ends it"
    assert waited_words("", 4) == words
