"""A drawing computes and nothing else: no escape leaves a mark whatever is done with its file; each run refuses it."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document.errors import DocumentError
from gradstudio.document.file import load
from gradstudio.program.errors import NotReadable
from gradstudio.program.forms.form_table import FORMS
from gradstudio.program.reading.reader import read_script
from tests.escapes import ESCAPES, as_document, as_text

pytestmark = pytest.mark.usefixtures("engines_are_forks")
MARK = "CANARY"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every escape as a text and as a document, in a folder where its mark would appear."""
    folder = tmp_path_factory.mktemp("escapes")
    mark = str(folder / MARK)
    for number, body in enumerate(ESCAPES.values()):
        marked = body.replace(MARK, mark)
        (folder / f"{number}.py").write_text(as_text(marked).replace(f"'{MARK}'", repr(mark)))
        (folder / f"{number}.gsg").write_text(as_document(marked).replace(f"'{MARK}'", repr(mark)))
    return sorted(folder.iterdir())


def left_behind(files: list[Path]) -> list[str]:
    return [path.name for path in files[0].parent.iterdir() if path.name == MARK]


def test_every_run_refuses_and_says_where(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--json", "--backward", *map(str, files)]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(reports) == len(files)
    assert [report["file"] for report in reports if report["ok"] or not report["error"]["message"]] == []
    assert left_behind(files) == []


def test_a_recorded_run_refuses_too(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--json", "--trace", *map(str, files)]) != 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [report["file"] for report in reports if report["ok"]] == []
    assert left_behind(files) == []


def test_checking_executes_nothing(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *map(str, files)]) != 0
    assert capsys.readouterr().out
    assert left_behind(files) == []


def test_exporting_executes_nothing(files: list[Path], tmp_path: Path) -> None:
    for path in files:
        for form in FORMS:
            main(["export", str(path), "--as", form.name, "-o", str(tmp_path / "out.py")])
    assert left_behind(files) == []


def test_reading_executes_nothing(files: list[Path]) -> None:
    for path in files:
        with contextlib.suppress(NotReadable, DocumentError):
            read_script(path.read_text()) if path.suffix == ".py" else load(path)
    assert left_behind(files) == []


# Slow: a window and an engine of its own for each.
@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 6, 7, 14, 21])
def test_rendering_with_a_run_executes_nothing(files: list[Path], number: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gradstudio", "render", str(files[0].parent / f"{number}.gsg"), "--run"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run([*command, "-o", str(tmp_path / "out.png")], env=environment, capture_output=True, check=False)
    assert left_behind(files) == []
