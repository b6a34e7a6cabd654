"""A process of the tests that crashes says at the end of the run where it was."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = "from tests.helpers.crashes import watch as pytest_configure\n"
CRASH = """import ctypes


def test_that_reads_nowhere():
    ctypes.string_at(0)
"""


def test_a_crash_in_a_worker_is_told_with_the_line_that_it_was_at(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_crash.py").write_text(CRASH)
    options = ["-p", "no:cacheprovider", "-n", "1", "--rootdir", str(tmp_path), "-c", "/dev/null"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 1
    summary = run.stdout.partition("where gw0 crashed")[2]
    assert "Fatal Python error: Segmentation fault" in summary
    assert 'test_crash.py", line 5 in test_that_reads_nowhere' in summary
