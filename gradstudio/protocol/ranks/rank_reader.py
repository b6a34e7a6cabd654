"""What a rank says, read as from a stranger: within bounds, checked, never executed.

A rank runs its user's code, which may write anything into the pipe, or die in the middle of a frame.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from gradstudio.protocol.framing import kind_of
from gradstudio.protocol.hosts.bounded_decoder import BoundedDecoder
from gradstudio.protocol.messages.events import Event

ALONE: Final = ("Hello", "Paused")
"""What has to be understood of a rank that is alone; all else goes on as it came."""


class Heard(NamedTuple):
    """A message of a rank: its tag and its bytes, and what it says, where that has to be understood."""

    kind: str
    body: bytes
    message: Event | None


class RankReader(BoundedDecoder):
    """Takes bytes of one rank as they come, and gives its messages.

    A frame is as large as one of a host at most, and holds as many values at most.
    """

    def __init__(self, is_alone: bool) -> None:
        """`is_alone`: there is no other rank, so most of what it says is not looked at."""
        super().__init__(cast(type[Event], Event))
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
