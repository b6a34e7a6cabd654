"""What a rank says, read as from a stranger: within bounds, checked, never executed.

A rank runs its user's code, which may write anything into the pipe, or die in the middle of a frame.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import LARGEST_FAR_FRAME, Decoder, kind_of
from gradstudio.protocol.hosts.far_frames import MOST_PARTS
from gradstudio.protocol.hosts.message_parts import has_more_parts
from gradstudio.protocol.messages.events import Event

ALONE: Final = ("Hello", "Paused")
"""What has to be understood of a rank that is alone; all else goes on as it came."""


class Heard(NamedTuple):
    """A message of a rank: its tag and its bytes, and what it says, where that has to be understood."""

    kind: str
    body: bytes
    message: Event | None


class RankReader(Decoder[Event]):
    """Takes bytes of one rank as they come, and gives its messages.

    A frame is as large as one of a host at most, and holds as many values at most.
    """

    def __init__(self, is_alone: bool) -> None:
        """`is_alone`: there is no other rank, so most of what it says is not looked at."""
        super().__init__(cast(type[Event], Event), LARGEST_FAR_FRAME)
        self._is_alone = is_alone

    def hear(self, data: bytes) -> Iterator[Heard]:
        """The messages that are completed by `data`, in order.

        Raises:
            BrokenFrame: it is something else than messages, or too large.
        """
        for body in self.cut(data):
            kind = kind_of(body)
            passes = self._is_alone and kind not in ALONE
            yield Heard(kind, body, None if passes else self.decode(body))

    def decode(self, body: bytes) -> Event:
        """As of any engine, but not before it is known how many values it holds.

        Raises:
            BrokenFrame: it is something else, or holds too many.
        """
        if len(body) > MOST_PARTS and has_more_parts(body, MOST_PARTS):
            raise BrokenFrame(f"A message of {len(body)} bytes holds more than {MOST_PARTS} values.")
        return super().decode(body)
