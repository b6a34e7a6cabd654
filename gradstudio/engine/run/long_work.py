"""Names a statement that has been at work for long, from another thread: its row comes only when it is over."""

import time
from collections.abc import Callable

from gradstudio.engine.run.statement_runner import Runner
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.progress import Running

LONG_S = 0.2
"""A statement that has been at work for so long is named."""


class LongWork:
    """Says of each statement once where it is, when it has been at work for `LONG_S`."""

    def __init__(self, send: Callable[[Message], None], runner: Runner) -> None:
        """Look at what this runner does."""
        self._send, self._runner, self._told = send, runner, 0.0

    def look(self) -> None:
        """Look whether it is time to say something."""
        runner = self._runner
        started, step = runner.started, runner.current
        seconds = time.perf_counter() - started
        if step is not None and started != self._told and seconds >= LONG_S and runner.started == started:
            self._told = started
            self._send(Running(line=step.statement.line, node=step.id, seconds=seconds))
