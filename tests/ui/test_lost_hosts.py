"""Lines that are cut at any moment, from either end, and lines that are slow: no document harmed, no process left."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from gradstudio.document.file import dumps
from gradstudio.protocol.hosts import host_check
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.messages.events import Device
from gradstudio.ui.dialogs.running_dialog import RunningDialog
from tests.helpers import slow_line, ssh_server
from tests.helpers.patience import wait_until
from tests.ui.desk import Desk, standing

pytestmark = [
    pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one"),
    pytest.mark.usefixtures("engines_are_forks"),
]
PROGRAM = """
import torch

x = torch.tensor(2.0, requires_grad=True)
for step in range(1000000000):
    y = x * 3
y.backward()
"""
TRAINING = """
import torch

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.0001)
for step in range(1000000000):
    loss = ((w - 1) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
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
        desk.session.engine.client.move_to("", None)  # nobody is asked
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


def answer(desk: Desk, button: str) -> None:
    """The next question is answered so."""

    def press() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox) and "Something runs on “far”" in box.text()
        assert box.defaultButton().text() == "Cancel"
        next(one for one in box.buttons() if one.text() == button).click()

    QTimer.singleShot(0, desk.window.frame, press)


def test_what_runs_on_a_host_is_asked_about_before_another_place_is_chosen(desk: Desk, connect) -> None:
    connect()
    desk.open(TRAINING)
    desk.until(lambda: desk.session.engine.ready)
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.results.loops)
    answer(desk, "Cancel")
    desk.window.actions["run.here"].trigger()
    assert desk.session.engine.place == "far" and desk.session.run.state.busy
    answer(desk, "Keep running there")
    desk.window.actions["run.here"].trigger()
    assert desk.session.engine.place == "" and "It goes on on “far”" in desk.said
    desk.until(lambda: desk.session.engine.ready)
    person = Chooser("Take up")
    desk.window.actions["run.running"].trigger()
    assert len(person.seen) == 1 and "computes" in person.seen[0]
    desk.until(lambda: desk.session.run.state.busy and desk.session.engine.place == "far")
    desk.window.actions["run.keep"].trigger()
    answer(desk, "Stop it and switch")
    desk.window.actions["run.here"].trigger()
    assert desk.session.engine.place == ""


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
    light, actions = desk.window.status.light.words, desk.window.actions
    for keeps in (True, False, True):  # each click is seen, and holds for the engine at work
        actions["run.keep"].trigger()
        desk.until(lambda keeps=keeps: light.text().endswith(" · keeps running") == keeps)
        assert actions["run.keep"].isChecked() == keeps
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.results.loops)
    assert light.text() == "far · running · keeps running"
    document, client = dumps(desk.graph), desk.session.engine.client
    processes = family(desk)
    os.kill(client.pid, signal.SIGKILL)
    desk.until(lambda: desk.session.engine.state == "dead")
    menus = desk.window.room.status_menus
    desk.until(lambda: not desk.said)  # it has no room beside what is offered, which has the words
    assert menus.offer is not None and "The line to “far” is broken" in menus.offer.toolTip()
    assert "What runs there goes on: Run ▸ Other machines ▸ Take up again" in menus.offer.toolTip()
    assert desk.window.status.light.words.text() == "goes on on far"
    assert desk.window.actions["run.take_up"].isEnabled()
    assert any(action.text() == "Take up again" for action in menus.engine.actions())
    assert menus.offer.accept.text() == "Take up again"
    assert menus.offer.isVisible() and "“far” goes on without this window" in menus.offer.words.full
    assert not any("left" in one.words for one in desk.session.results.loops), "how fast it goes is not known"
    assert not desk.session.results.looking_back and not desk.session.run.state.busy
    assert dumps(desk.graph) == document
    assert not is_gone(processes[-1]), "it goes on"
    desk.window.actions["run.take_up"].trigger()
    assert desk.session.run.state.busy and not menus.offer.isVisible()
    assert desk.window.actions["run.stop"].isEnabled() and not desk.window.actions["run.run"].isEnabled()
    assert desk.window.status.light.words.text() == "far · telling what was missed"
    desk.until(lambda: desk.session.engine.state == "busy")
    assert desk.session.engine.place == "far"
    desk.key(Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    desk.until(lambda: not desk.session.run.state.busy)
    assert desk.session.run.state.outcome == "stopped" and desk.session.run.state.live
    desk.window.actions["run.keep"].trigger()
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: all(map(is_gone, processes)))


@pytest.mark.slow
def test_a_line_that_is_let_go_there_for_nobody_was_heard_is_said_and_what_runs_is_taken_up(
    desk: Desk, connect
) -> None:
    """A laptop slept, and its line has outlived that."""
    connect()
    desk.until(lambda: desk.session.engine.ready)
    client, (host,) = desk.session.engine.client, HostBook(desk.window.settings.folder).hosts()
    desk.window.actions["run.keep"].trigger()
    desk.until(lambda: client.keeps_running)
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.results.loops)
    processes = family(desk)
    for way in ("the line that began it", "one that took it up"):
        sleep_until_let_go(host)
        desk.until(lambda: desk.session.engine.state == "dead")
        assert client.goes_on, way
        offer = desk.window.room.status_menus.offer
        assert offer is not None and "was not heard there for 8 s" in offer.toolTip(), way
        desk.window.actions["run.take_up"].trigger()
        desk.until(lambda: desk.session.engine.state == "busy")
    sleep_until_let_go(host)
    desk.window.actions["run.keep"].trigger()
    client.move_to("", None)  # before anything is heard of that: it is ended all the same
    desk.until(lambda: all(map(is_gone, processes)))


def sleep_until_let_go(host: Host) -> None:
    """Nothing happens in this window, until nobody is on the line there."""
    wait_until("the line is let go", lambda: [one.is_joined for one in host_check.staying(host)] == [False])


class Chooser(QTimer):
    """A person before the list of what goes on on hosts."""

    def __init__(self, button: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._button = button
        self.timeout.connect(self._look)
        self.start(50)

    def _look(self) -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, RunningDialog) and dialog.list.count() and not self.seen:
            self.seen += [dialog.list.item(row).text() for row in range(dialog.list.count())]
            dialog.list.setCurrentRow(0)
            button = next(one for one in dialog.findChildren(QPushButton) if one.text() == self._button)
            if not button.isEnabled():
                dialog.reject()
            button.click()


def test_another_window_takes_up_what_this_one_began_and_has_its_whole_curve(
    desk: Desk, connect, qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    connect()
    desk.open(TRAINING)
    desk.until(lambda: desk.session.engine.ready)
    desk.window.actions["run.keep"].trigger()
    desk.key(Qt.Key.Key_F5)
    curves = desk.session.results.tables.curves
    desk.until(lambda: curves.names and len(curves.points(curves.names[0])[0]) > 50)
    processes = family(desk)
    with standing(qapp, tmp_path / "other") as other:
        other.qtbot = qtbot
        book = HostBook(other.window.settings.folder)
        book.add(Host("far", "far", python=sys.executable, devices=(Device("cpu", "x"),)))
        other.until(lambda: other.session.engine.ready)
        person = Chooser("Take up")
        other.window.actions["run.running"].trigger()
        assert len(person.seen) == 1 and "computes · another window is on the line" in person.seen[0]
        other.until(lambda: other.session.run.state.busy)
        desk.until(lambda: desk.session.engine.state == "dead")
        offer = desk.window.room.status_menus.offer
        assert offer is not None and "was taken up by another window" in offer.toolTip()
        assert other.session.engine.place == "far"
        other.until(lambda: other.window.actions["run.keep"].isChecked())
        assert other.graph.nodes == desk.graph.nodes and other.graph.wires == desk.graph.wires
        other.window.actions["run.stop"].trigger()
        other.until(lambda: not other.session.run.state.busy)
        assert other.session.run.state.outcome == "stopped" and other.session.run.state.live
        theirs = other.session.results.tables.curves
        turns, losses = theirs.points(theirs.names[0])
        assert list(turns) == list(range(len(turns))) and len(turns) > 50, "none twice, none lost"
        mine = curves.points(curves.names[0])[1]
        assert list(losses[: len(mine)]) == list(mine)
        other.window.actions["run.step"].trigger()
        other.until(lambda: other.session.run.state.outcome == "done" and not other.session.run.state.busy)
        assert other.session.run.state.live, "the run goes on, it does not begin anew"
        other.window.actions["run.here"].trigger()
        other.until(lambda: all(map(is_gone, processes)))
    desk.window.actions["run.keep"].trigger()


def test_a_window_that_closes_leaves_what_it_kept_running(
    desk: Desk, connect, qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    connect()
    host = HostBook(desk.window.settings.folder).find("far")
    with standing(qapp, tmp_path / "other") as other:
        other.qtbot = qtbot
        HostBook(other.window.settings.folder).add(host)
        other.until(lambda: other.session.engine.ready)
        other.open(TRAINING)
        (choice,) = (one for one in other.window.room.hosts.choices() if one.text == "far · cpu")
        other.window.room.hosts.choose(choice)
        other.until(lambda: other.session.engine.ready)
        other.window.actions["run.keep"].trigger()
        other.window.actions["run.run"].trigger()
        other.until(lambda: other.session.results.loops)
        processes = family(other)
    desk.until(lambda: is_gone(processes[0]))
    (found,) = host_check.staying(host)
    assert (found.is_busy, found.is_joined) == (True, False)
    host_check.end_staying(host, found.name)
    desk.until(lambda: all(map(is_gone, processes)))


@pytest.mark.parametrize("moment", ["cut and seen", "cut just now", "slow"])
def test_what_is_no_longer_kept_running_ends_there_when_another_place_is_chosen(
    desk: Desk, connect, qtbot: QtBot, moment: str
) -> None:
    connect(f"{sys.executable} {slow_line.__file__} {DELAY_MS} {{server}}" if moment == "slow" else "")
    desk.until(lambda: desk.session.engine.ready)
    actions, client = desk.window.actions, desk.session.engine.client
    actions["run.keep"].trigger()
    desk.until(lambda: client.keeps_running)
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.results.loops)
    processes = family(desk)
    if moment != "slow":
        os.kill(client.pid, signal.SIGKILL)
    if moment == "cut and seen":
        desk.until(lambda: client.goes_on)
    with qtbot.waitSignal(desk.session.run.status.noted, raising=False, timeout=0) as said:
        actions["run.keep"].trigger()
    is_told = bool(said.args) and "“far” is not on the line" in said.args[0] and "Running on hosts…" in said.args[0]
    assert is_told == (moment == "cut and seen")
    client.move_to("", None)
    if moment == "slow":
        processes[0].kill()
    desk.until(lambda: all(map(is_gone, processes)))
