"""What comes from a host: first its greeting, then frames that are smaller than those of an engine of our own.

Whoever is there may send anything, so nothing is kept beyond a bound, and nothing is ever executed.
"""

from collections.abc import Callable
from typing import Final, cast

from gradstudio.protocol.errors import BrokenFrame, HostFailed
from gradstudio.protocol.hosts.bounded_decoder import BoundedDecoder
from gradstudio.protocol.hosts.host_command import MARK, MARK_END, STARTS
from gradstudio.protocol.messages.events import Event
from gradstudio.protocol.messages.hosting import Document, Handover, Lacking, Staying

MOST_NOISE: Final = 1 << 16
"""So much may stand before the greeting: what a shell prints when it starts."""
MOST_REASON: Final = 2000
OF_PORTER: Final = Lacking | Staying | Document | Handover
"""What is said by the porter, not by the engine."""


class Greeting:
    """Reads up to the mark, and what is said there.

    Attributes:
        noise: what stood before the mark.
    """

    def __init__(self) -> None:
        """Nothing was read."""
        self.noise = bytearray()
        self.reason = ""

    def feed(self, data: bytes) -> bytes | None:
        """What follows the mark, when it is whole; `reason` is then what stood in it.

        Raises:
            BrokenFrame: more came than any greeting has.
        """
        self.noise += data
        begin = self.noise.find(MARK)
        end = self.noise.find(MARK_END, begin) if begin >= 0 else -1
        if end >= 0:
            self.reason = self.noise[begin + len(MARK) : end].decode("utf-8", "replace")
            rest = bytes(self.noise[end + len(MARK_END) :])
            del self.noise[begin:]
            return rest
        if len(self.noise) > MOST_NOISE or (begin >= 0 and len(self.noise) - begin > MOST_REASON):
            start = bytes(self.noise[:60])
            raise BrokenFrame(
                f"No engine answers: what comes is something else, and begins with {start!r}. "
                "Does a file that its shell reads at the start print without end?"
            )
        return None


class FarDecoder(BoundedDecoder):
    """Takes bytes of a host as they come, and gives the events that are complete.

    Attributes:
        greeted: whether an engine has begun there.
        heard: how many messages of the engine came.
    """

    def __init__(self, refusal: Callable[[str], str]) -> None:
        """`refusal` puts the reason why no engine begins into words."""
        super().__init__(cast(type[Event], Event | OF_PORTER))
        self._refusal, self._greeting = refusal, Greeting()
        self.greeted, self.heard = False, 0

    @property
    def noise(self) -> str:
        """What was printed there before the engine."""
        return self._greeting.noise.decode("utf-8", "replace").strip()

    def feed(self, data: bytes) -> list[Event]:
        """The events completed by `data`, in order.

        Raises:
            BrokenFrame: it is something else than events, or too large.
            HostFailed: no engine begins there; why.
        """
        if self.greeted:
            return self._count(super().feed(data))
        rest = self._greeting.feed(data)
        if rest is None:
            return []
        if self._greeting.reason != STARTS:
            raise HostFailed(self._refusal(self._greeting.reason))
        self.greeted = True
        return self._count(super().feed(rest))

    def _count(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, Staying):
                self.heard = event.said
            elif not isinstance(event, OF_PORTER):
                self.heard += 1
        return events
