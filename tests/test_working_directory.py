"""A document is opened where it lies: nothing that lies beside it is executed by opening or running it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.document.file import save
from gradstudio.protocol.client import EngineProcess
from gradstudio.ui.state.run.engine_client import EngineClient
from tests.graph.builder import Drawing
from tests.helpers.engine_forks import STARTED
from tests.helpers.patience import PATIENCE_MS

ROOT = Path(__file__).parents[1]
NAMES = "random inspect torch numpy msgspec json argparse psutil bisect sitecustomize PySide6 tempfile".split()


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory full of modules that leave a mark when they are executed."""
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'EXECUTED')!r}, 'a').write({name!r})\n")
    drawing = Drawing()
    drawing.add("torch.rand", name="x", size="(2,)")
    save(drawing.graph, tmp_path / "one.gsg")
    (tmp_path / "two.py").write_text("import torch\n\nx = torch.rand(2)\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    mark = tmp_path / "EXECUTED"
    assert not mark.exists(), mark.read_text()


def run(*words: str, python: tuple[str, ...] = (), **environment: str) -> str:
    command = [sys.executable, *python, "-m", "gradstudio", *words]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("trap")
@pytest.mark.parametrize("name", ["one.gsg", "two.py"])
def test_running_a_file_of_the_working_directory_executes_nothing_else(name: str) -> None:
    assert json.loads(run("run", name, "--json"))["nodes"]["x"]["outputs"][0]["shape"] == [2]


@pytest.mark.usefixtures("trap")
def test_checking_exporting_and_importing_there_execute_nothing_either(trap: Path) -> None:
    run("check", "one.gsg")
    assert "torch.rand(2)" in run("export", "one.gsg").replace("(2,)", "2")
    run("import", "two.py")
    assert (trap / "two.gsg").exists()


@pytest.mark.usefixtures("trap")
def test_the_engine_of_the_command_line_executes_nothing_there() -> None:
    with EngineProcess(STARTED) as engine:
        assert engine.wait_until_ready().ready


@pytest.mark.usefixtures("trap")
def test_the_engine_of_the_window_executes_nothing_there(qtbot: QtBot) -> None:
    client = EngineClient(list(STARTED), spare=False)
    client.start()
    try:
        qtbot.waitUntil(lambda: client.ready, timeout=PATIENCE_MS)
    finally:
        client.close()


def test_a_checkout_that_is_not_installed_finds_its_own_engine(tmp_path: Path) -> None:
    """As the working directory, and by PYTHONPATH from another one; without site-packages' own copy."""
    drawing = Drawing()
    drawing.add("torch.ones", name="x", size="(2,)")
    save(drawing.graph, tmp_path / "one.gsg")
    copy = tmp_path / "checkout"
    copy.mkdir()
    (copy / "resources").symlink_to(ROOT / "resources")
    shutil.copytree(ROOT / "gradstudio", copy / "gradstudio")
    engine = copy / "gradstudio" / "engine" / "__main__.py"
    marked = engine.read_text().replace("def main() -> None:", f"open({str(tmp_path / 'OURS')!r}, 'a')\n\ndef main():")
    engine.write_text(marked)
    for cwd, path in ((copy, ""), (tmp_path, str(copy))):
        (tmp_path / "OURS").unlink(missing_ok=True)
        command = [sys.executable, "-m", "gradstudio", "run", str(tmp_path / "one.gsg")]
        environment = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "OURS").exists()
