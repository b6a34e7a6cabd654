"""A run without a trace, from its beginning to however it ends."""

from collections.abc import Callable

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import Stopped
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.run.failure_report import untraced_failure
from gradstudio.engine.run.run_targets import statements_before
from gradstudio.engine.run.untraced_run import compile_untraced, run_untraced
from gradstudio.protocol.messages.base import Message


def run_whole(
    live: Live,
    stopped: Callable[[], bool],
    load_file: Callable[..., object],
    send: Callable[[Message], None],
    max_values: int,
) -> tuple[str, int]:
    """Execute the program as one text, in the names of a live state that is at its beginning.

    Returns:
        "done", "stopped" or "failed", and how many statements of the text had run.
    """
    loaded = live.loaded
    lines = frozenset(step.statement.line for step in loaded.backwards)
    try:
        run_untraced(live, compile_untraced(loaded.program, lines), stopped, load_file, send)
    except Stopped as stop:
        return "stopped", statements_before(loaded, loaded.places.of_traceback(stop.__traceback__)[0])
    except Exception as error:  # noqa: BLE001 - the step boundary: the program as one text
        with clean_modes():
            failed = untraced_failure(live, error, max_values)
        reached = loaded.places.outermost(error.__traceback__) or failed.node
        live.failed = not live.has_ended(error)
        if live.failed:
            send(failed)
        return "failed" if live.failed else "done", statements_before(loaded, reached)
    return "done", len(loaded.steps)
