"""Stored tensors on their way to a host: named first, sent in compressed pieces where the host lacks them."""

import zlib
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.hosting import Lacking, Needs, Piece

PIECE_BYTES: Final = 1 << 18
"""So much is packed at once: a window stays at hand meanwhile."""
ASK_BYTES: Final = 100_000_000
"""From here on a person is asked first."""
_LEVEL: Final = 1
_WORTH: Final = 0.9
"""A piece that stays larger than this part of itself goes as it is."""
_TRY_EVERY: Final = 16
"""Where packing was of no use, it is tried again after so many pieces."""
_MEGABYTE: Final = 1_000_000


class TensorSending:
    """What a host was told of, and what it still lacks.

    Attributes:
        total, done: bytes of what it lacks, and of what of that was given out; packed they are fewer.
    """

    def __init__(self) -> None:
        """Nothing was sent."""
        self._offered: dict[str, bytes] = {}
        self._pieces: Iterator[Piece] = iter(())
        self.total = self.done = 0

    def frames_of(self, request: Message) -> Iterator[bytes]:
        """The frames of a request: its stored tensors are named before, and are no part of it."""
        tensors: dict[str, bytes] = getattr(request, "tensors", None) or {}
        if tensors:
            yield self.offer(tensors)
            request = msgspec.structs.replace(request, tensors={})
        yield encode(request)

    def offer(self, tensors: Mapping[str, bytes]) -> bytes:
        """The frame that names these; they are sent where `begin` is told that they are lacking."""
        self._offered.update(tensors)
        return encode(Needs(tensors={digest: len(data) for digest, data in tensors.items()}))

    def begin(self, lacking: Lacking) -> int:
        """These are to be sent, as far as they were offered; their bytes."""
        wanted = {digest: self._offered[digest] for digest in lacking.digests if digest in self._offered}
        self.total, self.done = sum(map(len, wanted.values())), 0
        self._pieces = self._cut(wanted)
        return self.total

    def next_frame(self) -> bytes:
        """The next piece; empty when all were given out."""
        piece = next(self._pieces, None)
        return encode(piece) if piece is not None else b""

    def question(self, host: str) -> str:
        """What a person is asked before so much is sent."""
        return f"Send {megabytes(self.total)} of stored tensors to “{host}”? They stay there, and are sent once."

    def refusal(self, host: str) -> str:
        """What follows a no."""
        return f"{megabytes(self.total)} of stored tensors were not sent to “{host}”; the program needs them there."

    def progress(self, host: str) -> str:
        """How far it is."""
        return f"Sending stored tensors to “{host}”: {self.done // _MEGABYTE} of {megabytes(self.total)}"

    def _cut(self, tensors: dict[str, bytes]) -> Iterator[Piece]:
        count, tries_at = 0, 0
        for digest, data in tensors.items():
            for at in range(0, max(len(data), 1), PIECE_BYTES):
                part = data[at : at + PIECE_BYTES]
                packed = zlib.compress(part, _LEVEL) if count >= tries_at else part
                is_packed = len(packed) < len(part) * _WORTH
                if not is_packed and count >= tries_at:
                    tries_at = count + _TRY_EVERY
                count += 1
                self.done += len(part)
                is_last = at + PIECE_BYTES >= len(data)
                yield Piece(digest=digest, data=packed if is_packed else part, is_packed=is_packed, is_last=is_last)


def megabytes(size: int) -> str:
    """A number of bytes in words."""
    return f"{size / _MEGABYTE:.0f} MB" if size >= _MEGABYTE else f"{size / _MEGABYTE:.1g} MB"
