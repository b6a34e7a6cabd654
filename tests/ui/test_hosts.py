"""Running on another machine from the window: chosen in the toolbar, said when it is lost, back with one click."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from gradstudio.document.file import load
from gradstudio.paths import examples
from gradstudio.protocol.hosts import host_check
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.messages.events import Device
from gradstudio.ui.dialogs.host_dialog import COMMAND, SSH, HostDialog
from gradstudio.ui.state.engines import far_child
from tests.helpers import ssh_server
from tests.helpers.patience import wait_until
from tests.ui.desk import Desk

pytestmark = pytest.mark.usefixtures("engines_are_forks")
PROGRAM = """
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * 3
z = y ** 2
z.backward()
"""
CPU = (Device("cpu", "x86_64"),)
SHELL = Host("shell", command="sh -c {engine}", python=sys.executable, devices=CPU)


@pytest.fixture
def hosts(desk: Desk, qtbot: QtBot) -> Iterator[HostBook]:
    desk.sit_down(qtbot)
    book = HostBook(desk.window.settings.folder)
    book.add(SHELL)
    desk.open(PROGRAM)
    desk.window.toolbar.show_device()
    yield book
    if desk.session.engine.place:
        desk.window.actions["run.here"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    for host in book.hosts():
        book.remove(host.name)
    desk.window.toolbar.show_device()


def run(desk: Desk) -> None:
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.run.state.outcome == "done" and not desk.session.run.state.busy)


def values(desk: Desk) -> list[object]:
    return [desk.value(name) for name in "xyz"]


def choose(desk: Desk, text: str) -> None:
    """Takes an entry of the list of devices, as the hand does."""
    box = desk.window.toolbar.device
    place = [box.itemText(k) for k in range(box.count())].index(text)
    box.setCurrentIndex(place)
    box.activated.emit(place)


def test_the_list_of_devices_has_those_of_hosts_behind_those_of_this_machine(desk: Desk, hosts: HostBook) -> None:
    box = desk.window.toolbar.device
    texts = [box.itemText(k) for k in range(box.count())]
    assert texts == ["auto", "cpu", "shell · auto", "shell · cpu", "", "Add host…"]
    assert box.currentText() == "cpu"
    assert not desk.window.actions["run.here"].isEnabled()


def test_a_program_runs_on_the_host_that_was_chosen_and_shows_what_it_shows_here(desk: Desk, hosts: HostBook) -> None:
    run(desk)
    here = values(desk)
    choose(desk, "shell · cpu")
    assert desk.session.engine.place == "shell"
    assert desk.window.toolbar.device.currentText() == "shell · cpu"
    assert not desk.session.graph_store.undo_stack.canUndo(), "the document has the same device"
    desk.until(lambda: desk.session.engine.ready)
    assert desk.window.status.light.words.text().startswith("shell · torch")
    run(desk)
    assert values(desk) == here == [2.0, 6.0, 36.0]
    desk.window.actions["run.here"].trigger()
    assert desk.window.toolbar.device.currentText() == "cpu"


def test_a_host_that_is_lost_is_said_what_is_shown_stays_and_one_click_leads_back(desk: Desk, hosts: HostBook) -> None:
    choose(desk, "shell · cpu")
    desk.until(lambda: desk.session.engine.ready)
    run(desk)
    shown = values(desk)
    engine = desk.session.engine.client.pid
    os.kill(engine, signal.SIGKILL)
    desk.until(lambda: desk.session.engine.state == "dead")
    assert "The engine on “shell” was ended. Run ▸ Restart engine connects again; what is shown stays." in desk.said
    assert desk.window.status.light.words.text() == "no engine on shell"
    assert values(desk) == shown
    assert not desk.session.run.can("run")
    desk.window.toolbar.way_back.click()
    desk.until(lambda: desk.session.engine.ready)
    assert (desk.session.engine.place, desk.window.toolbar.way_back.isVisible()) == ("", False)
    run(desk)
    assert values(desk) == shown


def test_restart_engine_connects_again(desk: Desk, hosts: HostBook) -> None:
    choose(desk, "shell · cpu")
    desk.until(lambda: desk.session.engine.ready)
    os.kill(desk.session.engine.client.pid, signal.SIGKILL)
    desk.until(lambda: desk.session.engine.state == "dead")
    desk.window.actions["run.restart"].trigger()
    desk.until(lambda: desk.session.engine.ready)
    assert desk.session.engine.place == "shell"
    run(desk)


def test_a_host_without_an_engine_says_why_and_is_not_asked_again_by_itself(desk: Desk, hosts: HostBook) -> None:
    hosts.add(Host("nothing", command="sh -c 'echo no such box >&2; exit 9'", devices=CPU))
    desk.window.toolbar.show_device()
    choose(desk, "nothing · cpu")
    desk.until(lambda: desk.session.engine.state == "dead")
    assert "cannot be used: it ended with code 9." in desk.said
    assert any("no such box" in entry.text for entry in desk.window.log.model.entries)


def test_no_process_stays_when_the_host_is_left(desk: Desk, hosts: HostBook) -> None:
    choose(desk, "shell · cpu")
    desk.until(lambda: desk.session.engine.ready)
    assert desk.session.engine.hello is not None
    far = desk.session.engine.hello.pid
    desk.window.actions["run.here"].trigger()
    desk.until(lambda: not psutil.pid_exists(far) or psutil.Process(far).status() == psutil.STATUS_ZOMBIE)


@pytest.mark.skipif(bool(ssh_server.why_not()), reason=ssh_server.why_not() or "there is one")
def test_a_line_of_ssh_that_falls_silent_is_said(
    desk: Desk, hosts: HostBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ssh_server.SshServer(tmp_path / "ssh")
    monkeypatch.setenv("PATH", f"{server.programs}{os.pathsep}{os.environ['PATH']}")
    hosts.add(Host("far", server.destination, python=sys.executable, devices=CPU))
    desk.window.toolbar.show_device()
    choose(desk, "far · cpu")
    desk.until(lambda: desk.session.engine.ready)
    run(desk)
    shown = values(desk)
    servers = ssh_server.servers_of(desk.session.engine.client.pid)
    assert servers
    for process in servers:
        os.kill(process, signal.SIGSTOP)
    desk.until(lambda: desk.session.engine.state == "dead")
    for process in servers:
        os.kill(process, signal.SIGCONT)
    assert desk.said.startswith("The line to “far” is broken. Run ▸ Restart engine")
    assert values(desk) == shown
    wait_until("the servers are gone", lambda: not any(map(psutil.pid_exists, servers)))


# ------------------------------------------------------------------ stored tensors


class Person(QTimer):
    """Clicks a button of each question that stands.

    Attributes:
        asked: what was asked.
    """

    def __init__(self, words: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._words = words
        self.timeout.connect(self._look)
        self.start(20)

    def _look(self) -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            self.asked.append(box.text())
            next(button for button in box.buttons() if button.text().replace("&", "") == self._words).click()


def test_stored_tensors_are_sent_after_a_yes_and_what_ran_here_runs_there(
    desk: Desk, hosts: HostBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far_child, "ASK_BYTES", 10)
    hosts.add(Host("box", command=f"env XDG_CACHE_HOME={tmp_path}", python=sys.executable, devices=CPU))
    graph = load(next(iter(sorted(examples().glob("07_*.gsg")))))
    desk.session.restore(graph, None)
    desk.window.toolbar.show_device()
    kept = tmp_path / "gradstudio" / "tensors"
    person = Person("Cancel")
    choose(desk, "box · auto")
    desk.until(lambda: desk.session.engine.state == "dead")
    assert "were not sent to “box”" in desk.said and not kept.exists()
    assert len(person.asked) == 1 and person.asked[0].startswith("Send ") and "“box”" in person.asked[0]
    person.stop()
    person = Person("Send")
    for _ in range(2):
        desk.window.actions["run.here"].trigger()
        choose(desk, "box · auto")
        desk.until(lambda: desk.session.engine.ready)
        desk.window.actions["run.run"].trigger()  # without a window manager no window has the keys after a question
        desk.until(lambda: desk.session.run.state.outcome == "done" and not desk.session.run.state.busy)
        assert {path.name for path in kept.iterdir()} == set(graph.tensors)
    assert len(person.asked) == 1, "the second engine had them"
    person.stop()


# ------------------------------------------------------------------ Add host


@pytest.fixture
def dialog(qtbot: QtBot, tmp_path: Path) -> HostDialog:
    made = HostDialog(HostBook(tmp_path))
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_host_is_looked_at_before_it_is_added_and_kept_with_its_devices(
    qtbot: QtBot, dialog: HostDialog, tmp_path: Path
) -> None:
    assert not dialog.check.isEnabled()
    QTest.keyClicks(dialog.name, "shell")
    dialog.way.setCurrentText(COMMAND)
    QTest.keyClicks(dialog.where, "sh -c {engine}")
    dialog.python.setText(sys.executable)
    QTest.mouseClick(dialog.check, Qt.MouseButton.LeftButton)
    assert not dialog.add.isEnabled()
    qtbot.waitUntil(lambda: not dialog.is_checking)
    assert "round trip" in dialog.said.toPlainText()
    assert HostBook(tmp_path).hosts() == (), "nothing is kept before Add"
    assert dialog.add.isDefault() and not dialog.check.isDefault(), "Enter keeps what was looked at"
    assert dialog.send.isEnabled() == (host_check.IS_THERE not in dialog.said.toPlainText())
    QTest.keyClicks(dialog.where, " ")
    dialog.where.setText("sh -c  {engine}")
    assert dialog.check.isDefault(), "it is another one"
    dialog.where.setText("sh -c {engine}")
    QTest.keyClick(dialog.where, Qt.Key.Key_Return)
    (kept,) = HostBook(tmp_path).hosts()
    assert dialog.chosen == kept and kept.devices[0].name == "cpu"


def test_a_known_host_is_shown_and_kept_with_what_was_changed(qtbot: QtBot, tmp_path: Path) -> None:
    HostBook(tmp_path).add(SHELL)
    dialog = HostDialog(HostBook(tmp_path), SHELL)
    qtbot.addWidget(dialog)
    dialog.show()
    assert (dialog.name.text(), dialog.where.text(), dialog.add.text()) == ("shell", "sh -c {engine}", "Connect")
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert HostBook(tmp_path).hosts() == (SHELL,)
    again = HostDialog(HostBook(tmp_path), SHELL)
    qtbot.addWidget(again)
    again.show()
    again.python.setText("/other/python")
    QTest.mouseClick(again.add, Qt.MouseButton.LeftButton)
    (kept,) = HostBook(tmp_path).hosts()
    assert (kept.python, kept.devices) == ("/other/python", ()), "those of another Python are not known"


def test_what_is_no_host_is_said_and_not_added(dialog: HostDialog, tmp_path: Path) -> None:
    QTest.keyClicks(dialog.name, "a b")
    dialog.way.setCurrentText(SSH)
    QTest.keyClicks(dialog.where, "far")
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert dialog.isVisible() and "is no name of a host" in dialog.said.toPlainText()
    assert HostBook(tmp_path).hosts() == ()


def test_a_check_that_is_left_ends_with_the_dialog(qtbot: QtBot, dialog: HostDialog) -> None:
    QTest.keyClicks(dialog.name, "slow")
    dialog.way.setCurrentText(COMMAND)
    QTest.keyClicks(dialog.where, "sh -c 'sleep 1000'")
    QTest.mouseClick(dialog.check, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.is_checking)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.is_checking and dialog.chosen is None
    assert QApplication.activeModalWidget() is None
