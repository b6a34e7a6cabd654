"""Looks on while an input is read: what Python announces of files, sockets, processes and code, and how long it takes.

An audit hook cannot be taken away again, so one is put in for the whole process, and is armed for each case.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import CodeType, FrameType

from gradstudio.errors import GradStudioError
from gradstudio.graph.errors import EditError

PATIENCE_S = 5.0
"""An answer that takes more CPU time is a failure."""
BLOCKED_S = 60.0
"""So long nobody waits, whatever the machine has to do besides."""
FORBIDDEN = (
    *("socket.", "subprocess.", "ctypes.", "shutil.", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"),
    *("os.system", "os.startfile", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod"),
    *("os.link", "os.symlink", "os.kill", "os.putenv", "code.__new__", "function.__new__", "marshal.", "pickle."),
    *("webbrowser.", "urllib.", "ftplib.", "smtplib.", "sqlite3.", "tempfile.", "pty."),
)
"""Beginnings of the events that reading never raises."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MADE_OF_TEXT = ("<string>", "<gradstudio>", "<unknown>")
"""File names of code that was compiled of a text."""


class Wrong(Exception):
    """What was read is not what it should be."""


class TooSlow(BaseException):
    """The answer did not come in time; no reader of ours may hold it for one of its errors."""


class Watch:
    """What happened while it was armed.

    Attributes:
        seen: the forbidden events, in words.
        seconds: CPU seconds of the last case.
    """

    def __init__(self, patience_s: float | None = PATIENCE_S) -> None:
        """Put the hook in; without patience nothing is interrupted, and no time is judged."""
        self.seen: list[str] = []
        self.seconds = 0.0
        self._patience_s = patience_s
        self._armed = False
        sys.addaudithook(self._on_event)

    @contextlib.contextmanager
    def armed(self) -> Iterator[None]:
        """Look on; what was seen before is forgotten.

        Raises:
            TooSlow: it took longer than the patience.
        """
        self.seen.clear()
        began = time.process_time()
        with self._clock():
            self._armed = True
            try:
                yield
            finally:
                self._armed = False
                self.seconds = time.process_time() - began

    @contextlib.contextmanager
    def _clock(self) -> Iterator[None]:
        if self._patience_s is None:
            yield
            return
        clocks = (
            (signal.SIGVTALRM, signal.ITIMER_VIRTUAL, self._patience_s),
            (signal.SIGALRM, signal.ITIMER_REAL, BLOCKED_S),
        )
        before = [signal.signal(number, _interrupt) for number, _, _ in clocks]
        try:
            for _, clock, seconds in clocks:
                signal.setitimer(clock, seconds)
            yield
        finally:
            for (number, clock, _), handler in zip(clocks, before, strict=True):
                signal.setitimer(clock, 0)
                signal.signal(number, handler)

    def _on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._armed or not _is_forbidden(event, arguments):
            return
        self._armed = False  # what is looked up here is not the input's doing
        if not _is_importing():
            self.seen.append(f"{event}{_short(arguments)}")
        self._armed = True


def verdict(error: BaseException | None) -> str:
    """What is wrong with how an input was answered: "" for a result or an error of ours."""
    match error:
        case None:
            return ""
        case TooSlow():
            return str(error)
        case EditError():
            return f"EditError, which is a bug of ours: {error}"
        case GradStudioError():
            return "" if str(error).strip() else f"{type(error).__name__} without a word"
        case _:
            return f"{type(error).__name__}: {error}"


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGVTALRM:
        raise TooSlow(f"no answer after {PATIENCE_S:g} s of CPU time")
    raise TooSlow(f"no answer after {BLOCKED_S:g} s")


def _is_forbidden(event: str, arguments: tuple[object, ...]) -> bool:
    if event == "open":
        mode, flags = arguments[1], arguments[2]
        return isinstance(flags, int) and bool(flags & WRITING) and mode != "r"
    if event == "exec":
        code = arguments[0]
        return isinstance(code, CodeType) and code.co_filename in MADE_OF_TEXT
    return event.startswith(FORBIDDEN)


def _is_importing() -> bool:
    """Whether a module of ours is being loaded: it may be compiled, kept, and make classes of texts."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _short(arguments: tuple[object, ...]) -> str:
    return repr(arguments)[:200]
