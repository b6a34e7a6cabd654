"""Temporary folders: gone with their process; what a killed one left goes with the next, and nothing else does."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gradstudio.temporary_folders import WORKERS_AT, TemporaryFolder, folder_of_workers

KILLED = """
import os, signal
from gradstudio.temporary_folders import TemporaryFolder
(TemporaryFolder("kind").path / "kept").write_text("words")
os.kill(os.getpid(), signal.SIGKILL)
"""

OF_WORKER = """
import multiprocessing.util
from gradstudio.temporary_folders import give_to_workers
give_to_workers()
print(multiprocessing.util.get_temp_dir(), flush=True)
told = lambda: print(multiprocessing.util.get_temp_dir(), flush=True)
made = multiprocessing.get_context("fork").Process(target=told)
made.start()
made.join()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_is_there_for_its_owner_until_it_is_left(place: Path) -> None:
    with TemporaryFolder("kind") as path:
        assert path.parent == place and path.stat().st_mode & 0o077 == 0
        (path / "within").mkdir()
    assert not list(place.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is swept there")
def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_that_is_not_surely_so(place: Path) -> None:
    others = [place / "gradstudio-kind-of_a_person", place / "gradstudio-other-x"]
    for one in others:
        one.mkdir()
    living = TemporaryFolder("kind")
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    (left,) = set(place.iterdir()) - {living.path, *others}
    assert (left / "kept").read_text() == "words"
    with TemporaryFolder("kind") as path:
        assert set(place.iterdir()) == {living.path, path, *others}
    living.remove()
    assert set(place.iterdir()) == set(others)


@pytest.mark.skipif(sys.platform == "win32", reason="no process is forked there")
def test_processes_that_code_starts_have_one_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKERS_AT, "")
    assert folder_of_workers(runs_code=False) is None and not list(place.iterdir())
    folder = folder_of_workers(runs_code=True)
    assert folder is not None and os.environ[WORKERS_AT] == str(folder.path)
    assert folder_of_workers(runs_code=True) is None, "ranks have that of their leader"
    done = subprocess.run([sys.executable, "-c", OF_WORKER], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(folder.path)] * 2
    folder.remove()
    assert not list(place.iterdir())
