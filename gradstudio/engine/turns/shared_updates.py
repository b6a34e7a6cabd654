"""Where several ranks take up an edited program: all of them the same one, at the end of the same turn.

Ranks that each took it when they saw it would learn with other numbers for some turns. So each says, once, where it
is and which program is its newest, as soon as one comes; all take the oldest of these programs at the first end of a
turn behind the farthest of these places. What any of them makes of it hangs on nothing but these words. Nothing goes
through the program's process group, as in `shared_stop`.
"""

import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from gradstudio.engine.turns.rank_slots import UPDATE_SLOT, RankSlots
from gradstudio.engine.turns.shared_stop import LOOK_S, WAIT_S, WITHIN, Place, shared_stop

NONE: Final = 0
"""No program: they are counted from 1."""


class Word(NamedTuple):
    """What a rank says of the programs that wait: the number of its newest, and where it was then."""

    number: int
    place: Place


NO_MORE: Final = Word(NONE, ())
"""Of one whose verb is over: it says nothing more."""


class Said(NamedTuple):
    """What a rank has said of the newest round, and of the one before, which others may not have read yet.

    Attributes:
        is_over: the verb is, here.
    """

    verb: int
    is_over: bool
    round: int
    words: tuple[Word, ...]


class SharedUpdates:
    """What this rank says, and what others do; a round for each program that is taken up."""

    def __init__(self, place: Callable[[], Place | None]) -> None:
        """This process is no rank of several; `place`: where it stands, None while no statements are run."""
        self._place = place
        self._slots: RankSlots[Said] = RankSlots(UPDATE_SLOT, Said)
        self._said = Said(0, True, 0, ())
        self._round = 0
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Whether this is one of several that can agree."""
        return self._slots.is_open

    def open(self, descriptor: int | None, rank: int) -> None:
        """Agree with the others over this open file; without one, or where it cannot be had, each is by itself."""
        self._slots.open(descriptor, rank)

    def begin_verb(self, verb: int) -> None:
        """A verb begins, which all ranks know by the same number."""
        with self._lock:
            self._round = 1
            self._say(Said(verb, False, 0, ()))

    def end_verb(self) -> None:
        """It is over here: nothing is taken up any more in the middle of it."""
        with self._lock:
            self._say(self._said._replace(is_over=True))

    def hear(self, number: int) -> None:
        """A program has come, from another thread: say where this rank is, maybe in something that takes long."""
        place = self._place()
        if self.is_open and place is not None:
            self._say_once(Word(number, (*place, WITHIN)))

    def agreed(self, number: int) -> int:
        """Asked at the end of a turn, `number` the newest that waits: which is taken up here; `NONE`: none yet."""
        own = self._place()
        if own is None:
            return NONE
        self._say_once(Word(number, own))
        due = time.monotonic() + WAIT_S
        while None in (words := self._words()) and NO_MORE not in words and time.monotonic() < due:
            time.sleep(LOOK_S)
        known = [self._said.words[-1], *(one for one in words if one is not None)]
        if NO_MORE in known or max(one.place for one in known) > own:
            return NONE
        self._round += 1
        return min(one.number for one in known)

    def _say_once(self, word: Word) -> None:
        with self._lock:
            if self._said.round < self._round and not self._said.is_over:
                self._say(self._said._replace(round=self._round, words=(*self._said.words[-1:], word)))

    def _say(self, said: Said) -> None:
        self._said = said
        self._slots.say(said)

    def _words(self) -> list[Word | None]:
        """What each rank says in this round; None: nothing yet; `NO_MORE`: nothing any more."""
        return [self._word_of(one) for one in self._slots.of_all()]

    def _word_of(self, said: Said | None) -> Word | None:
        if said is None or said.verb != self._said.verb:
            return None
        behind = said.round - self._round
        if 0 <= behind < len(said.words):
            return said.words[-1 - behind]
        return NO_MORE if said.is_over else None


shared_updates: Final = SharedUpdates(lambda: shared_stop.place)
