"""Which turns of loops several ranks record alike: the first of them says so, in memory that all of them see.

A rank that took its own clock would record other turns than the rest, and values of different turns are not to be
compared. Nothing of this goes through the program's process group: the memory is of the leader's (`turns_memory`).
"""

import mmap
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from gradstudio.protocol.messages.bounds import Turns
from gradstudio.protocol.process_group import TURNS_BYTES

MOST: Final = 16
"""So many turns, the newest, are known to those that come behind."""
HEAD_BYTES: Final = 8
"""Bytes before what is said: its checksum, and how many bytes it has."""
_TURNS: Final = msgspec.msgpack.Decoder(tuple[Turns, ...])


class SharedTurns:
    """Turns that were agreed on.

    Attributes:
        leads: this is the rank that says them.
        is_open: this is one of several, which go by no clock of their own.
    """

    leads = is_open = False

    def __init__(self) -> None:
        """This process is no rank of several."""
        self._memory: mmap.mmap | None = None
        self._head = b""
        self._turns: tuple[Turns, ...] = ()

    def open(self, descriptor: int | None, *, leads: bool) -> None:
        """Agree with the others over this open file of `TURNS_BYTES`.

        Without one, or where it cannot be had, nothing is said: recorded are the first turns and the last.
        """
        self.is_open = True
        if descriptor is not None:
            with suppress(OSError, ValueError):
                self._memory, self.leads = mmap.mmap(descriptor, TURNS_BYTES), leads

    def announce(self, turns: Iterable[Turns]) -> None:
        """All are to record these, too, outermost loop first; the oldest of more than `MOST` are forgotten."""
        if self._memory is None:
            return
        self._turns = (*self._turns, *turns)[-MOST:]
        data = msgspec.msgpack.encode(self._turns)
        if len(data) <= TURNS_BYTES - HEAD_BYTES:
            self._head = put(self._memory, 0, data)

    def has_news(self) -> bool:
        """Whether more was said than was taken."""
        return self._memory is not None and self._memory[:HEAD_BYTES] != self._head

    def take(self) -> Sequence[Turns]:
        """All that is known; what is being written at this very moment comes with the next look."""
        if self._memory is not None and self.has_news() and (data := bytes_at(self._memory, 0)) is not None:
            self._head, self._turns = _head_of(data), _decoded(data)
        return self._turns


def put(memory: mmap.mmap, at: int, data: bytes) -> bytes:
    """Say something in shared memory, from a place on, where there is room for it; the bytes that stand before it."""
    head = _head_of(data)
    memory[at : at + HEAD_BYTES + len(data)] = head + data
    return head


def bytes_at(memory: mmap.mmap, at: int) -> bytes | None:
    """What was said there; None: it is being written."""
    head = memory[at : at + HEAD_BYTES]
    data = memory[at + HEAD_BYTES : at + HEAD_BYTES + int.from_bytes(head[4:])]
    return data if _head_of(data) == head else None


def _head_of(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4) + len(data).to_bytes(4)


def _decoded(data: bytes) -> tuple[Turns, ...]:
    try:
        return _TURNS.decode(data)
    except msgspec.MsgspecError:  # the program's code can reach this memory
        return ()


shared_turns: Final = SharedTurns()
