"""What is said of a verb: that it begins, and how it has ended."""

from typing import Any

import torch

from gradstudio.engine.code.program_end import end_words
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.cursor import NOBODY
from gradstudio.protocol.messages.events import Paused, Started
from gradstudio.protocol.messages.requests import Do


def started(request: Do, live: Live, fresh: bool, back_to: int | None = None) -> Started:
    """It begins, from nothing or not; `back_to` as `Started` tells."""
    return Started(
        verb=request.verb,
        revision=live.loaded.revision,
        fresh=fresh,
        pass_number=live.pass_number,
        seed=live.seed,
        back_to=back_to,
        threads=torch.get_num_threads(),
    )


def paused(
    request: Do, live: Live | None, outcome: Any, reason: str, seconds: float, hit: str, revision: int
) -> Paused:
    """It has ended; what is live says where the run stands."""
    return Paused(
        revision=revision,
        verb=request.verb,
        outcome=outcome,
        next_node=live.next_node if live is not None else NOBODY,
        at_end=live is not None and live.cursor.upcoming() is None,
        pass_number=live.pass_number if live is not None else 0,
        changed_by_hand=live is not None and live.changed_by_hand,
        reason=reason or end_words(live.ended_at if live is not None else ""),
        seconds=seconds,
        hit=hit,
    )
