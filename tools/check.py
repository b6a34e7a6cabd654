"""Runs everything that CI runs, all of it even when something fails, and ends with one line that sums it up.

Started by `python3 dev.py test`, with the Python of the .venv.
"""

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tools import house, style

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / ".pytest_cache" / "reports"
PURE_ROOMS = ("operators", "graph", "layout", "program", "document", "protocol", "advice", "scene")
COVERAGE = REPORTS / "coverage.json"
COVERAGE_FLOOR = 92
"""Per cent of the lines and branches of the rooms without Qt and torch; what is missing is printed by file."""

PROCESSES = "3"
DISPLAY_TOOLS = {"Xvfb": "xvfb", "xdotool": "xdotool", "openbox": "openbox"}


@dataclass
class Stage:
    """One check: what it is called and what runs it."""

    title: str
    work: Callable[[], bool]
    seconds: float = 0.0
    passed: bool = False


class Beside:
    """A module of this Python that runs beside the stages before its own, on the core that they leave idle.

    What it prints waits for that stage.
    """

    def __init__(self, *command: str) -> None:
        """Start it, in the project's folder."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def has_passed(self) -> bool:
        """Whether it succeeds, waited for; prints what it has printed."""
        printed, _ = self._process.communicate()
        print(printed, end="", flush=True)
        return self._process.returncode == 0


@dataclass
class Counts:
    """What pytest counted, over several of its runs."""

    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = field(default=0.0)

    def add(self, report: Path) -> None:
        """Adds what a JUnit report says, if pytest came so far as to write it."""
        if not report.exists():
            return
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            self.tests += int(suite.get("tests", 0))
            self.failures += int(suite.get("failures", 0))
            self.errors += int(suite.get("errors", 0))
            self.skipped += int(suite.get("skipped", 0))
            self.seconds += float(suite.get("time", 0))

    def line(self, failed_stages: int = 0) -> str:
        """The sum as pytest would print it, and the stages that failed if there are any."""
        passed = self.tests - self.failures - self.errors - self.skipped
        words = {
            "stages failed": failed_stages,
            "failed": self.failures,
            "passed": passed,
            "skipped": self.skipped,
            "errors": self.errors,
        }
        parts = [f"{number} {word}" for word, number in words.items() if number]
        return f" {', '.join(parts) or 'no tests ran'} in {self.seconds:.2f}s ".center(100, "=")


def main() -> int:
    """Runs every stage, prints a row for each and then the sum of all tests.

    Returns:
        0 when all of them passed, else 1.
    """
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    provide_display_tools()
    all_stages = stages()
    passed = run_all(all_stages)
    print_summary(all_stages)
    return 0 if passed else 1


def run_all(all_stages: list[Stage]) -> bool:
    """Runs each stage, also those behind one that failed, and notes how it went.

    Returns:
        Whether all of them passed.
    """
    for stage in all_stages:
        print(f"\n--- {stage.title}", flush=True)
        begin = time.monotonic()
        stage.passed = stage.work()
        stage.seconds = time.monotonic() - begin
    return all(stage.passed for stage in all_stages)


def stages() -> list[Stage]:
    """The checks in their order: the quick ones first, the tests last. The types are begun here, for they take long."""
    types = Beside("mypy")
    return [
        Stage("format (ruff format)", lambda: tool("ruff", "format", "--check", ".")),
        Stage("lint (ruff check)", lambda: tool("ruff", "check", ".")),
        Stage("style (tools/style.py)", lambda: style.main(ROOT) == 0),
        Stage("house (tools/house.py)", lambda: house.main(ROOT) == 0),
        Stage("imports (import-linter)", lambda: program("lint-imports", "--no-logo")),
        Stage("tests of the rooms without Qt and torch", test_pure_rooms),
        Stage("branch coverage of these rooms", report_coverage),
        Stage("types (mypy --strict), begun with the first", types.has_passed),
        Stage("tests of engine, window, command line and package", test_the_rest),
    ]


def test_pure_rooms() -> bool:
    """Tests the rooms without Qt and torch, on three processes, with their branch coverage recorded.

    By slipcover: before Python 3.12 a tracer, as in coverage.py, makes these tests four times as slow.
    """
    folders = [f"tests/{room}" for room in PURE_ROOMS if (ROOT / "tests" / room).exists()]
    source = ",".join(f"gradstudio/{room}" for room in PURE_ROOMS)
    recorder = ["--branch", "--source", source, "--json", "--out", str(COVERAGE)]
    return tool("slipcover", *recorder, "-m", "pytest", "-p", "no:pytest-qt", *on_processes("pure"), *folders)


def report_coverage() -> bool:
    """Holds the branch coverage against its floor and prints the files in which something is missing."""
    floor = ["--fail-under", str(COVERAGE_FLOOR), "--skip-covered"]
    return tool("slipcover", "--branch", *floor, "--merge", str(COVERAGE), "--out", str(COVERAGE))


def test_the_rest() -> bool:
    """Tests what needs torch, Qt, a built wheel or a virtual display, on three processes."""
    return tool("pytest", *on_processes("rest"), *[f"--ignore=tests/{room}" for room in PURE_ROOMS])


def on_processes(report: str) -> list[str]:
    """What pytest is told for that.

    Each takes a part in its order and then from another's end: a file's engine or window is made once, not twice.
    One more than CI has cores: a test of the window waits for its engine and for timers half of its time.
    """
    return ["-n", PROCESSES, "--dist", "worksteal", "--junit-xml", str(REPORTS / f"{report}.xml"), "-q"]


def tool(module: str, *arguments: str) -> bool:
    """Runs a module of this Python in the project's folder.

    Returns:
        Whether it succeeded. Pytest that found no test did not.
    """
    return subprocess.call([sys.executable, "-m", module, *arguments], cwd=ROOT) == 0


def program(name: str, *arguments: str) -> bool:
    """Runs a program that was installed beside this Python."""
    return subprocess.call([str(Path(sys.executable).with_name(name)), *arguments], cwd=ROOT) == 0


def provide_display_tools() -> None:
    """Installs what the tests on a virtual display need, when root; else says what they will be skipped for."""
    missing = [package for command, package in DISPLAY_TOOLS.items() if not shutil.which(command)]
    if not missing or not sys.platform.startswith("linux"):
        return
    if not shutil.which("apt-get") or os.geteuid() != 0:
        print(f"Tests on a virtual display are skipped. For them: sudo apt-get install -y {' '.join(missing)}")
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.call(["apt-get", "-qq", "update"], env=environment)
    command = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing]
    subprocess.call(command, env=environment, stdout=subprocess.DEVNULL)


def print_rows(all_stages: list[Stage]) -> None:
    """Prints how each stage went and how long it took."""
    print()
    for stage in all_stages:
        print(f"{'passed' if stage.passed else 'FAILED':7} {stage.seconds:7.1f} s  {stage.title}", flush=True)


def print_summary(all_stages: list[Stage]) -> None:
    """Prints a row for each stage and, last, what pytest counted."""
    print_rows(all_stages)
    counts = Counts()
    for report in sorted(REPORTS.glob("*.xml")):
        counts.add(report)
    print(counts.line(sum(not stage.passed for stage in all_stages)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
