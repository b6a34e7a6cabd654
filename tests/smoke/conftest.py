"""A real window on a virtual display, worked on with keys and mouse from outside."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import display

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def screen() -> Iterator[display.Display]:
    """An X display of its own with a window manager."""
    missing = display.missing()
    if missing:
        pytest.skip(f"no virtual display: {', '.join(missing)} not installed")
    with display.Display() as opened:
        yield opened


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the first example, which may be changed."""
    copy = tmp_path / "mine.gsg"
    shutil.copy(min(EXAMPLES.glob("*.gsg")), copy)
    return copy


class Window:
    """GradStudio on a display, as a program of its own.

    Attributes:
        process: the program.
        number: X's number of its window.
    """

    def __init__(self, screen: display.Display, file: Path) -> None:
        self._screen = screen
        self._words = file.with_suffix(".log").open("w+")
        command = [sys.executable, "-m", "gradstudio", str(file)]
        self.process = subprocess.Popen(command, env=screen.environment, stdout=self._words, stderr=self._words)
        self.number = screen.wait_for_window("GradStudio")

    def press(self, *keys: str) -> None:
        """Presses keys, in xdotool's names."""
        self._screen.press(*keys)

    def wait_for_end(self) -> int:
        """Waits until the program has ended.

        Returns:
            Its exit code.
        """
        return self.process.wait(display.PATIENCE_SECONDS)

    def words(self) -> str:
        """What the program has printed or complained of."""
        self._words.seek(0)
        return self._words.read()

    def close(self) -> None:
        """Ends the program, if it has not ended by itself."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self._words.close()


@pytest.fixture
def window(screen: display.Display, example: Path) -> Iterator[Window]:
    """GradStudio with the copied example open."""
    opened = Window(screen, example)
    yield opened
    opened.close()
