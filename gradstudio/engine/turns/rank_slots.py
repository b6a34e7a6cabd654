"""What each of several ranks says to all others, in memory that all of them see; the newest word of each stays."""

import mmap
import os
from contextlib import suppress
from typing import Final, Generic, TypeVar

import msgspec

from gradstudio.engine.turns.shared_turns import HEAD_BYTES, bytes_at, put
from gradstudio.protocol.process_group import SLOT_BYTES, SLOTS, TURNS_BYTES

T = TypeVar("T")
STOP_SLOT: Final = 0
UPDATE_SLOT: Final = 1


class RankSlots(Generic[T]):
    """One slot for each rank.

    Attributes:
        is_open: this is one of several that can agree.
        count: so many ranks there are.
    """

    is_open = False
    count = 0

    def __init__(self, slot: int, kind: type[T]) -> None:
        """This process is no rank of several; `kind` is what is said in this of a rank's slots."""
        self._memory: mmap.mmap | None = None
        self._decoder: msgspec.msgpack.Decoder[T] = msgspec.msgpack.Decoder(kind)
        self._slot, self._rank = slot, 0

    def open(self, descriptor: int | None, rank: int) -> None:
        """Speak with the others over this open file; without one, or where it cannot be had, each is by itself."""
        if descriptor is None:
            return
        with suppress(OSError, ValueError):
            size = os.fstat(descriptor).st_size
            self._memory = mmap.mmap(descriptor, size)
            self._rank, self.count = rank, (size - TURNS_BYTES) // (SLOTS * SLOT_BYTES)
            self.is_open = rank < self.count

    def say(self, words: T) -> None:
        """This rank's, from now on; what is too long, deeper than any program is, is not said."""
        if self._memory is None or not self.is_open:
            return
        data = msgspec.msgpack.encode(words)
        if len(data) <= SLOT_BYTES - HEAD_BYTES:
            put(self._memory, self._begin(self._rank), data)

    def of_all(self) -> list[T | None]:
        """What each rank has said; None: nothing that is understood, yet."""
        return [self._read(rank) for rank in range(self.count)]

    def _read(self, rank: int) -> T | None:
        assert self._memory is not None
        data = bytes_at(self._memory, self._begin(rank))
        if data is None:
            return None
        try:
            return self._decoder.decode(data)
        except msgspec.MsgspecError:  # the program's code can reach this memory
            return None

    def _begin(self, rank: int) -> int:
        return TURNS_BYTES + (rank * SLOTS + self._slot) * SLOT_BYTES
