"""What passes between window and the porter of a host, who stands between its engine and the line.

None of it reaches the engine.
"""

from typing import Annotated

from msgspec import Meta

from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Size

Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
"""Sha256 in hex."""


class Beat(Message, frozen=True):
    """Somebody is here; said once a second, so that a line that fell silent is seen there."""


class Needs(Message, frozen=True):
    """What follows needs these stored tensors: bytes of each, by digest."""

    tensors: dict[Digest, Size]


class Piece(Message, frozen=True):
    """A part of a stored tensor, in order.

    Attributes:
        is_packed: `data` is compressed by zlib, for itself.
        is_last: the tensor is whole with it.
    """

    digest: Digest
    data: bytes
    is_packed: bool = False
    is_last: bool = False


class Lacking(Message, frozen=True):
    """These stored tensors are not on the host; what needs them waits there until they came."""

    digests: tuple[Digest, ...]


PorterRequest = Beat | Needs | Piece
"""What a porter keeps for itself; all else it hands to the engine."""
