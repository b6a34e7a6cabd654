"""Frames of whoever may send anything: smaller than those of an engine of our own, and with fewer values."""

from typing import Final

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, Decoder
from gradstudio.protocol.hosts.message_parts import has_more_parts
from gradstudio.protocol.messages.events import Event

MOST_PARTS: Final = 1 << 22
"""So many values may one message hold: each takes up to 80 bytes here, where it came as one."""


class BoundedDecoder(Decoder[Event]):
    """Takes bytes of a host or of a rank as they come, and gives the messages that are complete."""

    def __init__(self, union: type[Event]) -> None:
        """Decode messages of `union`."""
        super().__init__(union, LARGEST_FAR_FRAME)

    def decode(self, body: bytes) -> Event:
        """As of any engine, but not before it is known how many values it holds.

        Raises:
            BrokenFrame: it is something else, or holds too many.
        """
        if len(body) > MOST_PARTS and has_more_parts(body, MOST_PARTS):
            raise BrokenFrame(f"A message of {len(body)} bytes holds more than {MOST_PARTS} values.")
        return super().decode(body)
