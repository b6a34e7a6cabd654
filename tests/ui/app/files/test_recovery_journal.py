"""The journal: what is done first is on disk at once, and a folder that is out of order is said as long as it is."""

import itertools
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.document.file import View
from gradstudio.document.journal import Recovered, recoverable
from gradstudio.graph import slices
from gradstudio.graph.model import Graph
from gradstudio.ui.app.files import recovery_journal
from gradstudio.ui.app.files.recovery_journal import AGAIN_S, Recovery
from gradstudio.ui.state import idle_work
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add


def journals(folder: Path) -> list[Path]:
    return list(folder.glob("*.recovery"))


def test_the_first_gesture_is_on_disk_when_its_event_is_over(session: Session, add: Add, tmp_path: Path) -> None:
    recovery = Recovery(session, tmp_path)
    add("torch.randn")
    QApplication.processEvents()
    assert len(journals(tmp_path)) == 1
    recovery.close()


def test_each_that_follows_is_on_disk_when_its_event_is_over_where_writing_is_quick(
    session: Session, add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery_journal, "REST", 0)  # whatever this machine does besides
    recovery = Recovery(session, tmp_path, clock=lambda: 0.0)
    for operator in ("torch.randn", "torch.ones", "torch.zeros", "torch.relu"):
        add(operator)
        QApplication.processEvents()
        QApplication.processEvents()
        assert operator in journals(tmp_path)[0].read_text()
    recovery.close()


def test_what_follows_at_once_is_on_disk_a_moment_later_where_writing_takes_long(
    qtbot: QtBot, session: Session, add: Add, tmp_path: Path
) -> None:
    seconds = itertools.count()
    recovery = Recovery(session, tmp_path, clock=lambda: float(next(seconds)))
    add("torch.randn")
    QApplication.processEvents()
    add("torch.ones")
    QApplication.processEvents()
    assert "torch.ones" not in journals(tmp_path)[0].read_text()
    qtbot.waitUntil(lambda: "torch.ones" in journals(tmp_path)[0].read_text())
    recovery.close()
    assert not recoverable(tmp_path)


def test_a_folder_out_of_order_is_said_again_while_it_lasts_and_when_it_is_well(
    session: Session, add: Add, tmp_path: Path
) -> None:
    seconds = [0.0]
    folder = tmp_path / "recovery"
    folder.write_text("a file where the folder should be")
    recovery = Recovery(session, folder, clock=lambda: seconds[0])
    said: list[str] = []
    session.graph_store.refused.connect(said.append)
    add("torch.randn")
    for passed in (0.0, AGAIN_S / 2, AGAIN_S, AGAIN_S + 1):
        seconds[0] = passed
        assert not recovery.write()
    assert len(said) == 2
    assert all("cannot be kept for recovery" in words for words in said)
    folder.unlink()
    assert recovery.write()
    assert recovery.write()
    assert said[2:] == ["Unsaved changes are kept for recovery again."]
    recovery.close()


def test_a_folder_that_is_well_again_is_noticed_without_another_gesture(
    qtbot: QtBot, session: Session, add: Add, tmp_path: Path
) -> None:
    folder = tmp_path / "recovery"
    folder.write_text("a file where the folder should be")
    recovery = Recovery(session, folder)
    add("torch.randn")
    QApplication.processEvents()
    folder.unlink()
    qtbot.waitUntil(lambda: bool(journals(folder)))
    recovery.close()


def test_edits_while_it_is_being_written_are_in_what_is_written(
    qtbot: QtBot, session: Session, add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "AT_ONCE", 1)
    monkeypatch.setattr(idle_work, "SLICE_S", 0.0)
    operators = ["torch.randn", "torch.ones", "torch.zeros"] * 4
    for operator in operators[:9]:
        add(operator)
    recovery = Recovery(session, tmp_path, clock=lambda: 0.0)
    for operator in operators[9:]:
        add(operator)
        QApplication.processEvents()
        assert not journals(tmp_path)
    qtbot.waitUntil(lambda: bool(journals(tmp_path)))
    graph, _ = recoverable_now(tmp_path)
    assert [node.operator for node in graph.nodes.values()] == operators
    recovery.close()


def test_edits_without_end_do_not_keep_it_from_being_written(
    session: Session, add: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "AT_ONCE", 1)
    monkeypatch.setattr(idle_work, "SLICE_S", 0.0)
    seconds = [0.0]
    recovery = Recovery(session, tmp_path, clock=lambda: seconds[0])
    for _ in range(9):
        add("torch.randn")
    while not journals(tmp_path) and seconds[0] < 2.0:
        add("torch.zeros")
        QApplication.processEvents()
        seconds[0] += 0.1
    assert 0.5 <= seconds[0] < 1.0
    recovery.close()


def recoverable_now(folder: Path) -> tuple[Graph, View]:
    """What stands in the only journal, though its program is alive."""
    return Recovered(journals(folder)[0], None, 0.0).load()
