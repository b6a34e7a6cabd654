"""`gradstudio run --keep` and `--continue`: a training is written as a run beside its file. No Qt, no torch here."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final

from gradstudio.document.errors import CannotSave, NothingToContinue
from gradstudio.document.file import runs_folder
from gradstudio.document.runs.kept_run import PROGRAM, KeptRun, RunRecord, kept_runs, state_behind
from gradstudio.document.runs.run_literals import literals_of
from gradstudio.document.runs.run_writer import Figure, RunWriter, learnt_curves
from gradstudio.graph.model import Graph
from gradstudio.program.write import write_script
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Event, Paused, Started
from gradstudio.protocol.messages.progress import LARGEST_KEPT, CheckpointKept, KeepCheckpoint, Turned
from gradstudio.protocol.messages.requests import Do
from gradstudio.protocol.timeline.heard_curves import HeardCurves

EVERY_S: Final = 2.0
"""So often what is known is written."""
LEAST_TURNS: Final = 2
NONE_LEFT: Final = "'{name}' has no run that can go on: none was cut off behind a checkpoint. --keep keeps one."
NO_FILE: Final = "What comes from standard input has no folder beside it: --keep and --continue need a file."
OTHER_TEXT: Final = (
    "'{name}' is not the program that was cut off: that is '{file}'. --keep trains this one, from its beginning."
)
NOT_KEPT: Final = "This training is not kept any more, and goes on: {reason}"
HOW: Final = "gradstudio run {name} --continue goes on from turn {turn:,}."


class KeptTraining:
    """The run of one program, as an engine tells of it.

    Attributes:
        request: the verb that the engine is to carry out.
    """

    def __init__(self, graph: Graph, name: str, *, goes_on: bool) -> None:
        """Of the file `name`; `goes_on` from the newest of its runs that was cut off.

        Raises:
            NothingToContinue: there is none, or no file.
        """
        if name == "-":
            raise NothingToContinue(NO_FILE)
        self._graph, self._name, self._folder = graph, name, runs_folder(Path(name))
        self._resumed = _cut_off_run(self._folder, name, write_script(graph)) if goes_on else None
        data = self._resumed.parameters() if self._resumed is not None else b""
        self.request = Do(
            verb="continue" if data else "run", checkpoint=data, samples_turns=True, keeps_bytes=LARGEST_KEPT
        )
        self._writer: RunWriter | None = None
        self._is_refused = False
        self._curves = HeardCurves(graph)
        self._seed, self._threads = graph.header.seed, 0
        self._began_s = self._written_s = time.monotonic()

    def hear(self, event: Event) -> None:
        """Take up what the engine says."""
        with self._refusals():
            self._hear(event)

    def _hear(self, event: Event) -> None:
        if isinstance(event, Started):
            self._seed, self._threads = event.seed, event.threads
            if self._resumed is not None:
                self._writer = RunWriter.resume(self._resumed, learnt_curves(self._resumed))
                self._began_s = time.monotonic() - self._resumed.record.seconds
        elif isinstance(event, Turned):
            self._hear_turns(event)
        elif isinstance(event, CheckpointKept) and self._writer is not None:
            self._keep(self._writer, event)

    def end(self, engine: EngineProcess, paused: Paused) -> None:
        """The run has come to its end, or failed: what was learnt is kept as it stands."""
        if self._writer is None:
            return
        record = self._writer.record
        record.state, record.reason = state_behind(paused.outcome), paused.reason
        if paused.outcome == "done":
            engine.send(KeepCheckpoint(request=1, most_bytes=LARGEST_KEPT))
            kept = engine.wait_for(CheckpointKept, on_event=self.hear)
            assert isinstance(kept, CheckpointKept)
            self.hear(kept)
        self._save()
        if record.state == "ended":
            self._say_how(record)

    def __enter__(self) -> "KeptTraining":
        """This training."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        """What broke it off is said, and how it goes on."""
        if kind is None or self._writer is None:
            return
        record = self._writer.record
        record.state, record.reason = ("stopped" if kind is KeyboardInterrupt else "ended"), str(error)
        self._save()
        self._say_how(record)

    def _say_how(self, record: RunRecord) -> None:
        """How it goes on, where it can."""
        if record.learnt:
            turn = max(record.learnt.values())
            sys.stderr.write(f"{HOW.format(name=self._name, turn=turn)}\n")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """A disk that refuses ends the keeping, not the training."""
        try:
            yield
        except (OSError, CannotSave) as error:
            self._writer, self._is_refused = None, True
            sys.stderr.write(f"{NOT_KEPT.format(reason=error)}\n")

    def _save(self) -> None:
        with self._refusals():
            if self._writer is not None:
                self._write(self._writer)

    def _hear_turns(self, event: Turned) -> None:
        self._curves.hear(event)
        lengths = [len(curve.values) for curve in self._curves.longest().values()]
        if self._writer is None and not self._is_refused and max(lengths, default=0) >= LEAST_TURNS:
            record = RunRecord(
                seed=self._seed,
                device=self._graph.header.device,
                threads=self._threads,
                literals=literals_of(self._graph),
            )
            self._writer = RunWriter(self._folder, record, write_script(self._graph))
        if self._writer is not None and time.monotonic() - self._written_s >= EVERY_S:
            self._write(self._writer)

    def _keep(self, writer: RunWriter, kept: CheckpointKept) -> None:
        if kept.figure:
            writer.keep_best(kept.data, Figure(kept.figure, kept.value, kept.rises), kept.turns)
            return
        self._note(writer)
        writer.keep(kept.data, kept.error, self._curves.learnt(kept.counts), self._curves.points())

    def _write(self, writer: RunWriter) -> None:
        self._note(writer)
        writer.add(self._curves.points())
        writer.save()

    def _note(self, writer: RunWriter) -> None:
        self._written_s = time.monotonic()
        writer.record.each |= self._curves.each()
        writer.record.seconds = self._written_s - self._began_s


def _cut_off_run(folder: Path, name: str, text: str) -> KeptRun:
    """The newest run that can go on.

    Raises:
        NothingToContinue: there is none, or it is of another program than this text.
    """
    for run in kept_runs(folder):
        if not run.can_go_on:
            continue
        if run.program() != text:
            raise NothingToContinue(OTHER_TEXT.format(name=name, file=run.folder / PROGRAM))
        return run
    raise NothingToContinue(NONE_LEFT.format(name=name))
