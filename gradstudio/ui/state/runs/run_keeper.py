"""Keeps each training of a document while it runs: curves every few seconds, what was learnt when it rests."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gradstudio.document.errors import CannotSave, NothingToContinue
from gradstudio.document.event_files import Points
from gradstudio.document.runs.kept_run import KeptRun, RunRecord, State, acknowledge, kept_runs, runs_of
from gradstudio.document.runs.run_literals import literals_of
from gradstudio.document.runs.run_writer import Figure, RunWriter, learnt_curves, move_run, own_turns
from gradstudio.graph.model import Graph
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.events import Event, Log, Started
from gradstudio.protocol.messages.progress import LARGEST_KEPT, CheckpointKept, CurveKey
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_requests import REPEATS
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer
from gradstudio.ui.state.runs.run_list import RunList, when

if TYPE_CHECKING:
    from gradstudio.ui.state.runs.sweep_process import SweepProcess

EVERY_S: Final = 3.0
LEAST_TURNS: Final = 2
NO_ROOM: Final = "This run is not kept: {reason}"
GO_ON: Final = "Continue from turn {turn:,}"
PUTS_BACK: Final = "The program was changed since: it is put back, as a step to undo."
OTHER_TEXT: Final = (
    "The program is not the one that was cut off. Continue in the Runs dock puts that back, as a step to undo."
)
LEFT: Final = "The document was closed while it ran."


class Document(Protocol):
    """What is asked of a session."""

    path: Path | None
    identity: str
    results: ResultStore
    run: RunController
    engine: EngineLine
    graph_store: GraphStore
    path_changed: SignalInstance

    @property
    def runs_folder(self) -> Path | None:
        """Where its runs are kept; None: nowhere."""


class RunKeeper(QObject):
    """Writes the run of one document.

    Signals:
        changed(): a run was begun, has ended, or says something else.
    """

    changed = Signal()

    def __init__(self, session: Document, parent: QObject) -> None:
        """Follow a session's run, from its curves on."""
        super().__init__(parent)
        self._session, self._tables = session, session.results.tables
        self._writer: RunWriter | None = None
        self._began_s = self._written_s = 0.0
        self._asked = self._asked_turns = self._threads = 0
        self._seed: int | None = None
        self._is_refused = False
        self._resumed: KeptRun | None = None
        self._early = dict[bool, CheckpointKept]()
        self._marks_before: tuple[str, ...] = ()
        self._untitled = self._untitled_folder
        session.run.status.kept_turns = lambda: self._writer.run.learnt_turns if self._writer is not None else 0
        self._tables.curves.changed.connect(self.look)
        session.run.state_changed.connect(self._on_run_state_changed)
        session.run.questions.answered.connect(self._on_answered)
        session.engine.received.connect(self._on_engine_received)
        session.graph_store.replaced.connect(self._on_store_replaced)
        session.path_changed.connect(self._on_path_changed)

    @cached_property
    def list(self) -> RunList:
        """All runs of the document, as they are looked at."""
        return RunList(self._session.results.tables.curves, self)

    @cached_property
    def sweep(self) -> SweepProcess:
        """Trainings for combinations of literals, in the background."""
        from gradstudio.ui.state.runs.sweep_process import SweepProcess

        sweep = SweepProcess(self)
        sweep.ended.connect(self._session.run.status.noted)
        return sweep

    @property
    def folder(self) -> Path | None:
        """Where the runs of the document are kept; None: nowhere."""
        return self._session.runs_folder

    @property
    def _untitled_folder(self) -> Path | None:
        """Where they are kept until it is saved; None once it is."""
        return self._session.runs_folder if self._session.path is None else None

    @property
    def current(self) -> str:
        """The id of the run that is written now, or was written last and can go on; "": none."""
        return self._writer.folder.name if self._writer is not None else ""

    @property
    def _graph(self) -> Graph:
        """The program that ran, with the literals that hold now."""
        return self._tables.names.graph_or(self._session.graph_store.graph)

    def look(self) -> None:
        """There may be more of the curves."""
        if self._writer is None:
            self._begin()
        elif self._writer.record.state == "running" and time.monotonic() - self._written_s >= EVERY_S:
            self._write()

    def go_on(self, run: KeptRun) -> None:
        """Train on in the folder of a run that has ended, from where what it had learnt was kept."""
        status = self._session.run.status
        if not self.is_of_program(run):
            status.refused.emit(OTHER_TEXT)
            return
        try:
            data = run.parameters()
        except NothingToContinue as error:
            status.refused.emit(str(error))
            return
        self._resumed = run
        self._session.run.do("continue", checkpoint=data, breakpoints=())
        if not self._session.run.state.busy:
            self._resumed = None

    def offer(self) -> None:
        """Say that the newest run was cut off, and that it can go on, where its program is the one that stands."""
        folder = self.folder
        newest = next(kept_runs(folder), None) if folder is not None else None
        is_busy = self._session.run.state.busy
        if newest is not None and newest.was_cut_off and not is_busy and self.is_of_program(newest):
            self._offer(newest)

    def is_of_program(self, run: KeptRun) -> bool:
        """Whether what stands on the canvas is what ran."""
        return run.program() == write_script(self._session.graph_store.graph)

    def _offer(self, run: KeptRun, reason: str = "") -> None:
        from gradstudio.ui.state.runs.early_end import cut_off_words

        words, action = cut_off_words(run.record.turns, reason), GO_ON.format(turn=run.learnt_turns)
        does, why = (self.go_on, "") if self.is_of_program(run) else (self._put_back, PUTS_BACK)
        offer = Offer(words, action, partial(does, run), partial(self._acknowledge, run), why)
        self._session.run.status.offered.emit(offer)

    def _put_back(self, run: KeptRun) -> None:
        from gradstudio.ui.state.runs.bring_back import bring_back_program

        title = f"Continue run {when(run)}"
        if bring_back_program(self._session.graph_store, self._session.run, run, title) is not None:
            self.go_on(run)

    def _acknowledge(self, run: KeptRun) -> None:
        """It stays as it ended, and is offered no more by itself; the Runs dock has it."""
        with contextlib.suppress(OSError, CannotSave):
            acknowledge(run)
        self.changed.emit()

    def leave(self) -> None:
        """The run is no longer this document's: what it was is all there will be."""
        writer = self._writer
        if writer is not None and writer.record.state == "running":
            self._set_state("stopped", LEFT)
            self._write()
        elif writer is not None and writer.record.state == "paused":
            writer.record.state = "stopped"  # what is kept is as it was then
            with self._refusals():
                writer.save()
        self._writer = None

    def close(self) -> None:
        """The document is closed."""
        self.leave()
        if "sweep" in self.__dict__:
            self.sweep.leave()

    # ------------------------------------------------------------------ inner workings

    def _begin(self) -> None:
        """A run whose loop has turned twice is worth a folder."""
        state, folder, curves = self._session.run.state, self.folder, self._tables.curves
        turns = max((len(numbers) for numbers, _ in map(curves.points, curves.names)), default=0)
        is_own = state.live and not state.is_record and state.verb not in REPEATS
        if folder is None or self._is_refused or not is_own or turns < LEAST_TURNS or curves.parts:
            return
        graph = self._graph
        seed = graph.header.seed if graph.header.seed is not None else self._seed
        self._began_s = time.monotonic()
        record = RunRecord(seed=seed, device=graph.header.device, threads=self._threads, literals=literals_of(graph))
        record.document = self._session.identity
        with self._refusals():
            self._writer = RunWriter(folder, record, write_script(graph))
            self._asked_turns, self._marks_before = 0, ()
            self._note_state(state)
        self._write()
        early, self._early = self._early, {}
        for kept in early.values():
            self._keep(kept)
        self._say_what_came_out()  # of one that was over before its curves were looked at

    def _write(self) -> None:
        writer = self._writer
        if writer is None:
            return
        self._note_marks(writer)
        with self._refusals():
            writer.add(self._curves())
            writer.save()
        self.changed.emit()

    def _note_marks(self, writer: RunWriter) -> None:
        """What is about to be written is of now, with what was changed up to here."""
        self._written_s = time.monotonic()
        if writer.record.state == "running":
            writer.record.seconds = self._written_s - self._began_s
        curves = self._tables.curves
        changes = [f"from turn {mark.number + 1}: {mark.words}" for mark in curves.marks_on_axis()]
        writer.record.marks = (*self._marks_before, *changes)
        writer.record.each = {self._title(key): curves.each(loop) for key, (loop, _) in curves.longest().items()}

    def _curves(self) -> dict[str, Points]:
        store = self._tables.curves
        return {self._title(key): store.steps(name) for key, name in store.longest().items()}

    def _title(self, key: CurveKey) -> str:
        return self._tables.names.curve_title(key)

    def _resume(self, event: Started) -> None:
        """The run that has begun goes on from one that was kept: in its folder, and behind its curves."""
        run, self._resumed = self._resumed, None
        if run is None or event.verb != "continue":
            return
        curves = learnt_curves(run)
        own = own_turns(run, curves)
        with self._refusals():
            self._writer = RunWriter.resume(run, curves)
            self._began_s = time.monotonic() - run.record.seconds
            self._asked_turns, self._marks_before = 0, run.record.marks
            self._tables.curves.earlier = lambda key: own.get(self._title(key))
            self.changed.emit()

    def _keep(self, kept: CheckpointKept) -> None:
        """A checkpoint came; it may come before there is anything of the run to write."""
        if self._writer is None:
            self._early[bool(kept.figure)] = kept
        elif kept.figure:
            with self._refusals():
                self._writer.keep_best(kept.data, Figure(kept.figure, kept.value, kept.rises), kept.turns)
        else:
            self._keep_newest(self._writer, kept)
        self.changed.emit()

    def _keep_newest(self, writer: RunWriter, kept: CheckpointKept) -> None:
        """One came while the run goes on, or where it rests: the one before makes room."""
        curves, counts = self._tables.curves, kept.counts
        loops = {self._title(key): loop for key, (loop, _) in curves.longest().items() if loop in counts}
        learnt = {title: counts[loop] * curves.each(loop) for title, loop in loops.items()}
        self._note_marks(writer)
        with self._refusals():
            writer.keep(kept.data, kept.error, learnt, self._curves())
            if kept.data:
                writer.keep_program(write_script(self._graph), literals_of(self._graph))

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        """A disk that refuses ends the keeping, not the training; why is said once."""
        try:
            yield
        except (OSError, CannotSave) as error:
            self._writer, self._is_refused = None, True
            self._session.engine.tell(Log(level="warning", text=NO_ROOM.format(reason=error)))

    def _set_state(self, state: State, reason: str = "") -> None:
        assert self._writer is not None
        record = self._writer.record
        record.state, record.reason = state, reason
        record.seconds = max(time.monotonic() - self._began_s, self._session.run.state.seconds)

    def _note_state(self, state: RunState) -> None:
        if state.busy:
            self._set_state("running")
        elif state.outcome == "failed":
            failures = [one.failed for one in self._tables.standing()]
            self._set_state("failed", f"{failures[0].type_name}: {failures[0].message}" if failures else state.reason)
        elif state.outcome == "died":
            self._set_state("ended", state.reason)
        else:
            at_rest: State = "paused" if state.live else "stopped"
            self._set_state("finished" if state.at_end else at_rest, state.reason)
        if not state.busy and self._writer is not None:
            from gradstudio.ui.state.runs.early_end import last_numbers

            self._writer.record.last |= last_numbers(self._tables.names.graph, self._session.results)
            self._ask_for_parameters()

    def _say_what_came_out(self) -> None:
        if self._writer is None or (record := self._writer.record).state != "finished":
            return
        from gradstudio.ui.state.runs.early_end import end_words

        ranks = self._session.engine.client.exchange.ranks
        words = end_words(record, self._tables.names.graph, self._session.results, ranks)
        self._session.run.status.noted.emit(words)

    def _end_with_engine(self, outcome: str) -> None:
        """Nothing more comes of the run; one whose engine died may go on in another."""
        ended, self._writer = self._writer, None
        if ended is not None and outcome == "died" and ended.record.learnt:  # None: the disk has refused the last
            self._offer(ended.run, self._session.run.state.reason)

    def _ask_for_parameters(self) -> None:
        """What was learnt is kept where the run rests, once for so many turns."""
        writer, state = self._writer, self._session.run.state
        points = self._curves().values()
        turns = max((int(steps[-1]) + 1 for steps, _ in points if len(steps)), default=0)
        if writer is None or turns <= self._asked_turns or not state.live or state.stale or state.outcome == "failed":
            return
        self._asked_turns = turns
        self._asked = self._session.run.questions.keep_small_checkpoint(LARGEST_KEPT)

    # ------------------------------------------------------------------ slots

    def _on_run_state_changed(self, state: RunState) -> None:
        if not state.busy and state.outcome:
            self._resumed = None  # it was refused, or is taken up already
        before = self._writer.record.state if self._writer is not None and not state.busy else ""
        if before == "paused" and not state.live and state.outcome != "died":
            self.leave()  # another engine is at work, or this one has another document's run
            self.changed.emit()
        elif before == "running" or (before == "paused" and state.outcome == "died"):  # paused, it is lost too
            self._note_state(state)
            self._write()
            self._say_what_came_out()
            if not state.live:
                self._end_with_engine(state.outcome)

    def _on_engine_received(self, event: Event) -> None:
        if isinstance(event, Started) and event.fresh and event.back_to is None:
            self.leave()
            self._seed, self._threads, self._early = event.seed, event.threads, {}
            self._resume(event)
        elif isinstance(event, Started) and event.back_to is None and self._writer is not None:
            if self._tables.curves.parts:  # what is written is another run: this one gets its own folder
                self.leave()
                self._early = {}
                return
            self._began_s = time.monotonic() - self._writer.record.seconds
            self._set_state("running")
            self._write()

    def _on_answered(self, answer: object) -> None:
        if isinstance(answer, CheckpointKept) and answer.request in (0, self._asked):
            self._asked = self._asked if answer.request == 0 else 0
            self._keep(answer)

    def _on_store_replaced(self) -> None:
        """Another document is here: what ran before is not its own."""
        self.leave()
        self._untitled, self._resumed = self._untitled_folder, None

    def _on_path_changed(self) -> None:
        """What an untitled document ran is its own once it is saved."""
        before, self._untitled, folder = self._untitled, self._untitled_folder, self.folder
        if before is not None and self._untitled is None and folder is not None:
            self._move(before, folder)
        self._is_refused = False
        self.changed.emit()

    def _move(self, before: Path, folder: Path) -> None:
        try:
            for run in runs_of(before, self._session.identity):
                moved = move_run(run.folder, folder)
                if self._writer is not None and self._writer.folder == run.folder:
                    self._writer.go_on_in(moved)
        except OSError as error:
            self._session.engine.tell(Log(level="warning", text=f"A run stays in {before}: {error}"))
