"""A training elsewhere of the document in front: `gradstudio train` in a process of its own, and what it says.

It is a run like any other: its curves are kept and drawn while it goes on.
"""

import os
import re
import sys
import time
from pathlib import Path
from typing import Final, Protocol

import msgspec
import numpy as np
from PySide6.QtCore import QObject, QProcess, QTemporaryDir, QTimer, Signal

from gradstudio.document.errors import CannotSave
from gradstudio.document.file import save
from gradstudio.document.runs.kept_run import RunRecord, State
from gradstudio.document.runs.run_literals import literals_of
from gradstudio.document.runs.run_writer import RunWriter
from gradstudio.graph.model import Graph
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.torchrun.training_lines import Metrics, TrainLine
from gradstudio.ui.state.cli_process import cli_arguments
from gradstudio.ui.state.results.loop_progress import duration
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_status import RunStatus
from gradstudio.ui.state.runs.run_list import RunList

WRITE_MS: Final = 1000
"""So often what was heard is written and drawn."""
KILL_WAIT_MS: Final = 2000
TWICE_S: Final = 1.0
"""A second Stop so soon is a double click, and no wish to end at once."""
INTERRUPTED: Final = 130
NO_CURVES: Final = frozenset({"step", "seconds"})
BEGUN: Final = "The training {place} has begun; Runs says how it goes, and ends it."
ENDED: Final = "The training {place} is done: {turns:,} turns in {time}."
NO_TURNS: Final = "The program has ended {place}, in {time}; it told no figures. What it printed is in the Log."
STOPPING: Final = "The training {place} stops: its processes finish their step and keep a checkpoint."
STOPPED: Final = "The training {place} was stopped."
FAILED: Final = "The training {place} has failed. {words}"
RUNS_ALREADY: Final = "A training is under way {place}: stop it first, in the Runs dock."
NO_PLACE: Final = "There is no place for its script: save the document first."
_PRINTED: Final = re.compile(r"(?:step|epoch) (\d+)/\d+  (.+)")


class TrainingOrder(msgspec.Struct, frozen=True):
    """What is to be trained where.

    Attributes:
        place: in words: "on gpu1, gpu2".
        options: of `gradstudio train`, before the file; then those of torchrun and of the script.
    """

    place: str
    options: tuple[str, ...] = ()
    of_torchrun: tuple[str, ...] = ()
    of_script: tuple[str, ...] = ()


class Keeper(Protocol):
    """Who keeps the runs of the document."""

    @property
    def folder(self) -> Path | None:
        """Where; None: nowhere."""

    @property
    def list(self) -> RunList:
        """All of them."""


class TrainingProcess(QObject):
    """One training at a time; it ends with the window, however that ends.

    Attributes:
        order: what is trained, or was last; `turns` how many have been told.
        stops_since_s: when it was told to stop, by the clock of `time.monotonic`; None: it was not.

    Signals:
        changed(): there is something new of it.
    """

    changed = Signal()

    def __init__(self, keeper: QObject, engine: EngineLine, status: RunStatus, parent: QObject) -> None:
        """Nothing is trained; `keeper` is a `Keeper`, `engine` and `status` hear what is said."""
        super().__init__(parent)
        self._keeper: Keeper = keeper  # type: ignore[assignment] # a QObject that has both
        self._engine, self._status = engine, status
        self.order: TrainingOrder | None = None
        self._process: QProcess | None = None
        self._folder: QTemporaryDir | None = None
        self._writer: RunWriter | None = None
        self._points: dict[str, dict[int, float]] = {}
        self._last_words, self._tells_metrics, self._began_s = "", False, 0.0
        self.stops_since_s: float | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(WRITE_MS)
        self._timer.timeout.connect(self._write)

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self._process is not None

    @property
    def turns(self) -> int:
        """How many turns were told."""
        return max((max(points) for points in self._points.values()), default=0)

    @property
    def loss(self) -> float | None:
        """The newest of the first number that each turn tells."""
        newest = next(iter(self._points.values()), None)
        return newest[max(newest)] if newest else None

    def start(self, graph: Graph, order: TrainingOrder, stem: str) -> str:
        """Train; why not, in words, "" when it has begun. `stem`: of the script's name."""
        runs = self._keeper.folder
        if self._process is not None or runs is None:
            return RUNS_ALREADY.format(place=self.order.place) if self.order is not None and runs else NO_PLACE
        self._folder = QTemporaryDir()
        file = Path(self._folder.path()) / f"{stem}.gsg"
        header = graph.header
        try:
            save(graph, file)
            record = RunRecord(seed=header.seed, device=header.device, literals=literals_of(graph))
            self._writer = RunWriter(runs, record, write_script(graph))
        except (OSError, CannotSave) as error:
            return str(error)
        self.order, self._points, self._began_s = order, {}, time.monotonic()
        self._last_words, self._tells_metrics, self.stops_since_s = "", False, None
        self._keeper.list.shown.append(self._writer.folder.name)
        words = ["train", "--trust", "--json", "--attached", "-o", str(training_folder(runs, stem)), *order.options]
        words += [str(file), *order.of_torchrun, "--", *order.of_script]
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._on_process_ready_read)
        process.finished.connect(self._on_process_finished)
        process.start(sys.executable, cli_arguments(*words))
        self._timer.start()
        self._status.stop_training = self.stop
        self._status.set()
        self._status.noted.emit(BEGUN.format(place=order.place))
        self.changed.emit()
        return ""

    @property
    def may_end_at_once(self) -> bool:
        """Whether it was told to stop, and a person has seen that."""
        return self.stops_since_s is not None and time.monotonic() - self.stops_since_s > TWICE_S

    def stop(self) -> None:
        """Have all processes finish their step, keep a checkpoint and end; said again, they end at once."""
        if self._process is None or (self.stops_since_s is not None and not self.may_end_at_once):
            return
        self._process.terminate() if os.name == "posix" else self._process.kill()
        if self.stops_since_s is None and self.order is not None:
            self.stops_since_s = time.monotonic()
            self._status.noted.emit(STOPPING.format(place=self.order.place))
            self.changed.emit()

    def leave(self) -> None:
        """The document is closed: nobody waits for it any more; it keeps a checkpoint and ends by itself."""
        process = self._process
        if process is not None:
            process.blockSignals(True)
            process.kill()
            process.waitForFinished(KILL_WAIT_MS)
            self._end("stopped", "The document was closed.")

    # ------------------------------------------------------------------ inner workings

    def _hear(self, line: TrainLine) -> None:
        if line.metrics:
            self._tells_metrics = True
            self._take(line.metrics)
            return
        self._last_words = line.text
        self._engine.tell(Log(level="info", text=f"{line.place}: {line.text}" if line.place else line.text))
        if not self._tells_metrics and (metrics := printed_metrics(line.text)):
            self._take(metrics)

    def _take(self, metrics: Metrics) -> None:
        """Points of one turn; one that is told again, after a restart, takes the place of the first."""
        step = int(metrics.get("step") or 0)
        for name, value in metrics.items():
            if step > 0 and name not in NO_CURVES:
                self._points.setdefault(name, {})[step] = float("nan") if value is None else value

    def _write(self) -> None:
        """Keep what was heard, and draw it."""
        if self._writer is None:
            return
        steps = {name: sorted(points) for name, points in self._points.items()}
        curves = {
            name: (np.array(order) - 1.0, np.array([self._points[name][step] for step in order]))
            for name, order in steps.items()
        }
        self._writer.record.seconds = time.monotonic() - self._began_s
        try:
            self._writer.add(curves)
            self._writer.save()
        except (OSError, CannotSave) as error:
            self._writer = None
            self._engine.tell(Log(level="warning", text=f"This run is not kept: {error}"))
        self._keeper.list.refresh()
        self.changed.emit()

    def _end(self, state: State, reason: str) -> None:
        assert self._process is not None
        self._process.deleteLater()
        self._process, self._folder = None, None
        self._timer.stop()
        self._status.stop_training = None
        self._status.set()
        if self._writer is not None:
            self._writer.record.state, self._writer.record.reason = state, reason
        self._write()
        self._writer = None

    # ------------------------------------------------------------------ slots

    def _on_process_ready_read(self) -> None:
        assert self._process is not None
        while self._process.canReadLine():
            data = bytes(self._process.readLine().data())
            try:
                self._hear(msgspec.json.decode(data, type=TrainLine))
            except msgspec.MsgspecError:
                self._hear(TrainLine(text=data.decode("utf-8", "replace").rstrip()))

    def _on_process_finished(self, code: int) -> None:
        assert self._process is not None and self.order is not None
        self._on_process_ready_read()
        for line in bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace").splitlines():
            self._hear(TrainLine(text=line))
        place = self.order.place
        if code == 0:
            taken = duration(time.monotonic() - self._began_s)
            self._end("finished", "")
            words = ENDED if self.turns else NO_TURNS
            self._status.noted.emit(words.format(place=place, turns=self.turns, time=taken))
        elif code == INTERRUPTED:
            self._end("stopped", "")
            self._status.noted.emit(STOPPED.format(place=place))
        else:
            self._end("failed", self._last_words)
            self._status.refused.emit(FAILED.format(place=place, words=self._last_words))


def training_folder(runs: Path, stem: str) -> Path:
    """Where the script of a training lies, and its checkpoint: beside the runs of the document."""
    return runs.with_name(f"{stem}-train")


def printed_metrics(text: str) -> Metrics:
    """What a script prints of a turn, `step` among it; empty of any other line."""
    found = _PRINTED.fullmatch(text)
    if found is None:
        return {}
    metrics: Metrics = {"step": float(found.group(1))}
    for words in found.group(2).split("  "):
        name, _, value = words.rpartition(" ")
        try:
            metrics[name] = float(value)
        except ValueError:
            return {}
    return metrics
