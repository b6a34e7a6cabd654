"""Collects what is logged at WARNING or above."""

import logging
from types import TracebackType


class LogWatch(logging.Handler):
    """Collects log lines at WARNING or above while it is entered.

    Attributes:
        lines: what was logged, formatted.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def __enter__(self) -> "LogWatch":
        logging.getLogger().addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger().removeHandler(self)
