"""The group of processes of an engine that runs its user's code: what the code starts ends with the engine."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

RUNS_CODE: Final = "--runs-code"
"""Behind `COMMAND`: an engine that is to run a file of its user's, to which the kernel refuses nothing."""

PROCESSES: Final = "/proc"


def lead_group(arguments: Sequence[str]) -> None:
    """This process, if it was started for code, leads a group of its own, which all that it starts belongs to."""
    if RUNS_CODE in arguments and os.name == "posix":
        with suppress(OSError):
            os.setsid()


def end_group(process: int, arguments: Sequence[str]) -> None:
    """Kill an engine that was started for code with all that it started, and that did not leave its group."""
    if RUNS_CODE in arguments and os.name == "posix" and process > 1:
        with suppress(OSError):  # it leads none yet, or nothing of it is left
            os.killpg(process, signal.SIGKILL)


def end_others(arguments: Sequence[str]) -> None:
    """Kill what this process has started, if it was started for code and the system tells (Linux); not itself."""
    own = os.getpid()
    if RUNS_CODE not in arguments or not os.path.isdir(PROCESSES):
        return
    for name in os.listdir(PROCESSES):
        with suppress(OSError, ValueError):  # no process, or none any more
            process = int(name)
            if process != own and os.getpgid(process) == own:
                os.kill(process, signal.SIGKILL)
