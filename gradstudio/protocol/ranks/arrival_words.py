"""When ranks came to where all of them meet, in words: who was late, and how long each waited."""

from gradstudio.protocol.messages.backward_trace import Reduction
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.number_format import format_number

NOTICED_S = 0.001
"""Less late is not late."""
WORTH_A_LOOK_S = 0.1
"""Less late is not said on a card."""


def late_words(arrivals: Range | None) -> str:
    """``rank 1 came 0.8 s later``, of several ``rank 3 came last, 0.8 s behind rank 0``; "" where nobody was late."""
    if arrivals is None or (late_s := arrivals.most - arrivals.least) < NOTICED_S:
        return ""
    return f"rank {arrivals.most_rank} came {duration_words(late_s)} later than rank {arrivals.least_rank}"


def late_sign(arrivals: Range | None) -> str:
    """As short as can be, of what is worth a look: ``rank 1: 0.8 s late``; "" where nobody was so late."""
    if arrivals is None or (late_s := arrivals.most - arrivals.least) < WORTH_A_LOOK_S:
        return ""
    return f"rank {arrivals.most_rank}: {duration_words(late_s)} late"


def waits(reduction: Reduction) -> tuple[tuple[int, float], ...]:
    """Seconds that each rank waited for the last one."""
    if reduction.arrivals is None:
        return ()
    return tuple((share.rank, max(reduction.arrivals.most - share.came_s, 0.0)) for share in reduction.shares)


def duration_words(seconds: float) -> str:
    """``0.8 s``, ``12 ms``, ``40 µs``."""
    if seconds >= 0.1:
        return f"{format_number(seconds, 2)} s"
    if seconds >= NOTICED_S:
        return f"{format_number(seconds * 1e3, 2)} ms"
    return f"{format_number(seconds * 1e6, 2)} µs"
