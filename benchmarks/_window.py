"""What benchmarks of the whole window share: waiting for a state, and the CPU time of window and engine together."""

import sys
import time
from collections.abc import Callable
from typing import Any


def wait_until(app: Any, holds: Callable[[], bool], patience_s: float) -> None:
    """Let the window work until something holds.

    Raises:
        TimeoutError: it did not hold within `patience_s`.
    """
    deadline = time.monotonic() + patience_s
    while not holds():
        app.processEvents()
        time.sleep(0.001)
        if time.monotonic() > deadline:
            raise TimeoutError("the window did not come to the state that is to be measured")


def cpu_s(engine_pid: int) -> float:
    """CPU seconds of this process, and of the engine where the system tells it."""
    own = time.process_time()
    if sys.platform != "linux":
        return own
    return own + time.clock_gettime(~engine_pid << 3 | 2)  # the clock of another process
