"""How long a test waits for what must come: a bound for what never comes, no figure of how fast anything is.

Beside eight busy processes an engine takes a minute to start, and two that learn together take two.
"""

import select
import time
from collections.abc import Callable

PATIENCE_SECONDS = 300.0
PATIENCE_MS = int(PATIENCE_SECONDS * 1000)
STEP_SECONDS = 0.05


def wait_until(what: str, holds: Callable[[], object], patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Asks again and again until something holds.

    Raises:
        AssertionError: it did not hold in time; the message says what.
    """
    end = time.monotonic() + patience_seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain: {what}")
        select.select([], [], [], STEP_SECONDS)
