"""Where several ranks stop: at one place, so that none waits in a collective for another that stopped before it.

A rank that stopped wherever it stands would leave those that are farther without it, for ever. So each says where it
is as soon as a Stop comes, and goes on until it is as far as the farthest of them was then. Nothing of this goes
through the program's process group: the memory is of the leader's (`turns_memory`).
"""

import mmap
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import msgspec

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.turns.shared_turns import HEAD_BYTES, bytes_at, put
from gradstudio.protocol.process_group import STOP_BYTES, TURNS_BYTES

Place = tuple[int, ...]
"""The turn and the index in each list of statements that a rank stands in, outermost first: in program order."""
WITHIN: Final = 1 << 40
"""Behind a place: in the statement there, or in whatever that runs; it has to come to its end."""
NOWHERE: Final[Place] = ()
"""Nothing runs there any more: it is in nobody's way."""
WAIT_S: Final = 2.0
"""So long others may take to say where they are; what does not even hear of the Stop then is ended by the leader."""
LOOK_S: Final = 0.001
_SAID: Final = msgspec.msgpack.Decoder(tuple[int, Place | None])


class SharedStop:
    """What this rank says, and what others do.

    Attributes:
        is_open: this is one of several that can agree.
        quick: how many turns the innermost loop has run without a record, and the place in the one that it is in, None
            between two of them; None while turns are recorded.
    """

    is_open = False

    def __init__(self) -> None:
        """This process is no rank of several."""
        self._memory: mmap.mmap | None = None
        self._rank = self._count = self._verb = 0
        self._live: Live | None = None
        self._said: Place | None = None
        self._is_agreed = False
        self._lock = threading.Lock()
        self.quick: Callable[[], tuple[int, Place | None]] | None = None

    def open(self, descriptor: int | None, rank: int) -> None:
        """Agree with the others over this open file; without one, or where it cannot be had, each stops by itself."""
        if descriptor is None:
            return
        with suppress(OSError, ValueError):
            size = os.fstat(descriptor).st_size
            self._memory = mmap.mmap(descriptor, size)
            self._rank, self._count = rank, (size - TURNS_BYTES) // STOP_BYTES
            self.is_open = rank < self._count

    def begin_verb(self, verb: int) -> None:
        """A verb begins, which all ranks know by the same number."""
        self._verb, self._said, self._is_agreed = verb, None, False
        self._say(None)

    def end_verb(self) -> None:
        """It is over here: the others wait for nothing of this rank."""
        self._say(NOWHERE)

    def begin(self, live: Live) -> None:
        """Statements are run from here on."""
        self._live = live

    def end(self) -> None:
        """None is run any more."""
        self._live = None

    def hear(self) -> None:
        """A Stop has come, from another thread: say where this rank is, which may be in something that takes long."""
        with self._lock:
            if self.is_open and self._live is not None and self._said is None:
                self._said = (*place_of(self._live, self.quick), WITHIN)
                self._say(self._said)

    def agrees(self) -> bool:
        """Asked between two statements after a Stop: whether this rank stops here; else it has to go on."""
        live = self._live
        if not self.is_open or live is None or self._is_agreed:
            return True
        own = place_of(live, self.quick)
        with self._lock:
            self._said = max(own, self._said or own)
            self._say(self._said)
        due = time.monotonic() + WAIT_S
        others = range(self._count)
        while None in (said := [self._read(rank) for rank in others]) and time.monotonic() < due:
            time.sleep(LOOK_S)
        if max(one for one in said if one is not None) > own:
            return False
        self._is_agreed = True
        return True

    def _say(self, place: Place | None) -> None:
        if self._memory is None or not self.is_open:
            return
        data = msgspec.msgpack.encode((self._verb, place))
        if len(data) <= STOP_BYTES - HEAD_BYTES:  # deeper than any program is
            put(self._memory, TURNS_BYTES + self._rank * STOP_BYTES, data)

    def _read(self, rank: int) -> Place | None:
        """What a rank has said of this verb; None: nothing yet."""
        assert self._memory is not None
        data = bytes_at(self._memory, TURNS_BYTES + rank * STOP_BYTES)
        if data is None:
            return None
        try:
            verb, place = _SAID.decode(data)
        except msgspec.MsgspecError:  # the program's code can reach this memory
            return None
        return place if verb == self._verb else None


def place_of(live: Live, quick: Callable[[], tuple[int, Place | None]] | None) -> Place:
    """Where a run stands, inside the calls that it is in; `quick` as the attribute of `SharedStop`."""
    around = [frame for call in live.calls for frame in call.around.cursor.frames]
    place = _places([*around, *live.cursor.frames])
    if quick is None:
        return place
    turns, path = quick()
    turn, end = place[-2:]
    if path is None:
        return (*place[:-2], turn + turns, end)
    inner = [part for index in path[1:] for part in (0, index)]
    return (*place[:-2], turn + turns + 1, path[0], *inner)


def _places(frames: Iterable[Frame]) -> Place:
    return tuple(part for frame in frames for part in (frame.turn, frame.index))


shared_stop: Final = SharedStop()
