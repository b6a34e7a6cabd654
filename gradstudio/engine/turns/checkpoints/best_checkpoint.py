"""What was learnt where the figure that says how well was best: kept when that happens, whatever was kept beside it."""

import contextlib
import math
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Step
from gradstudio.engine.turns.checkpoints.checkpoint_copy import CheckpointCopy
from gradstudio.engine.turns.checkpoints.checkpoint_file import copy_checkpoint, training_loop
from gradstudio.graph.model import ItemId
from gradstudio.protocol.curve_titles import Watched, watched_figure
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.progress import CheckpointKept

EVERY_S: Final = 5.0
"""So often one is sent while the run goes on, and at its end; one that was outdone meanwhile is not."""


class _Best(NamedTuple):
    """What was learnt in a turn, what it was judged by, and how many turns of each loop there were."""

    copy: CheckpointCopy
    watched: Watched
    value: float
    counts: dict[ItemId, int]

    def written(self) -> CheckpointKept:
        """As it is sent.

        Raises:
            VerbRefused: it holds what no file keeps.
        """
        (name, rises), turns = self.watched, self.copy.turns
        return CheckpointKept(
            request=0,
            data=self.copy.data(),
            turns=turns,
            counts=self.counts,
            figure=name,
            value=self.value,
            rises=rises,
        )


class BestCheckpoint:
    """That of one run from nothing: copied at the end of each turn that is better, written and sent now and then.

    Attributes:
        most_bytes: of the file; 0: none is made.
    """

    def __init__(self, send: Callable[[Message], None]) -> None:
        """None is made."""
        self._send = send
        self.most_bytes = 0
        self.clear()

    def clear(self) -> None:
        """A start from nothing."""
        self._best = math.nan
        self._watched: Watched | None = None
        self._is_new = False
        self._waiting: _Best | None = None
        self._sent_s: float | None = None

    def judge(self, live: Live, head: Head, steps: list[Step]) -> Callable[[], bool]:
        """To be called at the end of each turn of a loop: whether it was the best so far, and is to be kept."""
        if not self.most_bytes or head is not training_loop(live.loaded.items):
            return _never
        watched = watched_figure(name for step in steps if not step.statement.is_part for name in step.statement.names)
        if watched is None:
            return _never
        if watched != self._watched:
            self._best, self._watched = math.nan, watched
        namespace, name, rises = live.namespace, watched.name, watched.rises

        def is_best() -> bool:
            value = _number(namespace.get(name))
            if math.isnan(value) or (value <= self._best if rises else value >= self._best):
                return False
            self._best, self._is_new = value, True
            return True

        return is_best

    def look(self, live: Live, head: Head, steps: list[Step], counts: dict[ItemId, int]) -> None:
        """A turn of a loop is over: copy what was learnt, where it was the best."""
        if self.judge(live, head, steps)():
            self.keep(live, counts)

    def keep(self, live: Live, counts: dict[ItemId, int]) -> None:
        """The run stands at the end of a turn: copy what was learnt, where that turn was the best."""
        if not self._is_new or self._watched is None:
            return
        self._is_new = False
        with contextlib.suppress(VerbRefused), clean_modes():  # what is kept at the run's end says why
            copy = copy_checkpoint(live, self.most_bytes, counts)
            self._waiting = _Best(copy, self._watched, self._best, dict(counts))

    def tell(self, *, at_end: bool = False) -> None:
        """Send what was copied last, where it is time for that; `at_end`: the run comes to rest."""
        now = time.perf_counter()
        if self._sent_s is None:
            self._sent_s = now
        if self._waiting is not None and (at_end or now - self._sent_s >= EVERY_S):
            self._sent_s = now
            best, self._waiting = self._waiting, None
            with contextlib.suppress(VerbRefused), clean_modes():
                self._send(best.written())


def _never() -> bool:
    return False


def _number(value: object) -> float:
    """What is compared; not a number where a value is none."""
    try:
        return float(value)  # type: ignore[arg-type]  # whatever the program has under that name
    except (TypeError, ValueError, RuntimeError):
        return math.nan
