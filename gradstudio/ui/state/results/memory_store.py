"""Samples of the memory plot: for each device a ring of the last minutes, in numpy."""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QObject, Signal

from gradstudio.protocol.messages.events import Memory
from gradstudio.ui.state.throttle import Throttle

if TYPE_CHECKING:
    import numpy as np

CAPACITY = 12_000
"""Samples kept a device: twenty minutes at ten a second."""
FLAT = 3
"""Of samples that say the same, so many are kept; the newest stands for all that follow."""
CPU = "cpu"
OF_TENSORS = ("tensors", "gradients", "optimizer", "kept", "allocated", "peak")
"""Series that runs make, in the order they are shown."""

Numbers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


class _Ring:
    """The samples of one device."""

    def __init__(self) -> None:
        self.series: dict[str, Numbers] = {}
        self.count = 0
        self.marks: list[tuple[float, str]] = []
        self._last: dict[str, int] = {}
        self._alike = 0

    @cached_property
    def times(self) -> Numbers:
        """Seconds of each sample."""
        import numpy as np

        return np.zeros(CAPACITY)

    def add(self, seconds: float, series: dict[str, int], mark: str) -> bool:
        """Keep a sample; False when it only draws out what was said before."""
        self._alike = self._alike + 1 if series == self._last and not mark else 0
        self._last = series
        if self._alike >= FLAT:
            self.times[self.count - 1] = seconds
            return False
        if self.count == CAPACITY:
            self._forget_half()
        self.times[self.count] = seconds
        for name, size_bytes in series.items():
            if name not in self.series:
                self.series[name] = _unknown()
            self.series[name][self.count] = size_bytes
        self.count += 1
        if mark:
            self.marks.append((seconds, mark))
        return True

    def _forget_half(self) -> None:
        half = CAPACITY // 2
        for values in (self.times, *self.series.values()):
            values[:half] = values[half:]
            values[half:] = math.nan
        self.count = half
        self.marks = [mark for mark in self.marks if mark[0] >= self.times[0]]


def _unknown() -> Numbers:
    """A series that was not told yet."""
    import numpy as np

    return np.full(CAPACITY, np.nan)


class MemoryStore(QObject):
    """What the engine said of its memory; one device is shown.

    Attributes:
        device: whose memory is shown: the document's, as far as it has told something.
        of_others: only other documents have run on the engine, which all of a window share.

    Signals:
        changed(): samples that say something new, at most ten times a second.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """No sample yet."""
        super().__init__(parent)
        self._rings: dict[str, _Ring] = {}
        self._numbers: Counter[str] = Counter()
        self._start_s: float | None = None
        self._mark = (-1.0, "")
        self._preferred = CPU
        self.device, self.of_others = CPU, False
        self._throttle = Throttle(100, self)
        self._throttle.due.connect(self.changed)

    @property
    def names(self) -> tuple[str, ...]:
        """The series there are, what runs make first; without that where it is all another document's."""
        others = tuple(name for name in self._ring.series if name not in OF_TENSORS)
        return others if self.of_others else (*(name for name in OF_TENSORS if name in self._ring.series), *others)

    @property
    def times_s(self) -> Numbers:
        """Seconds since the first sample, shape ``(samples,)``."""
        return self._ring.times[: self._ring.count]

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Seconds and text of each run, forward and backward."""
        return self._ring.marks

    def series(self, name: str) -> Numbers:
        """Bytes of one series, shape ``(samples,)``; NaN where it was not told."""
        return self._ring.series[name][: self._ring.count]

    def newest(self, name: str) -> float | None:
        """The newest figure of a series in bytes, or None: it is not told while another document is live."""
        ring = self._ring
        newest = float(ring.series[name][ring.count - 1]) if ring.count and name in ring.series else math.nan
        return None if math.isnan(newest) else newest

    def plot_s(self, engine_s: float) -> float | None:
        """Seconds of the plot for monotonic seconds of the engine; None before the first sample."""
        return None if self._start_s is None else engine_s - self._start_s

    def prefer(self, device: str) -> None:
        """Show this device's memory ("cuda:0"; "auto": an accelerator) as soon as it tells something."""
        self._preferred = device
        self._choose()

    def add(self, sample: Memory) -> None:
        """Keep one sample; the clock of a new engine goes on where the old one's stood."""
        if self._start_s is None:
            self._start_s = sample.time_s
        if sample.time_s < self._start_s:
            self.clear()
            self._start_s = sample.time_s
        if sample.device not in self._rings:
            self._rings[sample.device] = _Ring()
        ring = self._rings[sample.device]
        is_new = ring.add(sample.time_s - self._start_s, sample.series, self._numbered(sample))
        before = self.device
        self._choose()
        if is_new or self.device != before:
            self._throttle.request()

    def clear(self) -> None:
        """Forget everything."""
        self._rings.clear()
        self._numbers.clear()
        self._start_s = None
        self._choose()
        self._throttle.request()

    @property
    def _ring(self) -> _Ring:
        return self._rings.get(self.device) or _Ring()

    def _choose(self) -> None:
        wanted = self._preferred
        fitting = [name for name in self._rings if name == wanted or name.partition(":")[0] == wanted]
        if wanted == "auto":
            fitting = [name for name in self._rings if name != CPU]
        self.device = fitting[0] if fitting else CPU

    def _numbered(self, sample: Memory) -> str:
        """The mark with its number ("Run 3"); samples of one moment share one."""
        if not sample.mark:
            return ""
        if self._mark[0] != sample.time_s:
            self._numbers[sample.mark] += 1
            self._mark = (sample.time_s, f"{sample.mark} {self._numbers[sample.mark]}")
        return self._mark[1]
