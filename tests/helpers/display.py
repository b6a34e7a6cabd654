"""A virtual X display with a window manager, and a hand that works on it from outside."""

import os
import shutil
import subprocess
from types import TracebackType

from tests.helpers.patience import wait_until

NEEDED = ("Xvfb", "xdotool", "openbox")


def missing() -> list[str]:
    """The programs that a virtual display needs and that are not installed."""
    return [name for name in NEEDED if not shutil.which(name)]


class Display:
    """An X display of its own, there while it is entered.

    Attributes:
        name: as `DISPLAY` wants it.
    """

    def __init__(self, size: str = "1280x800") -> None:
        self._size = size
        self._processes: list[subprocess.Popen[bytes]] = []
        self._manager: subprocess.Popen[bytes] | None = None
        self.name = ""

    def __enter__(self) -> "Display":
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{self._size}x24", "-nolisten", "tcp"]
        self._start(command, pass_fds=(writing,))
        os.close(writing)
        with os.fdopen(reading) as answer:
            self.name = f":{answer.readline().strip()}"
        self._manage()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a program that is to use this display."""
        rest = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
        return {**rest, "DISPLAY": self.name or "(none)", "QT_QPA_PLATFORM": "xcb"}

    def hand(self, *arguments: str) -> str:
        """Lets xdotool do something.

        Returns:
            What it prints, empty when it fails.
        """
        command = ["xdotool", *arguments]
        answer = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        return answer.stdout.strip()

    def has_window(self, title: str) -> bool:
        """Whether a window with this in its title is seen."""
        return bool(self._windows(title))

    def activate(self, title: str) -> str:
        """Gives the keyboard to the window with this in its title; asked again, as the window manager may be late.

        Returns:
            Its number.

        Raises:
            AssertionError: it does not get the keyboard.
        """

        def with_keyboard() -> str:
            self._manage()
            windows = self._windows(title)  # asked anew: the window that was first may have made place for another
            if windows:
                self.hand("windowactivate", windows[-1])
            active = self.hand("getactivewindow")
            return active if active in windows else ""

        wait_until(f"{title} has the keyboard", with_keyboard)
        return with_keyboard()

    def press(self, *keys: str) -> None:
        """Presses and releases keys, in xdotool's names."""
        self.hand("key", "--clearmodifiers", *keys)

    def window_titles(self) -> list[str]:
        """The titles of all windows that are seen."""
        return [self.hand("getwindowname", window) for window in self._windows(".")]

    def _windows(self, title: str) -> list[str]:
        return self.hand("search", "--onlyvisible", "--name", title).split()

    def _manage(self) -> None:
        """Start a window manager, another one where it has ended: without one no window is given the keyboard."""
        if self._manager is None or self._manager.poll() is not None:
            self._manager = self._start(["openbox"])

    def _start(self, command: list[str], pass_fds: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        silent = subprocess.DEVNULL
        environment = self.environment
        process = subprocess.Popen(command, env=environment, stdout=silent, stderr=silent, pass_fds=pass_fds)
        self._processes.append(process)
        return process
