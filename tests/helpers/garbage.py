"""Garbage is looked for by the main thread alone.

A collection begins in whichever thread makes an object too many, such as the one in which xdist listens. A QObject that
is destroyed there keeps its timers in the main thread's list, and Qt crashes when the next of them is due.
"""

import gc
from typing import Final

YOUNG: Final = 5_000
"""So many objects more than were let go are looked through: a full collection walks half a million otherwise."""
ROUNDS: Final = 10
"""So many collections of one age come before one of the next, as Python has it."""


def collect_when_due() -> None:
    """Look for garbage as Python would have by now, in the thread that asks."""
    gc.disable()
    young, middle, old = gc.get_count()
    if young > YOUNG:
        gc.collect(0 if middle < ROUNDS else 1 if old < ROUNDS else 2)
