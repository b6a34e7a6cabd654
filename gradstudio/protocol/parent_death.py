"""The end of a process whose parent is gone, also where nothing in it can run any more."""

import ctypes
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(by: signal.Signals | None = None) -> None:
    """On Linux the kernel sends this process `by`, or kills it, when the thread that started it ends.

    Elsewhere nothing is asked. The end of standard input is read by a thread, which waits as long as an operator keeps
    Python's lock: an endless product of whole numbers would outlive its window.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(by or signal.SIGKILL), 0, 0, 0)
