"""dev.py does each thing once, in the right order, and goes on where it was interrupted.

The Python of .venv is a fake at the process edge: a script that writes down what it was asked to do.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FAKE_PYTHON = """#!/bin/sh
case "$2" in *find_spec*) echo "$FAKE_TORCH"; exit 0;; esac
echo "$@" | head -n 1 >> "{calls}"
case "$*" in *"$FAKE_FAILS"*) exit 1;; esac
"""


class Checkout:
    """A copy of dev.py beside a project that is as good as empty.

    Attributes:
        folder: where it is.
        calls: the file in which the fake Python writes down its arguments.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls.txt"
        for name in ("dev.py", "pyproject.toml", "constraints"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        (folder / "examples").mkdir()
        (folder / "examples" / "first.gsg").write_text("{}")
        self.python = folder / ".venv" / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        self.python.write_text(FAKE_PYTHON.format(calls=self.calls))
        self.python.chmod(0o755)

    def start(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs dev.py there, with no network and no display unless the environment says so."""
        kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "QT_QPA_PLATFORM")}
        standard = {"https_proxy": "http://127.0.0.1:9", "FAKE_FAILS": "(nothing)", "GRADSTUDIO_TORCH": ""}
        command = [sys.executable, "dev.py", *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**kept, **standard, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self, word: str) -> list[str]:
        """What the fake Python has been asked that holds this word."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line for line in lines if word in line]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_set_up_installs_torch_first_and_then_the_package(checkout: Checkout) -> None:
    assert checkout.start("setup").returncode == 0
    torch, package = checkout.asked("pip install")
    assert "torch --constraint" in torch
    assert "--editable" in package
    assert "[test]" in package


def test_a_second_start_does_nothing_for_the_set_up(checkout: Checkout) -> None:
    checkout.start("setup")
    checkout.calls.unlink()
    assert checkout.start("setup").returncode == 0
    assert not checkout.calls.exists()


@pytest.mark.parametrize("failing", ["torch --constraint", "--editable"])
def test_an_interrupted_set_up_is_taken_up_again(checkout: Checkout, failing: str) -> None:
    failed = checkout.start("setup", FAKE_FAILS=failing)
    assert failed.returncode == 1
    assert "next start" in failed.stderr
    checkout.calls.unlink()
    assert checkout.start("setup").returncode == 0
    assert checkout.asked("--editable")


def test_a_change_of_the_dependencies_is_set_up_anew(checkout: Checkout) -> None:
    checkout.start("setup")
    checkout.calls.unlink()
    with (checkout.folder / "pyproject.toml").open("a") as file:
        file.write("# more\n")
    checkout.start("setup")
    assert checkout.asked("--editable")


def test_the_choice_of_torch_is_kept_or_handed_to_pip(checkout: Checkout) -> None:
    checkout.start("setup", GRADSTUDIO_TORCH="keep")
    assert not checkout.asked("install torch")
    checkout.start("setup", GRADSTUDIO_TORCH="torch==2.14.0 --no-deps")
    assert checkout.asked("pip install torch==2.14.0 --no-deps")


@pytest.mark.parametrize(
    ("line", "kept"), [("cuda: Optional[str] = '13.0'", True), ("cuda: Optional[str] = None", False)]
)
def test_a_gpu_build_that_is_there_is_kept(checkout: Checkout, line: str, kept: bool) -> None:
    torch = checkout.folder / "torch"
    torch.mkdir()
    (torch / "version.py").write_text(f"debug = False\n{line}\nhip: Optional[str] = None\n")
    checkout.start("setup", FAKE_TORCH=str(torch / "__init__.py"))
    assert (not checkout.asked("install torch")) is kept


@pytest.mark.parametrize("environment", [{}, {"DISPLAY": ":7", "QT_QPA_PLATFORM": "offscreen"}])
def test_without_a_display_the_example_is_run_and_drawn_and_this_is_said(
    checkout: Checkout, environment: dict[str, str]
) -> None:
    checkout.start("setup", GRADSTUDIO_TORCH="keep")
    answer = checkout.start("run", GRADSTUDIO_TORCH="keep", **environment)
    assert "No display here" in answer.stdout
    run, render = checkout.asked("-m gradstudio")
    assert run.startswith("-m gradstudio run --backward --trace ")
    assert run.endswith("first.gsg")
    assert "render" in render
    assert "--run -o" in render


def test_with_a_display_the_window_opens_on_what_is_named(checkout: Checkout) -> None:
    checkout.start("setup", GRADSTUDIO_TORCH="keep")
    checkout.start("run", "mine.gsg", DISPLAY=":7", GRADSTUDIO_TORCH="keep")
    assert checkout.asked("-m gradstudio") == ["-m gradstudio mine.gsg"]


def test_the_exit_code_of_what_was_started_is_handed_on(checkout: Checkout) -> None:
    checkout.start("setup", GRADSTUDIO_TORCH="keep")
    assert checkout.start("test", "tests/graph", GRADSTUDIO_TORCH="keep", FAKE_FAILS="pytest").returncode == 1
    assert checkout.asked("-m pytest") == ["-m pytest tests/graph"]


def test_what_a_change_can_break_is_left_to_its_own_tool(checkout: Checkout) -> None:
    checkout.start("setup", GRADSTUDIO_TORCH="keep")
    assert checkout.start("test", "--changed", "HEAD~3", GRADSTUDIO_TORCH="keep").returncode == 0
    assert checkout.asked("-m tools") == ["-m tools.changed HEAD~3"]


def test_an_unknown_verb_is_wrong_usage(checkout: Checkout) -> None:
    assert checkout.start("fly").returncode == 2
    assert not checkout.calls.exists()
