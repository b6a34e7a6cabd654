"""`gradstudio sweep FILE --set lr=0.1,0.01 …`: trainings on engines side by side. No Qt, no torch here."""

import argparse
import signal
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from typing import Final

import msgspec

from gradstudio.document.errors import BadSweep, CannotSave, refusal_text
from gradstudio.document.event_files import Points
from gradstudio.document.file import runs_folder
from gradstudio.document.opened_graph import Unreadable, open_graph
from gradstudio.document.runs.kept_run import RunRecord, State, state_behind
from gradstudio.document.runs.run_literals import literals_of
from gradstudio.document.runs.run_writer import RunWriter
from gradstudio.document.runs.sweep_grid import SweepLine, search_space, with_literals
from gradstudio.document.runs.sweep_search import Search, begin_search
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.write import write_script
from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.curve_titles import Watched, judged_figures
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.events import Event, Failed, Paused, Started, Traced
from gradstudio.protocol.messages.progress import LARGEST_KEPT, CheckpointKept, KeepCheckpoint, Turned
from gradstudio.protocol.messages.requests import Do, Load, Stop
from gradstudio.protocol.parent_death import end_with_parent
from gradstudio.protocol.result_numbers import ResultNumbers
from gradstudio.protocol.runner import trust_in
from gradstudio.protocol.timeline.heard_curves import HeardCurves

FINE, FAILED, USAGE, UNREADABLE = 0, 1, 2, 4
POLL_S: Final = 0.02
EVERY_S: Final = 2.0
"""So often what is known of a training is written while it runs."""
LEAST_OTHERS: Final = 3
WARM_UP: Final = 0.2
"""Nothing is stopped before this share of the turns that the longest has made."""
LEAST_TURNS: Final = 10
NEWEST: Final = 0.1
"""A loss is judged by the mean of this share of its turns."""
HOPELESS: Final = "Its {name} was worse than the median of the others at turn {turn:,}."
LOSS: Final = "loss"
NO_FIGURE: Final = "no '{name}' says how well it learns. By: {known}."
CANCELLED: Final = "The sweep was cancelled."
FAILED_AT: Final = "at '{node}': {error}: {message}"
NO_CODE: Final = "it holds Python that is not drawn; --trust says that you want to run it"


def sweep(options: argparse.Namespace) -> int:
    """Run them all and print a table; 0 where none failed."""
    document = Path(options.stands_for or options.file)
    folder = Path(options.runs) if options.runs else runs_folder(document)
    if options.attached:
        end_with_parent(signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is under way is kept as stopped
    try:
        graph = open_graph(options.file)
        space = search_space(options.settings, graph)
        judge = _judge(graph, options.by)
        search = begin_search(options.search, space, options.trials, graph.header.seed or 0)
        if compile_graph(graph).codes and not options.trust:
            raise BadSweep(NO_CODE)
        listener = _print_json if options.json else _print_words
        engines = _Sweep(graph, search, judge, folder, document, listener)
        engines.run(max(options.jobs, 1), stops=not options.all)
    except Unreadable as error:
        print(refusal_text(options.file, error.others, error), file=sys.stderr)
        return UNREADABLE
    except (BadSweep, Refused) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return USAGE
    except (OSError, CannotSave, EngineDied) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return FAILED
    if not options.json:
        print("\n".join(table_lines(engines.trials)))
    return FAILED if any(trial.state in ("failed", "ended") for trial in engines.trials) else FINE


class Trial:
    """One training.

    Attributes:
        chosen: the literals it has otherwise; `state` how it ended.
        judge: by which figure it is judged; None: by its loss.
        losses: the curve of its loss; `last` other results of one number.
        hopeless_at: at which turn it was stopped because of its loss; None: it was not.
    """

    def __init__(self, graph: Graph, chosen: dict[str, str], judge: Watched | None = None) -> None:
        """The program with these literals.

        Raises:
            Refused: an argument does not take its value.
            BadSweep: a seed is no number.
        """
        self.graph, self.chosen = with_literals(graph, chosen), chosen
        self.judge = judge
        self.state: State = "running"
        self.reason, self.seconds, self.threads = "", 0.0, 0
        self.hopeless_at: int | None = None
        self._curves, self._numbers = HeardCurves(self.graph), ResultNumbers(self.graph)
        self.losses: Sequence[float] = []
        self.last: dict[str, float | None] = {}

    @property
    def curves(self) -> dict[str, Sequence[float]]:
        """Numbers of each turn, by title."""
        return {name: curve.values for name, curve in self._curves.longest().items()}

    def hear(self, event: Event) -> None:
        """Take up what the engine says."""
        if isinstance(event, Turned):
            self._curves.hear(event)
            self.losses = max(self.curves.values(), key=len, default=[])
        elif isinstance(event, Traced):
            for row in event.rows:
                self.last |= self._numbers.of(row.node, row.outputs)
        elif isinstance(event, Started):
            self.threads = event.threads
        elif isinstance(event, Failed):
            self.reason = FAILED_AT.format(node=event.address, error=event.type_name, message=event.message)

    @property
    def figures(self) -> Sequence[float]:
        """What it is judged by, in each turn."""
        return self.losses if self.judge is None else self.curves.get(self.judge.name, [])

    def figure_at(self, turn: int) -> float | None:
        """The mean of its newest figures at a turn; None where it has not come there.

        The least is the best, so that of a figure that rises has its sign turned.
        """
        figures = self.figures
        if not 1 <= turn <= len(figures):
            return None
        mean = statistics.fmean(figures[turn - max(int(turn * NEWEST), 1) : turn])
        return -mean if self.judge is not None and self.judge.rises else mean

    @property
    def final_figure(self) -> float | None:
        """`figure_at` its newest turn; None where it has none."""
        return self.figure_at(len(self.figures))

    def points(self) -> dict[str, Points]:
        """Its curves, as they are kept."""
        return self._curves.points()

    def each(self) -> dict[str, int]:
        """As `RunRecord.each`."""
        return self._curves.each()

    def learnt(self, counts: dict[ItemId, int]) -> dict[str, int]:
        """As `RunRecord.learnt`, where so many turns of each loop are done."""
        return self._curves.learnt(counts)


class _Sweep:
    """Trials on engines, one after the other on each; `trials` those that have begun."""

    def __init__(
        self,
        graph: Graph,
        search: Search,
        judge: Watched | None,
        folder: Path,
        document: Path,
        say: Callable[[Trial, str], None],
    ) -> None:
        self.trials: list[Trial] = []
        self._graph, self._search, self._folder, self._document = graph, search, folder, document
        self._say, self._judge = say, judge
        self._stops = False
        self._written: dict[Trial, RunWriter] = {}
        self._id = uuid.uuid4().hex[:8]

    def run(self, jobs: int, *, stops: bool) -> None:
        """Until all have ended; no engine is left, also where something fails. `stops`: those that are hopeless."""
        self._stops = stops
        jobs = min(jobs, self._search.count)
        command = (*COMMAND, RUNS_CODE) if compile_graph(self._graph).codes else COMMAND
        try:
            with ExitStack() as stack:
                engines = [stack.enter_context(EngineProcess(command)) for _ in range(jobs)]
                lanes = [self._lane(engine) for engine in engines]
                while lanes:
                    lanes = [lane for lane in lanes if next(lane, False)]
        except KeyboardInterrupt:
            for trial in list(self._written):
                trial.state, trial.reason = "stopped", CANCELLED
                self._write(trial)
            raise

    def _lane(self, engine: EngineProcess) -> Iterator[bool]:
        """What one engine does, a step at a time; one that dies takes its trial with it, not the others'."""
        engine.wait_until_ready()
        while (chosen := self._search.propose()) is not None:
            trial = Trial(self._graph, chosen, self._judge)
            self.trials.append(trial)
            try:
                yield from self._train(engine, trial)
            except EngineDied as error:
                trial.state, trial.reason = "ended", str(error)
                self._write(trial)
                self._search.end(chosen, None)
                self._say(trial, self._written.pop(trial).folder.name)
                return
            stopped_at = trial.hopeless_at if trial.state == "stopped" else None
            has_figure = trial.state == "finished" or stopped_at is not None
            self._search.end(chosen, trial.final_figure if has_figure else None, stopped_at=stopped_at)

    def _train(self, engine: EngineProcess, trial: Trial) -> Iterator[bool]:
        graph, program = trial.graph, compile_graph(trial.graph)
        record = RunRecord(
            seed=graph.header.seed, device=graph.header.device, literals=literals_of(graph), sweep=self._id
        )
        writer = self._written[trial] = RunWriter(self._folder, record, write_script(graph))
        began = written = time.monotonic()
        self._say(trial, writer.folder.name)
        tensors = {digest: graph.tensors[digest].data for digest in program.tensors}
        engine.send(Load(document=uuid.uuid4().hex, revision=graph.revision, program=program, tensors=tensors))
        trust = trust_in(program, str(self._document)) if program.codes else None
        engine.send(Do(verb="run", samples_turns=True, trust=trust))
        while not isinstance(event := engine.receive(POLL_S), Paused):
            if event is not None:
                trial.hear(event)
            if isinstance(event, Turned) and not trial.reason and self._stops and is_hopeless(trial, self.trials):
                trial.hopeless_at = len(trial.figures)
                name = trial.judge.name if trial.judge is not None else LOSS
                trial.reason = HOPELESS.format(name=name, turn=trial.hopeless_at)
                engine.send(Stop())
            if trial.curves and time.monotonic() - written >= EVERY_S:
                written = time.monotonic()
                trial.seconds = written - began
                self._write(trial)
            yield True
        trial.seconds = event.seconds
        trial.state = state_behind(event.outcome)
        trial.reason = "" if trial.state == "finished" else trial.reason  # the stop came too late
        engine.send(KeepCheckpoint(request=1, most_bytes=LARGEST_KEPT))
        kept = engine.wait_for(CheckpointKept, on_event=trial.hear)
        assert isinstance(kept, CheckpointKept)
        record.lacks = kept.error
        if kept.data:
            writer.keep_parameters(kept.data, trial.learnt(kept.counts))
        self._write(trial)
        trial.last = record.last
        del self._written[trial]
        self._say(trial, writer.folder.name)

    def _write(self, trial: Trial) -> None:
        """Put what is known of a trial into its folder."""
        writer = self._written[trial]
        record = writer.record
        writer.add(trial.points())
        record.state, record.reason, record.seconds = trial.state, trial.reason, trial.seconds
        record.threads, record.each = trial.threads, trial.each()
        record.last = {**record.last, **trial.last}
        writer.save()


def is_hopeless(trial: Trial, trials: Sequence[Trial]) -> bool:
    """Whether what it is judged by is worse than the median of the others at the same turn."""
    turn = len(trial.figures)
    longest = max(len(one.figures) for one in trials)
    is_judged = max(LEAST_TURNS, longest * WARM_UP) <= turn < longest  # where the longest has ended, so may this one
    own = trial.figure_at(turn) if is_judged else None
    others = [found for one in trials if one is not trial and (found := one.figure_at(turn)) is not None]
    return own is not None and len(others) >= LEAST_OTHERS and not own <= statistics.median(others)


def _judge(graph: Graph, name: str) -> Watched | None:
    """The figure of that name; None of the loss.

    Raises:
        BadSweep: the program has no such figure.
    """
    if name in ("", LOSS):
        return None
    known = judged_figures(graph)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise BadSweep(NO_FIGURE.format(name=name, known=", ".join([LOSS, *(one.name for one in known)])))
    return found


def _print_words(trial: Trial, _run: str) -> None:
    if trial.state != "running":
        words = f"{trial.state}, {trial.reason}" if trial.reason else trial.state
        print(f"{_named(trial)}: {words}", file=sys.stderr, flush=True)


def _print_json(trial: Trial, run: str) -> None:
    words = SweepLine(run=run, state=trial.state, reason=trial.reason, chosen=trial.chosen)
    print(msgspec.json.encode(words).decode(), flush=True)


def _rank(trial: Trial) -> tuple[bool, float]:
    """What the table is sorted by: those that came to their end above the others; without a figure it stands last."""
    figure = trial.figures[-1] if trial.figures else float("nan")
    if not isfinite(figure):
        return trial.state != "finished", float("inf")
    return trial.state != "finished", -figure if trial.judge is not None and trial.judge.rises else figure


def _named(trial: Trial) -> str:
    return " ".join(f"{name}={text}" for name, text in trial.chosen.items())


def table_lines(trials: list[Trial]) -> Iterator[str]:
    """The trials, the best first of those that came to their end, by the last figure, as the Runs dock sorts them."""
    figures = list(dict.fromkeys(name for trial in trials for name in trial.last))
    names = list(trials[0].chosen) if trials else []
    rows = [[*names, *figures, "turns", "seconds", "state"]]
    for trial in sorted(trials, key=_rank):
        last = (trial.last.get(name) for name in figures)
        shown = [f"{value:.4g}" if value is not None else "" for value in last]
        rows.append([*trial.chosen.values(), *shown, str(len(trial.losses)), f"{trial.seconds:.1f}", trial.state])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
