"""What takes long says so on standard error, with its place, and Ctrl+C ends it at once."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gradstudio.advice.problem_report import slow_words
from gradstudio.cli import main
from gradstudio.protocol.engine_on_demand import EngineOnDemand
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS

ENDLESS = "x = 2\nfor i in range(100):\n    x = x * x\n"


@pytest.mark.parametrize(
    ("line", "turn", "words"),
    [
        (None, 0, "still running; Ctrl+C stops it"),
        (3, 1, "still running (line 3); Ctrl+C stops it"),
        (3, 1200, "still running (line 3, turn 1,200); Ctrl+C stops it"),
    ],
)
def test_the_words_have_the_place_as_far_as_it_is_known(line: int | None, turn: int, words: str) -> None:
    assert slow_words(line, turn) == words


def test_a_run_that_lasts_says_where_it_is_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "squares.py"
    path.write_text(ENDLESS)
    with engine_forks.everywhere():
        process = subprocess.Popen(
            [sys.executable, "-m", "gradstudio", "run", str(path)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    try:
        told = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert told.startswith("still running (line 3, turn ")
    assert (process.returncode, rest.strip()) == (130, "Interrupted.")


def test_after_ctrl_c_the_engine_is_ended_and_not_waited_for() -> None:
    engine = EngineOnDemand()
    process, _ = engine.ready()
    with pytest.raises(KeyboardInterrupt), engine:
        raise KeyboardInterrupt
    assert process.process.returncode != 0  # asked by the end of its input, it would have ended with 0


def test_json_is_not_disturbed(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("gradstudio.protocol.runner.PATIENCE_S", 0.001)
    path = tmp_path / "short.py"
    path.write_text("import torch\nx = torch.ones(2)\nfor i in range(3000):\n    x = x + 1\n")
    assert main(["run", str(path), "--json"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", str(path)]) == 0
    assert "still running" in capsys.readouterr().err


def test_a_module_whose_code_lasts_says_so(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("gradstudio.import_command.PATIENCE_S", 0.001)
    path = tmp_path / "net.py"
    path.write_text("from torch import nn\nnet = nn.Linear(2, 2)\n")
    assert main(["import", f"{path}:net", "--run-code", "--input", "torch.ones(2)"]) == 0
    assert capsys.readouterr().err == "still running net.py's code (Ctrl+C stops it)\n"
