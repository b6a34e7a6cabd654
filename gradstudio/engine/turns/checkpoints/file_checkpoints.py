"""A run as a file now and then while its loop trains, so that whoever is killed loses little."""

import time
from typing import Final

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.turns.checkpoints.checkpoint_file import INSIDE, NO_LOOP, checkpoint_bytes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import CheckpointKept

FIRST_S: Final = 1.0
"""When the first is made, of a run that begins."""
EVERY_S: Final = 5.0
"""So often further ones, and so seldom that they take no more than `SHARE` of the time."""
SHARE: Final = 0.02
PATIENT_S: Final = 2.0
"""So long the end of a turn of the loop that trains is waited for; then a turn of a loop within will do."""
NEVER: Final = float("inf")


class FileCheckpoints:
    """Those of one run from nothing.

    Attributes:
        most_bytes: of each; 0: none is made.
    """

    def __init__(self) -> None:
        """None is made."""
        self.most_bytes = 0
        self._due_s: float | None = None
        self._may_be_inside = True

    def clear(self) -> None:
        """A start from nothing."""
        self._due_s, self._may_be_inside = None, True

    def is_due(self, live: Live) -> bool:
        """Whether it is time for one, and the run stands at the end of a turn that will do."""
        if not self.most_bytes:
            return False
        now = time.perf_counter()
        if self._due_s is None:
            self._due_s = now + FIRST_S
        if now < self._due_s:
            return False
        return _loops_around(live) <= 1 or (self._may_be_inside and now >= self._due_s + PATIENT_S)

    def look(self, live: Live, counts: dict[ItemId, int]) -> CheckpointKept | None:
        """The run stands at the end of a turn: what is to be sent of it, where it is time for that."""
        if not self.is_due(live):
            return None
        now = time.perf_counter()
        kept = self._keep(live, counts, _loops_around(live) > 1)
        if kept is not None:
            cost_s = time.perf_counter() - now
            self._due_s = NEVER if kept.error else now + cost_s + max(EVERY_S, cost_s / SHARE)
        return kept

    def _keep(self, live: Live, counts: dict[ItemId, int], is_inside: bool) -> CheckpointKept | None:
        try:
            with clean_modes():
                data, turns = checkpoint_bytes(live, self.most_bytes, counts, goes_on=True)
        except VerbRefused as refusal:
            reason = str(refusal)
            if is_inside and reason != INSIDE:
                self._may_be_inside = False  # the end of a turn of the loop around may do
            elif reason == NO_LOOP:
                self.most_bytes = 0
            elif not is_inside and reason != INSIDE:
                return CheckpointKept(request=0, error=reason)
            return None
        return CheckpointKept(request=0, data=data, turns=turns, counts=dict(counts))


def _loops_around(live: Live) -> int:
    return sum(frame.iterator is not None for frame in live.cursor.frames)
