"""The end of a training that is wanted: what its signals do, and what is waited for."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from gradstudio.protocol.parent_death import end_with_parent
from gradstudio.protocol.torchrun import torchrun_entry

if TYPE_CHECKING:
    import psutil

ENDS: Final = tuple(number for number in signal.Signals if number.name in ("SIGINT", "SIGTERM", "SIGHUP"))
ENDING: Final = (
    "Ending: all processes finish their step and keep a checkpoint, which may take up to {seconds:g} s. "
    "Ctrl+C again ends them at once."
)


@contextlib.contextmanager
def handled_ends(handler: Callable[..., None]) -> Iterator[None]:
    """What is done meanwhile where this process is told to end."""
    before = [(number, signal.signal(number, handler)) for number in ENDS]
    try:
        yield
    finally:
        for number, other in before:
            signal.signal(number, other)


def outlive_starter() -> int | None:
    """Go on in a process of our own, and stand here for it: its exit code here, None there.

    When a window is closed its process is gone at once, by any signal, and what it stood for hears that it is to end.
    """
    if not hasattr(os, "fork"):
        return None
    end_with_parent(signal.SIGTERM)
    child = os.fork()
    if not child:
        end_with_parent(signal.SIGTERM)
        return None

    def pass_on(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    with handled_ends(pass_on):
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def say_ending(number: int) -> None:
    """To who has pressed Ctrl+C."""
    if number == signal.SIGINT:
        sys.stderr.write(f"{ENDING.format(seconds=torchrun_entry.GRACE_S)}\n")
        sys.stderr.flush()


def end_training(process: "subprocess.Popen[bytes]", number: int) -> None:
    """Have torchrun end its processes, which finish a step and keep a checkpoint; who takes long is killed.

    `number`: of the signal that asks for that. A second one, at any moment, has all of them killed at once.
    """
    import psutil  # a training that comes to its end needs it not

    started: list[psutil.Process] = []
    try:
        started += _started_by(process)
        say_ending(number)
        process.send_signal(signal.SIGINT)
        process.wait(torchrun_entry.GRACE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        started += _started_by(process)
        process.kill()
        process.wait()
    for one in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(started, timeout=torchrun_entry.GRACE_S)


def _started_by(process: "subprocess.Popen[bytes]") -> "list[psutil.Process]":
    import psutil

    return psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
