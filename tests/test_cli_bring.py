"""`gradstudio import FILE.py:Name --run-code`: the one verb that runs the user's code, and what that can cost."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from gradstudio.cli import main
from gradstudio.document.file import load, tensor_folder
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

MODELS = Path(__file__).parent / "engine" / "bring" / "models.py"


def test_a_module_becomes_a_document_with_its_tensors(tmp_path: Path, capsys) -> None:
    target = tmp_path / "net.gsg"
    words = ["import", f"{MODELS}:trained", "--run-code", "--input", "torch.ones(2, 8)", "-o", str(target)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert printed == f"{target}: MLP: 9 nodes, 4 parameters, output and gradients equal to the module's bit for bit\n"
    graph = load(target)
    assert len(graph.tensors) == 1
    assert len(list(tensor_folder(target).iterdir())) == 1
    assert main(["run", str(target)]) == 0


def test_without_a_yes_nothing_is_executed(tmp_path: Path, capsys) -> None:
    path = tmp_path / "net.py"
    path.write_text("open('trace', 'w').close()\n")
    assert main(["import", f"{path}:Net", "--input", "torch.ones(1)"]) == 2
    words = capsys.readouterr().err
    assert "--run-code" in words
    assert "would execute" in words
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_yes_needs_the_name_of_a_module(tmp_path: Path, capsys) -> None:
    path = tmp_path / "net.py"
    path.write_text("x = 1\n")
    assert main(["import", str(path), "--run-code"]) == 2
    assert "net.py:Net" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("Raises", 1, "models.py, line {line}: ValueError: not today"),
        ("Exits", 1, "SystemExit(3)"),
        ("Dies", 1, "ended the process that ran it: "),
        ("Missing", 2, "has no 'Missing'"),
        ("OwnBackward", 4, "Secret"),
    ],
)
def test_what_goes_wrong_costs_no_more_than_its_engine(
    tmp_path: Path, capsys, name: str, code: int, words: str
) -> None:
    target = tmp_path / "net.gsg"
    given = ["--run-code", "--input", "torch.ones(2, 2)", "-o", str(target)]
    assert main(["import", f"{MODELS}:{name}", *given]) == code
    line = MODELS.read_text().splitlines().index('        raise ValueError("not today")') + 1
    assert words.format(line=line) in capsys.readouterr().err
    assert not target.exists()


def test_a_file_that_reads_its_arguments_is_given_none(tmp_path: Path, capsys) -> None:
    path, target = tmp_path / "net.py", tmp_path / "net.gsg"
    path.write_text(
        "import argparse\nimport sys\nfrom pathlib import Path\nfrom torch import nn\n\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--width', type=int, default=3)\n"
        "options = parser.parse_args()\n"
        "assert [Path(one) for one in sys.argv] == [Path(__file__)]\n"
        "Net = lambda: nn.Linear(2, options.width)\n"
    )
    words = ["import", f"{path}:Net", "--run-code", "--input", "torch.ones(2, 2)", "-o", str(target)]
    assert main(words) == 0, capsys.readouterr().err
    assert "bit for bit" in capsys.readouterr().out


def test_a_file_that_is_not_there(tmp_path: Path, capsys) -> None:
    assert main(["import", f"{tmp_path / 'none.py'}:Net", "--run-code"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_ctrl_c_ends_an_endless_module_and_its_process(tmp_path: Path) -> None:
    started = tmp_path / "started"
    path = tmp_path / "net.py"
    path.write_text(
        "import os\nfrom pathlib import Path\nfrom torch import nn\n\n\n"
        "class Endless(nn.Module):\n"
        "    def forward(self, x):\n"
        f"        Path({str(started)!r}).write_text(str(os.getpid()))\n"
        "        while True:\n            x = x.detach()\n"
    )
    words = ["import", f"{path}:Endless", "--run-code", "--input", "torch.ones(2)"]
    with engine_forks.everywhere():
        process = subprocess.Popen([sys.executable, "-m", "gradstudio", *words], stderr=subprocess.PIPE, text=True)
    try:
        wait_until("the module", lambda: process.poll() is not None or (started.exists() and started.read_text()))
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 130
    assert told.strip().endswith("Interrupted.")
    wait_until("the end of its engine", lambda: not psutil.pid_exists(int(started.read_text())))


def test_a_directory_has_no_modules(tmp_path: Path, capsys) -> None:
    assert main(["import", f"{tmp_path}:M", "--run-code", "--input", "torch.ones(1)"]) == 2
    assert capsys.readouterr().err.startswith(f"{tmp_path}: this is a directory. Say which file")


def test_a_text_with_a_module_tells_how_it_is_brought(tmp_path: Path, capsys) -> None:
    path = tmp_path / "net.py"
    body = "    def forward(self, x):\n        while True:\n            return x\n"
    path.write_text(f"from torch import nn\nclass Net(nn.Module):\n{body}")
    assert main(["import", str(path)]) == 0
    told = capsys.readouterr().out
    assert "1 of them holds Python that is not drawn." in told
    assert "gradstudio import net.py:Net --run-code" in told
    path.write_text("class Plain:\n    pass\n")
    assert main(["import", str(path)]) == 0
    told = capsys.readouterr().out
    assert "1 of them holds Python that is not drawn." in told
    assert "--run-code" not in told


def test_a_syntax_error_is_told_once(tmp_path: Path, capsys) -> None:
    path = tmp_path / "net.py"
    path.write_text("class Net(nn.Module)\n    pass\n")
    assert main(["import", f"{path}:Net", "--run-code", "--input", "torch.ones(1)"]) == 1
    assert capsys.readouterr().err == "net.py, line 1: SyntaxError: expected ':'\n    class Net(nn.Module)\n"
