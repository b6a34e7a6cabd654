"""The end of an engine whose parent is gone, also where nothing in it can run any more."""

import ctypes
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def end_with_parent() -> None:
    """On Linux the kernel kills this process when the thread that started it ends; elsewhere nothing is asked.

    The end of standard input is read by a thread, which waits as long as an operator keeps Python's lock: an endless
    product of whole numbers would outlive its window.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
