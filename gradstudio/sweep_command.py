"""`gradstudio sweep FILE --set lr=0.1,0.01 …`: trainings on engines side by side. No Qt, no torch here."""

import argparse
import itertools
import os
import statistics
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import msgspec

from gradstudio.document.errors import CannotSave, refusal_text
from gradstudio.document.event_files import Points
from gradstudio.document.runs.kept_run import RunRecord, State, runs_folder
from gradstudio.document.runs.run_literals import SEED, find_setting, literals_of, settings_of
from gradstudio.document.runs.run_writer import LARGEST_PARAMETERS, RunWriter
from gradstudio.errors import GradStudioError
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph
from gradstudio.graph.names import title
from gradstudio.graph.recipes import set_literal
from gradstudio.headless import Unreadable, open_graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.write import write_script
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.curve_titles import curve_title
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.events import Event, Failed, Paused, Traced
from gradstudio.protocol.messages.progress import CheckpointKept, KeepCheckpoint, Turned
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Do, Load, Stop

FINE, FAILED, USAGE, UNREADABLE = 0, 1, 2, 4
POLL_S: Final = 0.02
LEAST_OTHERS: Final = 3
WARM_UP: Final = 0.2
"""Nothing is stopped before this share of the turns that the longest has made."""
LEAST_TURNS: Final = 10
NEWEST: Final = 0.1
"""A loss is judged by the mean of this share of its turns."""
RANGE_PARTS: Final = 3
ENDS: Final[dict[str, State]] = {"done": "finished", "failed": "failed"}
HOPELESS: Final = "Its loss was worse than the median of the others at turn {turn:,}."
NO_CODE: Final = "it holds Python that is not drawn, which a sweep does not run"


class BadSweep(GradStudioError):
    """What was asked for is no sweep of this program."""


def sweep(options: argparse.Namespace) -> int:
    """Run them all and print a table; 0 where none failed."""
    try:
        graph = open_graph(options.file)
        trials = [Trial(graph, chosen) for chosen in combinations(options.settings, graph)]
        if compile_graph(graph).codes:
            raise BadSweep(NO_CODE)
        folder = runs_folder(Path(options.file))
        _Sweep(trials, folder, stops=not options.all).run(max(options.jobs, 1))
    except Unreadable as error:
        print(refusal_text(options.file, error.others, error), file=sys.stderr)
        return UNREADABLE
    except (BadSweep, Refused) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return USAGE
    except (OSError, CannotSave, EngineDied) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return FAILED
    print("\n".join(_table(trials)))
    return FAILED if any(trial.state in ("failed", "ended") for trial in trials) else FINE


def combinations(settings: Sequence[str], graph: Graph) -> Iterator[dict[str, str]]:
    """Every choice of one value for each literal.

    Raises:
        BadSweep: a name or a range cannot be read.
    """
    grid: dict[str, list[str]] = {}
    for text in settings:
        name, equals, values = text.partition("=")
        found = (SEED, None) if name == SEED else find_setting(graph, name)
        if not equals or found is None:
            known = ", ".join([SEED, *settings_of(graph)])
            raise BadSweep(f"'{name}' names no literal, or more than one. There are: {known}.")
        grid[found[0]] = values_of(values)
    return (dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*grid.values()))


def values_of(text: str) -> list[str]:
    """``0.1,0.01``, or from:to:count, with ``:log`` behind it in equal ratios.

    Raises:
        BadSweep: it is neither.
    """
    parts = text.split(":")
    if len(parts) < RANGE_PARTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        shares = [k / (count - 1) for k in range(count)]
        if parts[3:] == ["log"]:
            return [f"{first * (last / first) ** share:.6g}" for share in shares]
        if not parts[3:]:
            return [f"{first + (last - first) * share:.6g}" for share in shares]
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise BadSweep(f"'{text}' is no range: from:to:count, count from 2, and for :log none of them 0.") from error
    raise BadSweep(f"'{text}' is no range: behind the count only :log may stand.")


class Trial:
    """One training.

    Attributes:
        chosen: the literals it has otherwise; `state` how it ended.
        losses: the curve of its loss; `last` other results of one number.
    """

    def __init__(self, graph: Graph, chosen: dict[str, str]) -> None:
        """The program with these literals.

        Raises:
            Refused: an argument does not take its value.
            BadSweep: a seed is no number.
        """
        self.graph, self.chosen = graph.copy(), chosen
        for name, text in chosen.items():
            setting = find_setting(self.graph, name)
            if name == SEED:
                if not text.isdigit():
                    raise BadSweep(f"'{text}' is no seed.")
                self.graph.header = msgspec.structs.replace(self.graph.header, seed=int(text))
            elif setting is not None:
                apply_all(self.graph, set_literal(self.graph, setting[1].item, setting[1].path, text))
        self.state: State = "running"
        self.reason, self.seconds = "", 0.0
        self.curves: dict[str, list[float]] = {}
        self.losses: list[float] = []
        self.last: dict[str, float | None] = {}

    def hear(self, event: Event) -> None:
        """Take up what the engine says."""
        if isinstance(event, Turned):
            for curve in event.curves:
                name = curve_title(title(self.graph, curve.key.node), curve.key)
                numbers = self.curves.setdefault(name, [])
                numbers += memoryview(curve.data).cast("d")
            self.losses = max(self.curves.values(), key=len, default=[])
        elif isinstance(event, Traced):
            for row in event.rows:
                node = self.graph.nodes.get(row.node)
                for name, record in zip(node.names if node is not None else (), row.outputs, strict=False):
                    is_number = isinstance(record, TensorRecord) and not record.summary.shape
                    value = record.summary.value if is_number and isinstance(record, TensorRecord) else None
                    if isinstance(value, float) and row.node in self.graph.incoming:
                        self.last[name] = value
        elif isinstance(event, Failed):
            self.reason = f"{event.type_name}: {event.message}"

    def loss_at(self, turn: int) -> float | None:
        """The mean of its newest losses at a turn; None where it has not come there."""
        if len(self.losses) < turn:
            return None
        return statistics.fmean(self.losses[turn - max(int(turn * NEWEST), 1) : turn])

    def points(self) -> dict[str, Points]:
        """Its curves, as they are kept."""
        import numpy as np

        return {name: (np.arange(float(len(one))), np.array(one)) for name, one in self.curves.items()}


class _Sweep:
    """Trials on engines, one after the other on each."""

    def __init__(self, trials: list[Trial], folder: Path, *, stops: bool) -> None:
        self._trials, self._folder, self._stops = trials, folder, stops
        self._waiting = list(trials)
        self._id = uuid.uuid4().hex[:8]

    def run(self, jobs: int) -> None:
        """Until all have ended; no engine is left, also where something fails."""
        jobs = min(jobs, len(self._trials))
        threads = str(max((os.cpu_count() or 1) // jobs, 1))
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        with ExitStack() as stack:
            engines = [stack.enter_context(EngineProcess(environment=environment)) for _ in range(jobs)]
            lanes = [self._lane(engine) for engine in engines]
            while lanes:
                lanes = [lane for lane in lanes if next(lane, False)]

    def _lane(self, engine: EngineProcess) -> Iterator[bool]:
        """What one engine does, a step at a time."""
        engine.wait_until_ready()
        while self._waiting:
            yield from self._train(engine, self._waiting.pop(0))

    def _train(self, engine: EngineProcess, trial: Trial) -> Iterator[bool]:
        graph, program = trial.graph, compile_graph(trial.graph)
        record = RunRecord(
            seed=graph.header.seed, device=graph.header.device, literals=literals_of(graph), sweep=self._id
        )
        writer = RunWriter(self._folder, record, write_script(graph))
        tensors = {digest: graph.tensors[digest].data for digest in program.tensors}
        engine.send(Load(document=uuid.uuid4().hex, revision=graph.revision, program=program, tensors=tensors))
        engine.send(Do(verb="run", samples_turns=True))
        while not isinstance(event := engine.receive(POLL_S), Paused):
            if event is not None:
                trial.hear(event)
            if isinstance(event, Turned) and not trial.reason and self._stops and is_hopeless(trial, self._trials):
                trial.reason = HOPELESS.format(turn=len(trial.losses))
                engine.send(Stop())
            yield True
        trial.seconds = event.seconds
        trial.state = ENDS.get(event.outcome, "stopped")
        engine.send(KeepCheckpoint(request=1, most_bytes=LARGEST_PARAMETERS))
        kept = engine.wait_for(CheckpointKept, on_event=trial.hear)
        assert isinstance(kept, CheckpointKept)
        writer.add(trial.points())
        record.state, record.reason, record.seconds, record.lacks = trial.state, trial.reason, trial.seconds, kept.error
        record.last = {**trial.last, **record.last}
        if kept.data:
            writer.keep_parameters(kept.data)
        writer.save()
        trial.last = record.last
        print(f"{_named(trial)}: {trial.state}", file=sys.stderr, flush=True)


def is_hopeless(trial: Trial, trials: Sequence[Trial]) -> bool:
    """Whether its loss is worse than the median of the others at the same turn."""
    turn = len(trial.losses)
    longest = max(len(one.losses) for one in trials)
    own = trial.loss_at(turn) if turn >= max(LEAST_TURNS, longest * WARM_UP) else None
    others = [loss for one in trials if one is not trial and (loss := one.loss_at(turn)) is not None]
    return own is not None and len(others) >= LEAST_OTHERS and not own <= statistics.median(others)


def _final_loss(trial: Trial) -> float:
    """What the table is sorted by; without a loss it stands last."""
    loss = trial.loss_at(len(trial.losses)) if trial.losses else None
    return loss if loss is not None and loss == loss else float("inf")


def _named(trial: Trial) -> str:
    return " ".join(f"{name}={text}" for name, text in trial.chosen.items())


def _table(trials: list[Trial]) -> Iterator[str]:
    """The trials, the least loss first."""
    figures = list(dict.fromkeys(name for trial in trials for name in trial.last))
    names = list(trials[0].chosen) if trials else []
    rows = [[*names, *figures, "turns", "seconds", "state"]]
    for trial in sorted(trials, key=_final_loss):
        last = (trial.last.get(name) for name in figures)
        shown = [f"{value:.4g}" if value is not None else "" for value in last]
        rows.append([*trial.chosen.values(), *shown, str(len(trial.losses)), f"{trial.seconds:.1f}", trial.state])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
