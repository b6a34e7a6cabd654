"""A forked engine is told from a started one by its cost alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from gradstudio import sweep_command
from gradstudio.protocol import client
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.hosts import porter
from gradstudio.protocol.messages.events import Paused
from gradstudio.protocol.messages.requests import Do, Load
from gradstudio.protocol.ranks.rank_command import leader_command
from gradstudio.ui.state.run import engine_client
from tests.engine.build import program
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(not engine_forks.is_possible(), reason="this system cannot fork an engine")


def ended(code: str) -> int:
    """How an engine ends that runs this code before it begins."""
    engine = EngineProcess(engine_forks.changed_by(code), stderr=subprocess.DEVNULL)
    engine.process.wait(PATIENCE_SECONDS)
    return engine.kill()


def test_each_is_a_process_of_its_own_in_which_nothing_has_run() -> None:
    with EngineProcess() as one, EngineProcess() as other:
        assert one.wait_until_ready().pid != other.wait_until_ready().pid
        one.send(Load(document="d", revision=1, program=program("torch.set_default_dtype(torch.float64)")))
        one.send(Do(verb="run"))
        one.wait_for(Paused)
        other.send(Load(document="d", revision=1, program=program("assert torch.ones(1).dtype == torch.float32")))
        other.send(Do(verb="run"))
        assert other.wait_for(Paused).outcome == "done"  # type: ignore[union-attr]


def test_those_of_a_window_and_of_commands_are_forks_and_a_leader_of_ranks_is_none() -> None:
    assert client.COMMAND is not engine_forks.STARTED
    assert engine_client.COMMAND == sweep_command.COMMAND == porter.COMMAND == client.COMMAND
    assert leader_command(2)[: len(engine_forks.STARTED) - 1] == engine_forks.STARTED[:-1]


def test_it_ends_with_its_input_and_when_it_is_killed() -> None:
    engine = EngineProcess()
    asked = psutil.Process(engine.wait_until_ready().pid)
    assert engine.close() == 0
    assert psutil.wait_procs([asked], PATIENCE_SECONDS)[1] == []
    engine = EngineProcess()
    killed = psutil.Process(engine.wait_until_ready().pid)
    assert engine.kill() == -signal.SIGKILL
    assert psutil.wait_procs([killed], PATIENCE_SECONDS)[1] == []


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import os; os._exit(7)", 7),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
        ("1 / 0", 1),
        ("import sys; sys.exit(7)", 7),
        ("import sys; sys.exit('words')", 1),
    ],
)
def test_its_end_is_told_as_it_was(code: str, status: int) -> None:
    assert ended(code) == status


def test_folder_and_environment_are_those_of_who_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADSTUDIO_WORD", "a=b\nc")
    assert ended("import os; open(os.environ['GRADSTUDIO_WORD'][:3], 'w'); os._exit(0)") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a=b"]


def test_with_other_threads_it_is_started_in_earnest_and_the_next_is_a_fork_as_before() -> None:
    threads = torch.get_num_threads()
    kept = program(f"assert torch.get_num_threads() == {threads}")
    more = str(threads + 1)
    for environment, text in (
        ({**os.environ, "OMP_NUM_THREADS": more}, program(f"assert torch.get_num_threads() == {more}")),
        (None, kept),
    ):
        with EngineProcess(environment=environment) as engine:
            is_started = engine.wait_until_ready().pid == engine.process.pid
            engine.send(Load(document="d", revision=1, program=text))
            engine.send(Do(verb="run"))
            assert engine.wait_for(Paused).outcome == "done"  # type: ignore[union-attr]
            assert is_started == (environment is not None)


def test_what_others_start_is_started_in_earnest_again_behind_an_error() -> None:
    before = os.environ.get("PYTHONPATH")
    with pytest.raises(ValueError, match="in it"), engine_forks.everywhere():
        raise ValueError("in it")
    assert os.environ.get("PYTHONPATH") == before


SAYS = """
import os, signal, sys

def end(number, _):
    os.write(1, b"heard %d\\n" % number)  # a print here may fall into the one below
    sys.exit(7)

signal.signal(signal.SIGTERM, end)
print(__name__, sys.argv[1:], sys.path[0], "torch" in sys.modules, flush=True)
while True:
    signal.pause()
"""


def test_a_rank_of_torchrun_is_a_fork_that_runs_its_file_and_hears_what_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "says.py").write_text(SAYS)
    words = [sys.executable, "-u", "says.py", "--steps", "3"]
    with engine_forks.ranks():
        rank = {**os.environ, "TORCHELASTIC_RUN_ID": "one"}
        process = subprocess.Popen(words, cwd=tmp_path, env=rank, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"__main__ ['--steps', '3'] {tmp_path} True\n"
        process.terminate()
        assert process.stdout.readline() == f"heard {int(signal.SIGTERM)}\n"
    assert process.returncode == 7
