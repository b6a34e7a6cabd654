"""Lines that are cut at any moment, from either end, and lines that are slow: no document harmed, no process left."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradstudio.document.file import dumps
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.messages.events import Device
from tests.helpers import slow_line, ssh_server
from tests.ui.desk import Desk

pytestmark = pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
PROGRAM = """
import torch

x = torch.tensor(2.0, requires_grad=True)
for step in range(1000000000):
    y = x * 3
y.backward()
"""
DELAY_MS = 200
"""One way: Stop is answered later than an engine of this machine may take."""


@pytest.fixture
def book(desk: Desk, qtbot: QtBot) -> Iterator[HostBook]:
    desk.sit_down(qtbot)
    desk.open(PROGRAM)
    made = HostBook(desk.window.settings.folder)
    yield made
    if desk.session.engine.place:
        desk.window.actions["run.here"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    for host in made.hosts():
        made.remove(host.name)


@pytest.fixture
def connect(desk: Desk, book: HostBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Chooses a host behind a real server, through what stands between."""

    def connected(through: str = "") -> None:
        server = ssh_server.SshServer(tmp_path / "ssh", through)
        monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
        book.add(Host("far", server.destination, python=sys.executable, devices=(Device("cpu", "x"),)))
        (choice,) = (one for one in desk.window.room.hosts.choices() if one.text == "far · cpu")
        desk.window.room.hosts.choose(choice)

    return connected


def family(desk: Desk) -> list[psutil.Process]:
    """The client here, the servers, and the engine there, in that order."""
    client = psutil.Process(desk.session.engine.client.pid)
    return [client, *client.children(recursive=True)]


def is_gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "end"),
    [("idle", "server"), ("running", "here"), ("running", "server"), ("running", "there"), ("edited", "server")],
)
def test_a_cut_harms_no_document_leaves_no_process_and_is_said(desk: Desk, connect, moment: str, end: str) -> None:
    connect()
    desk.until(lambda: desk.session.engine.ready)
    if moment != "idle":
        desk.key(Qt.Key.Key_F5)
        desk.until(lambda: desk.session.results.loops)
    if moment == "edited":
        desk.window.room.graph.set_device("auto")
    document = dumps(desk.graph)
    processes = family(desk)
    client, servers, engine = processes[0], ssh_server.servers_of(processes[0].pid), processes[-1]
    assert len(processes) >= 3 and servers and engine.pid not in servers
    os.kill({"here": client.pid, "server": servers[-1], "there": engine.pid}[end], signal.SIGKILL)
    desk.until(lambda: desk.session.engine.state == "dead")
    assert "“far”" in desk.said and "Restart engine connects again" in desk.said
    assert dumps(desk.graph) == document
    assert not desk.session.run.state.busy
    desk.until(lambda: all(map(is_gone, processes)))
    desk.window.actions["run.restart"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    assert desk.session.engine.place == "far"


def test_over_a_slow_line_stop_waits_for_the_answer_and_the_engine_stays(desk: Desk, connect) -> None:
    connect(f"{sys.executable} {slow_line.__file__} {DELAY_MS} {{server}}")
    desk.until(lambda: desk.session.engine.ready)
    engine = desk.session.engine.hello
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.results.loops)
    desk.key(Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    desk.rest()
    assert desk.session.run.state.outcome == "stopped"
    assert desk.session.run.state.live, "it was not ended"
    assert desk.session.engine.hello is engine


def test_what_was_kept_running_goes_on_alone_and_is_taken_up(desk: Desk, connect) -> None:
    connect()
    desk.until(lambda: desk.session.engine.ready)
    desk.window.actions["run.keep"].trigger()
    assert desk.window.actions["run.keep"].isChecked()
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.results.loops)
    document, client = dumps(desk.graph), desk.session.engine.client
    processes = family(desk)
    os.kill(client.pid, signal.SIGKILL)
    desk.until(lambda: desk.session.engine.state == "dead")
    assert "The line to “far” is broken" in desk.said
    assert "What runs there goes on: Run ▸ Other machines ▸ Take up again" in desk.said
    assert desk.window.status.light.words.text() == "goes on on far"
    assert not any("left" in one.words for one in desk.session.results.loops), "how fast it goes is not known"
    assert not desk.session.results.looking_back and not desk.session.run.state.busy
    assert dumps(desk.graph) == document
    assert not is_gone(processes[-1]), "it goes on"
    desk.window.actions["run.take_up"].trigger()
    desk.until(lambda: desk.session.run.state.busy)
    assert desk.session.engine.place == "far"
    desk.key(Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    desk.until(lambda: not desk.session.run.state.busy)
    assert desk.session.run.state.outcome == "stopped" and desk.session.run.state.live
    desk.window.actions["run.keep"].trigger()
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: all(map(is_gone, processes)))
