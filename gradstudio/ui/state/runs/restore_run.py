"""The way back to a run: its program as one step of the document, and what it had learnt."""

from functools import partial
from typing import Final

from gradstudio.document.errors import NothingToContinue
from gradstudio.document.runs.kept_run import PARAMETERS, KeptRun
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer
from gradstudio.ui.state.runs.bring_back import bring_back_program
from gradstudio.ui.state.session import Session

BACK: Final = "The document is as it was in that run; undo (Ctrl+Z) takes it back. {learnt}"
ANOTHER: Final = "Run “{label}” is of another program than the one on the canvas."
PUT_BACK: Final = "Put it back, continue from turn {turn:,}"
UNDONE: Final = "Its program takes the place of what is on the canvas, as a step to undo."
LEARNT: Final = "What it had learnt is put back."
NOTHING_LEARNT: Final = "What it had learnt was not kept: Run (F5) learns it again."


def restore(session: Session, run: KeptRun, label: str, name: str = PARAMETERS) -> None:
    """Make the document what it was, and the run what it had learnt, at its end or where that was best (`BEST`).

    What cannot be read is refused in words.
    """
    if not bring_back_program(session.graph_store, session.run, run, f"Restore run {label}"):
        return
    try:
        data = run.parameters(name) if run.has_parameters or name != PARAMETERS else b""
    except NothingToContinue:
        data = b""
    if not data:
        session.run.status.noted.emit(BACK.format(learnt=NOTHING_LEARNT))
        return
    session.run.do("continue", checkpoint=data, stays=True, breakpoints=())
    if session.run.state.busy:
        _say_at_rest(session.run, BACK.format(learnt=LEARNT))


def go_on_from(session: Session, run: KeptRun, label: str) -> None:
    """Train on from where what a run had learnt was kept, in its folder; asks before another program is put back."""
    if session.runs.is_of_program(run):
        session.runs.go_on(run)
        return
    words, action = ANOTHER.format(label=label), PUT_BACK.format(turn=run.learnt_turns)
    accept = partial(_put_back_and_go_on, session, run, label)
    session.run.status.offered.emit(Offer(words, action, accept, lambda: None, UNDONE))


def _put_back_and_go_on(session: Session, run: KeptRun, label: str) -> None:
    if bring_back_program(session.graph_store, session.run, run, f"Continue run {label}"):
        session.runs.go_on(run)


def _say_at_rest(run: RunController, words: str) -> None:
    """Say it when the run has come there: until then the status bar says how far it is."""

    def on_state_changed(state: RunState) -> None:
        is_about_to_begin = state.verb and not state.outcome
        if state.busy or is_about_to_begin:
            return
        run.state_changed.disconnect(on_state_changed)
        if state.outcome == "done":
            run.status.noted.emit(words)

    run.state_changed.connect(on_state_changed)
