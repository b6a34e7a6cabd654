"""What an engine says while nobody may hear it, numbered, within a bound: curves and words before records of values.

What is not bulky stays from the newest start from nothing on, also when it was heard: another window may take it up.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from gradstudio.protocol.framing import decoded

MOST_BYTES: Final = 1 << 26
"""Of records, which are many and soon old: the newest stay."""
MOST_LIGHT_BYTES: Final = 1 << 29
"""Of all else: the numbers of a hundred curves for days."""
BULKY: Final = {
    *("Traced", "PackedBackward", "Gradients", "Memory", "Running", "Inferred", "Inferring"),
    *("BoundaryDrawn", "ConfusionDrawn", "PointsDrawn", "ImagesDrawn", "Figured"),
    *("Fetched", "Report", "CheckpointKept", "MemoryByNode", "Described", "Brought", "DataLooked"),
}
"""Records, pictures, and answers to whoever has asked."""


class Frame(NamedTuple):
    """What was said, under its number from 0 on; `body` is that of a frame."""

    number: int
    body: bytes


class _Start(msgspec.Struct):
    """What a log has to know of a `Started`."""

    fresh: bool


_STARTS: Final = msgspec.msgpack.Decoder(_Start)


class _Frames:
    """Frames of one kind, the oldest of which go first."""

    def __init__(self, most_bytes: int) -> None:
        self.frames: deque[Frame] = deque()
        self.most_bytes, self._bytes = most_bytes, 0

    def add(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._bytes += len(frame.body)
        while self._bytes > self.most_bytes and len(self.frames) > 1:
            self._drop()

    def forget(self, number: int) -> None:
        """Those before a number."""
        while self.frames and self.frames[0].number < number:
            self._drop()

    def _drop(self) -> None:
        self._bytes -= len(self.frames.popleft().body)


class FrameLog:
    """Frames from the start of the newest run on, and those that were not heard.

    Attributes:
        count: how many there were.
        run_begins: the number of the frame with which the newest run from nothing began.
    """

    def __init__(self, most_bytes: int = MOST_BYTES, most_light_bytes: int = MOST_LIGHT_BYTES) -> None:
        """Nothing was said."""
        self.count = self.run_begins = self._heard = 0
        self._keeps_records, self._most_light_bytes = False, most_light_bytes
        self._bulky, self._light = _Frames(most_bytes), _Frames(min(most_bytes, most_light_bytes))

    def keep_for_others(self) -> None:
        """Whoever comes later may be another window: records are kept as well when they were heard."""
        self._keeps_records, self._light.most_bytes = True, self._most_light_bytes

    def add(self, kind: str, body: bytes) -> None:
        """The engine says something.

        Raises:
            BrokenFrame: it is no message of the kind that it says it is.
        """
        if kind == "Started" and decoded(_STARTS, body).fresh:
            self.run_begins = self.count
            self.forget(self._heard)
        frames = self._bulky if kind in BULKY else self._light
        frames.add(Frame(self.count, body))
        self.count += 1

    def forget(self, heard: int) -> None:
        """So many were heard."""
        self._heard = heard
        before_run = min(heard, self.run_begins)
        self._light.forget(before_run)
        self._bulky.forget(before_run if self._keeps_records else heard)

    def since(self, heard: int) -> Iterator[bytes]:
        """Those that are here from a number on, in order."""
        return (frame.body for frame in self.frames() if frame.number >= heard)

    def frames(self) -> list[Frame]:
        """All that are here, in order."""
        return sorted([*self._bulky.frames, *self._light.frames])
