"""Hosts on the command line: named, checked, forgotten; a run there says what a run here says, with the same code."""

import json
import sys
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.paths import examples
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.messages.events import Hello
from gradstudio.protocol.messages.hosting import Stay
from tests.helpers.host_line import HostLine

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("engines_are_forks")]
EXAMPLE = str(next(iter(sorted(examples().glob("02_*.gsg")))))


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["hosts", "add", "shell", "--command", "sh -c {engine}", "--python", sys.executable]) == 0
    capsys.readouterr()
    return "shell"


def test_hosts_are_added_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", "add", "gpu1", "me@gpu1", "--python", "~/venv/bin/python"]) == 0
    assert "gradstudio hosts check gpu1" in capsys.readouterr().out
    assert main(["hosts", "list"]) == 0
    assert capsys.readouterr().out.split() == [*"gpu1 ssh me@gpu1 · ~/venv/bin/python · not checked yet".split()]
    assert main(["hosts", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "name": "gpu1", "destination": "me@gpu1", "python": "~/venv/bin/python",
    }  # fmt: skip
    assert main(["hosts", "remove", "gpu1"]) == 0
    assert main(["hosts", "remove", "gpu1"]) == 2
    assert "There is no host “gpu1”" in capsys.readouterr().err


@pytest.mark.parametrize("is_before", [True, False])
def test_the_folder_of_settings_may_stand_before_each_verb_and_behind_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, is_before: bool
) -> None:
    folder = ("--config-dir", str(tmp_path / "other"))

    def hosts(*words: str) -> int:
        return main(["hosts", *folder, *words] if is_before else ["hosts", *words, *folder])

    line = ("--command", "sh -c {engine}", "--python", "/nope/python")
    assert hosts("add", "gpu1", *line) == 0
    capsys.readouterr()
    assert main(["hosts", "list"]) == 0
    assert capsys.readouterr().out == ""  # the usual settings have no host
    assert hosts("list", "--json") == 0
    assert json.loads(capsys.readouterr().out)["name"] == "gpu1"
    assert hosts("check", "gpu1") == 1  # there, and asked: it has no such Python
    assert hosts("running", "gpu1") == 1
    assert hosts("remove", "gpu1") == 0
    assert hosts("remove", "gpu1") == 2


def test_a_check_says_what_is_there_and_keeps_its_devices(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["hosts", "check", shell]) == 0
    said = capsys.readouterr().out
    for word in ("Python", "torch", "GradStudio", "devices", "round trip"):
        assert word in said
    assert main(["hosts", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["devices"][0]["name"] == "cpu"
    assert main(["hosts", "check", shell, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["ok"], data["python"], data["problem"]) == (True, sys.version.split()[0], "")


def test_a_check_of_what_is_no_python_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", "add", "a", "--command", "sh -c {engine}", "--python", "/nope/python"]) == 0
    assert main(["hosts", "check", "a"]) == 1
    assert "PROBLEM" in (said := capsys.readouterr().out) and "“/nope/python” is not found there" in said


def test_a_run_there_says_what_a_run_here_says(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert main(["run", EXAMPLE, "--json", "--trace"]) == 0
    here = json.loads(capsys.readouterr().out)
    assert main(["run", EXAMPLE, "--json", "--trace", "--host", shell]) == 0
    there = json.loads(capsys.readouterr().out)
    for report in (here, there):
        for row in report["trace"]:
            row.pop("seconds", None)
    assert there == here


def test_a_program_that_fails_there_fails_with_the_code_and_the_words_of_here(
    capsys: pytest.CaptureFixture[str], shell: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.py").write_text("import torch\n\na = torch.ones(2, 3)\nb = torch.matmul(a, a)\n")
    assert main(["run", str(tmp_path / "bad.py")]) == 1
    here = capsys.readouterr().out
    assert main(["run", str(tmp_path / "bad.py"), "--host", shell]) == 1
    assert capsys.readouterr().out == here
    assert "FAILED" in here


def test_what_stays_on_a_host_is_listed_and_ended(
    capsys: pytest.CaptureFixture[str], settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(settings / "cache"))
    assert main(["hosts", "add", "shell", "--command", "sh -c {engine}", "--python", sys.executable]) == 0
    capsys.readouterr()
    assert main(["hosts", "running", "shell"]) == 0
    assert "Nothing stays on “shell”" in capsys.readouterr().err
    line = HostLine(Host("shell", command="sh -c {engine}", python=sys.executable))
    line.say(Stay(name="ab" * 16, title="digits"))
    line.hear(Hello)
    assert main(["hosts", "running", "shell"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("abababab  digits · since ") and "rests" in said
    assert main(["hosts", "running", "shell", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "ab" * 16
    assert main(["hosts", "running", "shell", "--end", "cd"]) == 2
    assert main(["hosts", "running", "shell", "--end", "abab"]) == 0
    line.close()
    assert main(["hosts", "running", "shell", "--json"]) == 0
    assert "abab" not in capsys.readouterr().out.replace("abababab on “shell” was ended.", "")


def test_a_run_on_a_host_that_is_not_known_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", EXAMPLE, "--host", "nobody"]) == 2
    assert "There is no host “nobody”" in capsys.readouterr().err


def test_a_run_on_a_host_that_fails_says_why_at_each_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts", "add", "a", "--command", "sh -c 'exit 9'"]) == 0
    capsys.readouterr()
    assert main(["run", EXAMPLE, "--json", "--host", "a"]) == 1
    assert "ended with code 9" in json.loads(capsys.readouterr().out)["error"]["message"]
