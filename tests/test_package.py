"""What is packed works without the checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that was built from the sdist, not from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheel is installed, and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--no-compile"]
    run(sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(wheel), cwd=folder)
    return folder


def run(*command: str, cwd: Path, **environment: str) -> str:
    """What the command prints.

    Raises:
        AssertionError: it failed; the message is what it said.
    """
    child = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout


# Slow: builds a wheel.
def test_the_wheel_carries_data_examples_and_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for needed in ("resources/catalogue/", "resources/icons/", "resources/themes/", "resources/schema/", "examples/"):
        assert any(name.startswith(f"gradstudio/{needed}") for name in names), needed
    assert "gradstudio/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "tools/", "benchmarks/"))]


def test_an_installed_wheel_runs_an_example_outside_the_checkout(site: Path, tmp_path: Path) -> None:
    where = "import gradstudio.paths as p; print(p.__file__, p.resources(), p.examples())"
    for place in run(sys.executable, "-c", where, cwd=tmp_path, PYTHONPATH=str(site)).split():
        assert place.startswith(str(site))
    example = min((site / "gradstudio" / "examples").glob("*.gsg"))
    command = [sys.executable, "-m", "gradstudio", "run", str(example), "--json"]
    report = json.loads(run(*command, cwd=tmp_path, PYTHONPATH=str(site)))
    assert report["ok"], report
    assert report["nodes"]


def test_an_installed_wheel_has_the_command(site: Path, tmp_path: Path) -> None:
    command = site / "bin" / "gradstudio"
    assert "usage" in run(sys.executable, str(command), "--help", cwd=tmp_path, PYTHONPATH=str(site)).lower()
