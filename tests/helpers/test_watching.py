"""What a test leaves behind or logs in passing is noticed."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import psutil
import pytest
from pytestqt.qtbot import QtBot

from tests.helpers import leaks
from tests.helpers.log_watch import LogWatch


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "PATIENCE_SECONDS", 0.05)


def test_a_widget_that_is_kept_is_noticed_and_one_that_is_forgotten_is_not(qapp: object) -> None:
    from PySide6.QtWidgets import QLabel

    before = leaks.standing()
    kept = QLabel("kept")
    kept.setObjectName("mine")
    QLabel("forgotten")
    assert leaks.left_since(before) == ["widget QLabel 'mine'"]
    del kept
    assert leaks.left_since(before) == []


def test_a_widget_that_is_deleted_later_is_not_left_behind(qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QLabel

    before = leaks.standing()
    label = QLabel("going")
    label.deleteLater()
    assert leaks.left_since(before) == []


@pytest.fixture
def waiting_thread() -> Iterator[threading.Thread]:
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="waiting")
    yield thread
    end.set()
    thread.join()


@pytest.mark.usefixtures("impatient")
def test_a_thread_that_does_not_end_is_noticed(waiting_thread: threading.Thread) -> None:
    before = leaks.standing()
    waiting_thread.start()
    assert leaks.left_since(before) == ["thread waiting"]


@pytest.mark.usefixtures("impatient")
def test_a_process_that_does_not_end_is_noticed_and_ended() -> None:
    before = leaks.standing()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        (words,) = leaks.left_since(before)
        assert words.startswith(f"process {process.pid}")
        assert not psutil.pid_exists(process.pid)


@pytest.mark.logs("to see that it is noticed")
def test_a_warning_in_the_log_is_noticed_and_what_is_below_is_not() -> None:
    with LogWatch() as watch:
        logging.getLogger("gradstudio.x").warning("look %d", 1)
        logging.getLogger("gradstudio.x").info("nothing")
    assert watch.lines == ["WARNING gradstudio.x: look 1"]
