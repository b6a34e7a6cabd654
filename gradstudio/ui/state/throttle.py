"""One throttle for everything that arrives faster than the eye."""

from PySide6.QtCore import QObject, QTimer, Signal


class Throttle(QObject):
    """Announces at most once per interval, and always after the last request.

    Signals:
        due: on the window's thread, at most every `interval_ms`.
    """

    due = Signal()

    def __init__(self, interval_ms: int, parent: QObject | None = None) -> None:
        """Keep quiet until `request` is called."""
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._interval_ms = interval_ms
        self._timer.timeout.connect(self._on_timer_timeout)

    def set_interval(self, interval_ms: int) -> None:
        """Announce at most so often from now on."""
        self._interval_ms = interval_ms

    @property
    def pending(self) -> bool:
        """Whether an announcement is waiting."""
        return self._timer.isActive()

    def request(self) -> None:
        """Announce when the interval that runs now is over."""
        if not self._timer.isActive():
            self._timer.start(self._interval_ms)

    def flush(self) -> None:
        """Announce now if something is waiting."""
        if self._timer.isActive():
            self._timer.stop()
            self.due.emit()

    def cancel(self) -> None:
        """Forget what was requested."""
        self._timer.stop()

    def _on_timer_timeout(self) -> None:
        self.due.emit()
