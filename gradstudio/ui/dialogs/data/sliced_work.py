"""Work of the data readers, carried out between what the window has to do: a slice, then the window's turn."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QWidget

from gradstudio.document.data.model import Progress, Work
from gradstudio.document.errors import BadData
from gradstudio.ui.theme import scale_px

SLICE_S: Final = 0.02
BAR_PX: Final = 180
Result = TypeVar("Result")


class SlicedWork(QObject):
    """One piece of work at a time; what is short is done before `start` returns."""

    def __init__(self, show: Callable[[Progress | None], None], parent: QObject) -> None:
        """Nothing to do.

        Args:
            show: is told how far the work is, behind each slice that is not the last one; None: there is none.
        """
        super().__init__(parent)
        self._show = show
        self._advance: Callable[[], bool] | None = None
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def is_busy(self) -> bool:
        """Whether it is under way."""
        return self._advance is not None

    def start(
        self, work: Work[Result], done: Callable[[Result], None], refused: Callable[[BadData], None]
    ) -> None:  # fmt: skip
        """Begin, and end what was begun before."""
        self.stop()

        def advance() -> bool:
            """Whether the work goes on behind this slice."""
            until = time.perf_counter() + SLICE_S
            try:
                progress = next(work)
                while time.perf_counter() < until:
                    progress = next(work)
            except StopIteration as end:
                self.stop()
                done(end.value)
            except BadData as error:
                self.stop()
                refused(error)
            else:
                self._show(progress)
                return True
            return False

        self._advance = advance
        if advance():
            self._timer.start()

    def stop(self) -> None:
        """End it; nothing more is told of it."""
        self._timer.stop()
        self._advance = None
        self._show(None)

    def _on_timer_timeout(self) -> None:
        if self._advance is not None:
            self._advance()


class ProgressRow(QWidget):
    """A bar, and beside it how much of what is done."""

    def __init__(self) -> None:
        """Without work, nothing is seen of it."""
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        self._bar = QProgressBar()
        self._bar.setAccessibleName("How much is read")
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(scale_px(BAR_PX), scale_px(6))
        self._words = QLabel()
        self._words.setProperty("role", "dim")
        row.addWidget(self._bar)
        row.addWidget(self._words)
        self.show_progress(None)

    def show_progress(self, progress: Progress | None) -> None:
        """Say how far it is."""
        for widget in (self._bar, self._words):
            widget.setVisible(progress is not None)
        if progress is None:
            return
        self._bar.setRange(0, progress.total)
        self._bar.setValue(progress.done)
        counted = f"{progress.done:,} of {progress.total:,} {progress.words}" if progress.total else progress.words
        self._words.setText(f"Reading: {counted}")
