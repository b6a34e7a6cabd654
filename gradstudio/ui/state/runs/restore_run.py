"""The way back to a run: its program as one step of the document, and what it had learnt; and back from there."""

from functools import partial
from typing import Final, NamedTuple

from gradstudio.document.errors import NothingToContinue
from gradstudio.document.runs.kept_run import BEST, PARAMETERS, KeptRun
from gradstudio.document.runs.run_comparison import line_differences, literal_differences
from gradstudio.document.runs.run_literals import literals_of
from gradstudio.graph.edits import ReplaceNode
from gradstudio.program.write import write_script
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer
from gradstudio.ui.state.runs.bring_back import bring_back_program
from gradstudio.ui.state.session import Session

BACK: Final = "{learnt} Undo (Ctrl+Z) takes the document back."
SAME: Final = "{learnt} The document is as it was."
ANOTHER: Final = "Run “{label}” is of another program than the one on the canvas."
PUT_BACK: Final = "Put it back, continue from turn {turn:,}"
UNDONE: Final = "Its program takes the place of what is on the canvas, as a step to undo."
LEARNT: Final = "What it had learnt is put back{turn}."
NOTHING_LEARNT: Final = "What it had learnt was not kept: Run (F5) learns it again."


class Restored(NamedTuple):
    """What came back of a run.

    Attributes:
        label: how the run is called.
        learnt: in words what it had learnt, and by which turn.
        changes: what the document had otherwise before: ``opt.lr 0.3 → 0.1``; empty: nothing.
        step: the place of the edit on the stack of undo; 0: there is none.
        before: the run that was on the canvas before, by id; "": none.
    """

    label: str
    learnt: str
    changes: tuple[str, ...]
    step: int
    before: str


def restore(session: Session, run: KeptRun, label: str, name: str = PARAMETERS) -> Restored | None:
    """Make the document what it was, and the run what it had learnt, at its end or where that was best (`BEST`).

    What cannot be read is refused in words.

    Returns:
        What came back; None: nothing.
    """
    store, before = session.graph_store, session.runs.current
    changes = _changes(session, run)
    edits = bring_back_program(store, session.run, run, f"Restore run {label}")
    if edits is None:
        return None
    replaced = [edit.node.id for edit in edits if isinstance(edit, ReplaceNode)]
    session.attention.select([item for item in replaced if item in store.graph])
    learnt = _learnt(run, name) if _put_back_learnt(session, run, name, bool(edits)) else NOTHING_LEARNT
    return Restored(label, learnt, changes, store.undo_stack.index() if edits else 0, before)


def take_back(session: Session, restored: Restored) -> None:
    """The document as it was before a run was restored, and what the run on the canvas had learnt by then."""
    stack = session.graph_store.undo_stack
    if restored.step and stack.index() == restored.step:
        session.graph_store.undo()
    run = session.runs.list.find(restored.before)
    if run is not None:
        _put_back_learnt(session, run, PARAMETERS, False)


def _put_back_learnt(session: Session, run: KeptRun, name: str, is_edited: bool) -> bool:
    """Have the engine take up what was learnt, and say it when it has; False where nothing was kept."""
    words = BACK if is_edited else SAME
    try:
        data = run.parameters(name) if run.has_parameters or name != PARAMETERS else b""
    except NothingToContinue:
        data = b""
    if not data:
        session.run.status.noted.emit(words.format(learnt=NOTHING_LEARNT))
        return False
    session.run.do("continue", checkpoint=data, stays=True, breakpoints=())
    if session.run.state.busy:
        _say_at_rest(session.run, words.format(learnt=_learnt(run, name)))
    return True


def _learnt(run: KeptRun, name: str) -> str:
    turn = run.record.best_turns if name == BEST else run.learnt_turns
    return LEARNT.format(turn=f" as of turn {turn:,}" if turn else "")


def _changes(session: Session, run: KeptRun) -> tuple[str, ...]:
    """What a run has otherwise than the document: its literals, else how many lines of its program."""
    graph = session.graph_store.graph
    literals = literal_differences(literals_of(graph), run.record.literals)
    changes = tuple(f"{one.name} {one.first or '–'} → {one.second or '–'}" for one in literals)
    lines = sum(line.side in ("-", "+") for line in line_differences(write_script(graph), run.program()))
    return changes if changes or not lines else (f"{lines} lines of the program",)


def go_on_from(session: Session, run: KeptRun, label: str) -> None:
    """Train on from where what a run had learnt was kept, in its folder; asks before another program is put back."""
    if session.runs.is_of_program(run):
        session.runs.go_on(run)
        return
    words, action = ANOTHER.format(label=label), PUT_BACK.format(turn=run.learnt_turns)
    accept = partial(_put_back_and_go_on, session, run, label)
    session.run.status.offered.emit(Offer(words, action, accept, lambda: None, UNDONE))


def _put_back_and_go_on(session: Session, run: KeptRun, label: str) -> None:
    if bring_back_program(session.graph_store, session.run, run, f"Continue run {label}") is not None:
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
