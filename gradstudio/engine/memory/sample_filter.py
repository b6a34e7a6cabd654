"""Samples of memory that say what the one before said wake nobody: few of them are sent, and none of them is lost."""

from collections.abc import Iterator

from gradstudio.protocol.messages.events import Memory

MOST_ALIKE = 3
"""So many samples in a row are sent that say the same."""
QUIET_S = 0.5
"""So often one is sent after that, as long as they say the same."""


class SampleFilter:
    """Which samples of one device are sent."""

    def __init__(self) -> None:
        """None was."""
        self._sent: Memory | None = None
        self._alike = 0
        self._kept_back: Memory | None = None

    def pass_on(self, sample: Memory) -> Iterator[Memory]:
        """The samples to send now: before one that says something else the last kept back, which ends a line."""
        before = self._sent
        if before is None or sample.mark or sample.series != before.series:
            if self._kept_back is not None:
                yield self._kept_back
            self._alike = 0
        else:
            self._alike += 1
            if self._alike >= MOST_ALIKE and sample.time_s - before.time_s < QUIET_S:
                self._kept_back = sample
                return
        self._sent, self._kept_back = sample, None
        yield sample
