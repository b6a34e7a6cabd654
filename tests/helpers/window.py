"""GradStudio as a program of its own on a virtual display."""

import subprocess
import sys
from pathlib import Path

import psutil

from tests.helpers.display import Display
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

TITLE = "GradStudio"


class Window:
    """GradStudio on a display, as a program of its own.

    Attributes:
        process: the program.
        number: X's number of its window, once it is open.
    """

    def __init__(self, screen: Display, file: Path) -> None:
        """Start on a file, with settings beside it: what another run left behind would ask questions here."""
        self._screen = screen
        self._words = file.with_suffix(".log").open("w+")
        command = [sys.executable, "-m", "gradstudio", str(file), "--config-dir", str(file.parent / "settings")]
        self.process = subprocess.Popen(command, env=screen.environment, stdout=self._words, stderr=self._words)
        self.number = ""

    def wait_until_open(self) -> None:
        """Waits for its window.

        Raises:
            AssertionError: the program has ended instead; with what it has printed.
        """
        wait_until("a window", lambda: self._screen.has_window(TITLE) or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise AssertionError(f"it has ended with {self.process.returncode}: {self.words()}")
        self.number = self._screen.activate(TITLE)

    def press(self, *keys: str) -> None:
        """Presses keys, in xdotool's names."""
        self._screen.press(*keys)

    def wait_for_end(self) -> int:
        """Waits until the program has ended.

        Returns:
            Its exit code.

        Raises:
            AssertionError: it goes on; with what it has printed, and its windows.
        """
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it goes on, with {self._screen.window_titles()}: {self.words()}") from error

    def engines(self) -> set[int]:
        """The process ids of its engines."""
        return {child.pid for child in self.children() if is_engine(child)}

    def children(self) -> list[psutil.Process]:
        """The processes that it has started, and theirs."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def words(self) -> str:
        """What the program has printed or complained of."""
        self._words.seek(0)
        return self._words.read()

    def close(self) -> None:
        """Ends the program, if it has not ended by itself."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(PATIENCE_SECONDS)
        self._words.close()


def is_engine(process: psutil.Process) -> bool:
    """Whether the process is an engine, and alive."""
    try:
        return "gradstudio.engine" in process.cmdline()
    except psutil.Error:
        return False
