"""What follows when a run fails, or breaks off in the middle of a turn that nobody records."""

from collections.abc import Callable

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.run.failure_report import block_failure, step_failure, untraced_failure
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.script.cursor import HeadFailed
from gradstudio.engine.turns.quick_loop import TurnsEnd
from gradstudio.protocol.messages.base import Message


class RunFailures:
    """Tells of failures, behind all that ran before them, and leaves the live state where another verb can go on."""

    def __init__(
        self, send: Callable[[Message], None], flush: Callable[[], None], max_values: Callable[[], int]
    ) -> None:
        """Failures go to `send`, behind what `flush` sends."""
        self._send, self._flush, self._max_values = send, flush, max_values

    def at_step(self, live: Live, step: Step, error: Exception) -> str:
        """A statement raised: "failed", or "done" where the program ended itself."""
        self._flush()
        if live.has_ended(error):
            return live.end()
        live.failed = True
        with clean_modes():
            self._send(step_failure(live, step, error, self._max_values()))
        live.leave_calls()
        return "failed"

    def at_head(self, live: Live, error: HeadFailed) -> str:
        """The head of a block raised."""
        live.failed = True
        self._flush()
        self._send(block_failure(live, error))
        live.leave_calls()
        return "failed"

    def break_off(self, live: Live, end: TurnsEnd) -> str:
        """Turns broke off: "stopped", "failed", "done", or "" where the statement there says why itself."""
        if end.is_goal:
            return "done"
        head, error = live.cursor.frames[-1].head, end.error
        assert head is not None
        if error is not None and end.place is None:
            failed = HeadFailed(head)
            failed.__cause__ = error
            return self.at_head(live, failed)
        if end.inner:
            live.resumable = False
            return "stopped" if error is None else self._inside(live, error)
        live.cursor.stand(end.place or ())
        return "" if error is not None else "stopped"

    def _inside(self, live: Live, error: Exception) -> str:
        """Somewhere in an inner loop: it is told where, and nobody can go on from there."""
        self._flush()
        live.failed = True
        with clean_modes():
            self._send(untraced_failure(live, error, self._max_values()))
        return "failed"
