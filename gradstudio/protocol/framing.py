"""Frames on the pipe: four bytes of length (big-endian), then one message in msgpack."""

import struct
from collections.abc import Iterator
from typing import Any, Generic, TypeVar, get_args

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.packed_backward import PackedBackward, packed, unpacked

MessageT = TypeVar("MessageT")
_LENGTH = struct.Struct(">I")
LENGTH_BYTES = _LENGTH.size
LARGEST_FRAME = 1 << 31
"""Bytes; more is no message of ours."""
LARGEST_FAR_FRAME = 1 << 26
"""Bytes of one message from a host."""
_ENCODER = msgspec.msgpack.Encoder()


class _Kind(msgspec.Struct):
    """The tag of any message."""

    type: str


_KINDS = msgspec.msgpack.Decoder(_Kind)


def encode(message: Message) -> bytes:
    """One frame.

    Raises:
        BrokenFrame: the message is larger than `LARGEST_FRAME`.
    """
    return b"".join(frame_parts(message))


def body_of(message: Message) -> bytes:
    """A message, encoded, without a frame."""
    return encode(message)[LENGTH_BYTES:]


def framed(body: bytes) -> bytes:
    """The frame of a message that is encoded already."""
    return _LENGTH.pack(len(body)) + body


def frame_parts(message: Message) -> tuple[bytes, bytes]:
    """One frame as what stands before the message, and the message: many megabytes are not copied to be joined.

    Raises:
        BrokenFrame: the message is larger than `LARGEST_FRAME`.
    """
    body = _ENCODER.encode(packed(message) if isinstance(message, BackwardTraced) else message)
    if len(body) > LARGEST_FRAME:
        raise BrokenFrame(f"A message of {len(body)} bytes does not fit a frame of {LARGEST_FRAME} bytes.")
    return _LENGTH.pack(len(body)), body


class FrameCutter:
    """Takes bytes as they come and gives the bodies of the frames that are complete.

    Bytes of an unfinished frame are only appended, never scanned again, so a frame of many
    megabytes that comes in small pieces costs its length once.
    """

    def __init__(self, largest: int = LARGEST_FRAME) -> None:
        """Of `largest` bytes at most."""
        self._largest = largest
        self._bytes = bytearray()

    def cut(self, data: bytes) -> Iterator[bytes]:
        """The bodies completed by `data`, in order.

        Raises:
            BrokenFrame: a frame is larger than any may be.
        """
        self._bytes += data
        start = 0
        try:
            while (end := self._end_of_frame(start)) <= len(self._bytes):
                yield bytes(self._bytes[start + _LENGTH.size : end])
                start = end
        finally:
            if start:
                del self._bytes[:start]

    @property
    def is_waiting(self) -> bool:
        """Whether a frame has begun that is not whole."""
        return bool(self._bytes)

    def take_rest(self) -> bytes:
        """What came of a frame that is not whole; it is no longer here."""
        rest = bytes(self._bytes)
        self._bytes.clear()
        return rest

    def _end_of_frame(self, start: int) -> int:
        if len(self._bytes) - start < _LENGTH.size:
            return len(self._bytes) + 1
        (length,) = _LENGTH.unpack_from(self._bytes, start)
        if length > self._largest:
            raise BrokenFrame(f"A frame of {length} bytes was announced; the largest has {self._largest}.")
        return start + _LENGTH.size + int(length)


class Decoder(FrameCutter, Generic[MessageT]):
    """Takes bytes as they come and gives the messages that are complete."""

    def __init__(self, union: type[MessageT], largest: int = LARGEST_FRAME) -> None:
        """Decode messages of `union` (``messages.Request`` or ``messages.Event``) of `largest` bytes at most."""
        super().__init__(largest)
        tells_backwards = BackwardTraced in get_args(union)
        self._decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(
            union | PackedBackward if tells_backwards else union
        )

    def feed(self, data: bytes) -> list[MessageT]:
        """The messages completed by `data`, in order.

        Raises:
            BrokenFrame: a frame holds something else than a message of the union.
        """
        return [self.decode(body) for body in self.cut(data)]

    def decode(self, body: bytes) -> MessageT:
        """The message in the body of a frame.

        Raises:
            BrokenFrame: it is something else.
        """
        message = decoded(self._decoder, body)
        try:
            return unpacked(message) if isinstance(message, PackedBackward) else message  # type: ignore[return-value]  # of the union, as asked above
        except IndexError as error:
            raise _broken(body, error) from error


def kind_of(body: bytes) -> str:
    """The tag of the message in the body of a frame, whatever else it holds.

    Raises:
        BrokenFrame: it is no message.
    """
    return decoded(_KINDS, body).type


def decoded(decoder: msgspec.msgpack.Decoder[MessageT], body: bytes) -> MessageT:
    """What a decoder makes of the body of a frame.

    Raises:
        BrokenFrame: it is something else, or nested deeper than anything of ours.
    """
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _broken(body, error) from error


def _broken(body: bytes, error: Exception) -> BrokenFrame:
    return BrokenFrame(f"A frame of {len(body)} bytes is no message of ours: {error}")
