"""What an engine says while nobody may hear it, numbered, within a bound: curves and words before records of values."""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

MOST_BYTES: Final = 1 << 26
"""Of records, which are many and soon old: the newest stay."""
MOST_LIGHT_BYTES: Final = 1 << 29
"""Of all else: the numbers of a hundred curves for days."""
BULKY: Final = {"Traced", "PackedBackward", "Gradients", "Memory", "BoundaryDrawn", "Figured", "Running", "Inferred"}


class _Frame(NamedTuple):
    number: int
    body: bytes


class FrameLog:
    """Frames from the first that was not heard on.

    Attributes:
        count: how many there were.
    """

    def __init__(self, most_bytes: int = MOST_BYTES, most_light_bytes: int = MOST_LIGHT_BYTES) -> None:
        """Nothing was said."""
        self.count = 0
        self._bulky: deque[_Frame] = deque()
        self._light: deque[_Frame] = deque()
        self._bounds = {id(self._bulky): most_bytes, id(self._light): most_light_bytes}
        self._bytes = {id(self._bulky): 0, id(self._light): 0}

    def add(self, kind: str, body: bytes) -> None:
        """The engine says something."""
        frames = self._bulky if kind in BULKY else self._light
        frames.append(_Frame(self.count, body))
        self.count += 1
        self._bytes[id(frames)] += len(body)
        while self._bytes[id(frames)] > self._bounds[id(frames)] and len(frames) > 1:
            self._drop(frames)

    def forget(self, heard: int) -> None:
        """So many were heard."""
        for frames in (self._bulky, self._light):
            while frames and frames[0].number < heard:
                self._drop(frames)

    def since(self, heard: int) -> Iterator[bytes]:
        """Those that are here from a number on, in order."""
        frames = sorted([*self._bulky, *self._light])
        return (frame.body for frame in frames if frame.number >= heard)

    def _drop(self, frames: deque[_Frame]) -> None:
        self._bytes[id(frames)] -= len(frames.popleft().body)
