"""What starts an engine, and the group of processes of one that runs its user's code: what that starts ends with it."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_START = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); import gradstudio; del sys.path[0]; "
    "runpy.run_module(sys.argv[2], run_name='__main__')"
)
"""Finds this very package wherever it lies, installed or not, and puts no other folder on the path."""
COMMAND = (sys.executable, "-P", "-c", _START, str(Path(__file__).resolve().parents[2]), "gradstudio.engine")
"""Starts the engine; never with the working directory on its path, where a ``random.py`` would be executed."""

RUNS_CODE: Final = "--runs-code"
"""Behind `COMMAND`: an engine that is to run a file of its user's, to which the kernel refuses nothing."""

OF_RANK: Final = "--rank="
"""With a number: an engine that is one of several of the same program; its leader leads the group."""

TURNS_AT: Final = "--turns-at="
"""With a number: the open file in whose memory several ranks agree on what they record."""
TURNS_BYTES: Final = 4096
STOP_BYTES: Final = 512
"""Behind those, for each rank: where it is when a Stop comes."""

OF_SIGNAL: Final = 128
"""The code of a process that a signal has ended is told as this and the signal's number, as shells do."""
PROCESSES: Final = "/proc"


def lead_group(arguments: Sequence[str]) -> None:
    """This process, if it was started for code, leads a group of its own, which all that it starts belongs to."""
    if RUNS_CODE in arguments and rank_of(arguments) is None and os.name == "posix":
        with suppress(OSError):
            os.setsid()


def rank_of(arguments: Sequence[str]) -> int | None:
    """Which rank an engine is that was started with these arguments; None: it is none of several."""
    return _number(arguments, OF_RANK)


def turns_file_of(arguments: Sequence[str]) -> int | None:
    """The open file in whose memory an engine agrees with the other ranks; None: it is none of several."""
    return _number(arguments, TURNS_AT)


def _number(arguments: Sequence[str], option: str) -> int | None:
    return next((int(one.removeprefix(option)) for one in arguments if one.startswith(option)), None)


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
