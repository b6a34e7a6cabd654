"""Where a process of the tests was when it crashed: told at the end of the run, where it is looked for."""

import faulthandler
import os
import tempfile
from pathlib import Path
from typing import Final, TextIO

import pytest

FOLDER: Final = "crash_folder"
"""By this name xdist hands its workers the folder that their stacks go to."""


class Crashes:
    """The files that `faulthandler` writes to; one for each worker, empty unless it crashes."""

    def __init__(self) -> None:
        """Nothing is written yet."""
        self.folder = Path(tempfile.mkdtemp(prefix="gradstudio-crashes-"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Tell a worker of xdist where its stack goes."""
        node.workerinput[FOLDER] = str(self.folder)  # type: ignore[attr-defined]  # xdist has no types

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the stack of each worker that crashed."""
        for file in sorted(self.folder.iterdir()):
            if told := file.read_text(errors="replace"):
                terminalreporter.section(f"where {file.name} crashed")
                terminalreporter.write_line(told)

    def pytest_unconfigure(self) -> None:
        """Remove the files."""
        for file in self.folder.iterdir():
            file.unlink()
        self.folder.rmdir()


class Worker:
    """One process of xdist's, whose stacks are written to a file of its own."""

    def __init__(self, folder: str) -> None:
        """The file is there, and empty."""
        name = os.environ.get("PYTEST_XDIST_WORKER", str(os.getpid()))
        self._file: TextIO = (Path(folder) / name).open("w")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """After pytest's own, which would write among the dots."""
        faulthandler.enable(self._file)


def watch(config: pytest.Config) -> None:
    """Have what crashes told, in the process that hands out the tests and in each that runs them."""
    handed: dict[str, str] = getattr(config, "workerinput", {})
    config.pluginmanager.register(Worker(handed[FOLDER]) if FOLDER in handed else Crashes())
