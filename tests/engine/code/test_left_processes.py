"""What trusted code starts and leaves behind ends with its engine, however that ends."""

import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Loaded, Paused
from gradstudio.protocol.messages.requests import Do, Load, Trust
from tests.helpers import engine_forks

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="where the system tells of processes")
LEAVES = """import torch
import subprocess, sys, os

started = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
forked = os.fork()
if forked == 0:
    import signal
    signal.pause()
with open("left.txt", "w") as file:
    file.write(f"{started.pid} {forked}")
"""
PATIENCE_MS = 60_000


@pytest.fixture
def engine() -> Iterator[EngineProcess]:
    process = EngineProcess((*engine_forks.STARTED, RUNS_CODE))
    process.wait_until_ready()
    yield process
    process.kill()


def left_by(engine: EngineProcess, folder: Path) -> list[int]:
    """Run what leaves processes behind; their numbers."""
    program = compile_graph(read_script(LEAVES, keeps_code=True).graph)
    engine.send(Load(document="d", revision=0, program=program))
    engine.wait_for(Loaded)
    engine.send(Do(verb="run", trust=Trust(code_digest(program), str(folder / "a.py"), str(folder))))
    paused = engine.wait_for(Paused)
    assert isinstance(paused, Paused)
    assert paused.outcome == "done"
    left = [int(word) for word in (folder / "left.txt").read_text().split()]
    assert len(left) == 2
    assert all(map(lives, left))
    return left


def lives(process: int) -> bool:
    """Whether a process computes: one that ended and that nobody has asked for is none."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def until_gone(processes: list[int]) -> bool:
    """Whether all of them end, waited for."""
    for process in processes:
        try:
            handle = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        ends = select.poll()
        ends.register(handle, select.POLLIN)
        ends.poll(PATIENCE_MS)
        os.close(handle)
    return not any(map(lives, processes))


def test_they_end_when_it_is_closed(engine: EngineProcess, tmp_path: Path) -> None:
    left = left_by(engine, tmp_path)
    assert engine.close() == 0
    assert until_gone(left)


def test_they_end_when_it_is_killed(engine: EngineProcess, tmp_path: Path) -> None:
    left = left_by(engine, tmp_path)
    engine.kill()
    assert until_gone(left)


def test_they_end_with_its_standard_input(engine: EngineProcess, tmp_path: Path) -> None:
    left = left_by(engine, tmp_path)
    assert engine.process.stdin is not None
    engine.process.stdin.close()
    assert until_gone(left)
