"""Samples of the memory plot: a ring of the last minutes, in numpy."""

import numpy as np
from PySide6.QtCore import QObject, Signal

from gradstudio.protocol.messages import Memory
from gradstudio.ui.state.throttle import Throttle

CAPACITY = 12_000
"""Samples kept: twenty minutes at ten a second."""


class MemoryStore(QObject):
    """What the engine said of its memory.

    Attributes:
        marks: (seconds, text) of runs and backwards.
        device: whose memory the newest sample tells.

    Signals:
        changed(): new samples, at most ten times a second.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """No sample yet."""
        super().__init__(parent)
        self._times = np.zeros(CAPACITY)
        self._series: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
        self._count = 0
        self._start_s: float | None = None
        self.marks: list[tuple[float, str]] = []
        self.device = ""
        self._throttle = Throttle(100, self)
        self._throttle.due.connect(self.changed)

    @property
    def names(self) -> tuple[str, ...]:
        """The series there are, in the order they came."""
        return tuple(self._series)

    @property
    def times_s(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Seconds since the first sample, shape ``(samples,)``."""
        return self._times[: self._count]

    def series(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Bytes of one series, shape ``(samples,)``; NaN where it was not told."""
        return self._series[name][: self._count]

    def newest(self, name: str) -> float | None:
        """The newest figure of a series in bytes, or None."""
        return float(self._series[name][self._count - 1]) if self._count and name in self._series else None

    def add(self, sample: Memory) -> None:
        """Keep one sample; a device other than before begins a new plot."""
        if sample.device != self.device:
            self.clear()
            self.device = sample.device
        if self._start_s is None or sample.time_s < self._start_s:
            self.clear()
            self._start_s, self.device = sample.time_s, sample.device
        seconds = sample.time_s - self._start_s
        if self._count == CAPACITY:
            self._forget_half()
        self._times[self._count] = seconds
        for name, size_bytes in sample.series.items():
            self._series.setdefault(name, np.full(CAPACITY, np.nan))[self._count] = size_bytes
        self._count += 1
        if sample.mark:
            self.marks.append((seconds, sample.mark))
        self._throttle.request()

    def clear(self) -> None:
        """Forget everything (another engine, another device)."""
        self._series.clear()
        self.marks.clear()
        self._count, self._start_s = 0, None

    def _forget_half(self) -> None:
        half = CAPACITY // 2
        for values in (self._times, *self._series.values()):
            values[:half] = values[half:]
            values[half:] = np.nan
        self._count = half
        self.marks = [mark for mark in self.marks if mark[0] >= self._times[0]]
