"""A sweep of the document in front: `gradstudio sweep` in a process of its own, and what it says of its trainings."""

import os
import sys
import time
from pathlib import Path
from typing import Final, Protocol

import msgspec
from PySide6.QtCore import QObject, QProcess, QTemporaryDir, QTimer, Signal

from gradstudio.document.errors import CannotSave
from gradstudio.document.file import save
from gradstudio.document.runs.kept_run import KeptRun
from gradstudio.document.runs.sweep_grid import SweepLine
from gradstudio.document.runs.sweep_search import GRID
from gradstudio.graph.model import Graph
from gradstudio.protocol.curve_titles import Watched
from gradstudio.ui.state.cli_process import cli_arguments
from gradstudio.ui.state.results.loop_progress import duration
from gradstudio.ui.state.runs.run_list import RunList, final_figure

LOOK_MS: Final = 1000
"""So often the dock reads what the trainings have written."""
MOST_CURVES: Final = 8
"""So many of its curves are drawn by themselves."""
KILL_WAIT_MS: Final = 2000
FILE: Final = "sweep.gsg"
INTERRUPTED: Final = 130
ENDED: Final = "Sweep: {count:,} trainings in {time}. {best}"
BEST: Final = "The {end} {name}, {value:.4g}: {label}."
LEAST, LARGEST = "least", "largest"
CANCELLED: Final = "The sweep was cancelled; what was trained by then is kept."


class Order(msgspec.Struct, frozen=True):
    """What is to be trained.

    Attributes:
        settings: literals with their values, ``NAME=VALUES``; `count` so many trainings they are.
        jobs: so many at once; `stops`: those that are hopeless are stopped.
        search: how the trainings are chosen, as the command line calls it.
        judge: by which figure they are judged; None: by their loss.
    """

    settings: tuple[str, ...]
    count: int
    jobs: int
    stops: bool
    search: str = GRID
    judge: Watched | None = None


class Keeper(Protocol):
    """Who keeps the runs of the document."""

    @property
    def folder(self) -> Path | None:
        """Where; None: nowhere."""

    @property
    def list(self) -> RunList:
        """All of them."""


class SweepProcess(QObject):
    """One sweep at a time; it ends with the window, however that ends.

    Attributes:
        order: what is trained, or was last; `lines`: the newest that was said of each training, by its run.

    Signals:
        changed(): there is something new of it, or in the folder.
        ended(object): in words.
    """

    changed = Signal()
    ended = Signal(object)

    def __init__(self, keeper: QObject) -> None:
        """Nothing is trained; `keeper` is a `Keeper`."""
        super().__init__(keeper)
        self._keeper: Keeper = keeper  # type: ignore[assignment] # a QObject that has both
        self.order: Order | None = None
        self.lines: dict[str, SweepLine] = {}
        self._process: QProcess | None = None
        self._folder: QTemporaryDir | None = None
        self._began_s = 0.0
        self._look = QTimer(self)
        self._look.setInterval(LOOK_MS)
        self._look.timeout.connect(self.changed)

    @property
    def is_running(self) -> bool:
        """Whether trainings are under way."""
        return self._process is not None

    @property
    def done(self) -> int:
        """How many have ended."""
        return sum(line.state != "running" for line in self.lines.values())

    @property
    def best(self) -> KeptRun | None:
        """The best of those that came to their end, before the first has of those under way; None: there is none.

        One that was stopped has a figure of half the way, as one that failed.
        """
        runs = [run for run in self._keeper.list.runs if run.id in self.lines and self.figure(run) is not None]
        finished = [run for run in runs if run.state == "finished"]
        compared = finished or [run for run in runs if run.state == "running"]
        sign = -1 if self.judge is not None and self.judge.rises else 1
        return min(compared, key=lambda run: (self.figure(run) or 0.0) * sign, default=None)

    def figure(self, run: KeptRun) -> float | None:
        """The last number of what a run is judged by; None where it has none."""
        return final_figure(run, self.judge)

    @property
    def judge(self) -> Watched | None:
        """By which figure the trainings are judged; None: by their loss."""
        return self.order.judge if self.order is not None else None

    def start(self, graph: Graph, order: Order, document: Path | None, *, trusts: bool) -> str:
        """Train; why not, in words. `document` is where the program lies, `trusts` whether its code may run."""
        folder = self._keeper.folder
        if folder is None or self._process is not None:
            return "A sweep is under way: cancel it first." if folder is not None else "There is no place for its runs."
        self._folder = QTemporaryDir()
        file = Path(self._folder.path()) / FILE
        try:
            save(graph, file)
        except CannotSave as error:
            return str(error)
        self.order, self.lines, self._began_s = order, {}, time.monotonic()
        settings = [word for one in order.settings for word in ("--set", one)]
        words = [
            "sweep",
            str(file),
            *settings,
            "--runs",
            str(folder),
            "--jobs",
            str(order.jobs),
            "--json",
            "--attached",
        ]
        words += ["--search", order.search, "--trials", str(order.count)] if order.search != GRID else []
        words += [] if order.stops else ["--all"]
        words += ["--by", order.judge.name] if order.judge is not None else []
        words += ["--trust"] if trusts else []
        words += ["--stands-for", str(document)] if document is not None else []
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._on_process_ready_read)
        process.finished.connect(self._on_process_finished)
        process.start(sys.executable, cli_arguments(*words))
        self._look.start()
        self.changed.emit()
        return ""

    def cancel(self) -> None:
        """End it; what was trained by then is kept."""
        if self._process is not None:
            self._process.terminate() if os.name == "posix" else self._process.kill()

    def leave(self) -> None:
        """The document is closed: nobody waits for it any more."""
        process, self._process = self._process, None
        self._look.stop()
        if process is not None:
            process.blockSignals(True)
            process.terminate()
            if not process.waitForFinished(KILL_WAIT_MS):
                process.kill()
                process.waitForFinished(KILL_WAIT_MS)

    # ------------------------------------------------------------------ slots

    def _on_process_ready_read(self) -> None:
        assert self._process is not None
        while self._process.canReadLine():
            try:
                line = msgspec.json.decode(bytes(self._process.readLine().data()), type=SweepLine)
            except msgspec.MsgspecError:
                continue
            if line.run not in self.lines and len(self.lines) < MOST_CURVES:
                self._keeper.list.shown.append(line.run)
            self.lines[line.run] = line
        self.changed.emit()

    def _on_process_finished(self, code: int) -> None:
        assert self._process is not None and self.order is not None
        self._on_process_ready_read()
        errors = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace").strip()
        self._process.deleteLater()
        self._process, self._folder = None, None
        self._look.stop()
        self._keeper.list.refresh()
        self.changed.emit()
        best, words, judge = self.best, "", self.judge
        if best is not None:
            name = judge.name if judge is not None else next(iter(best.record.last))
            end = LARGEST if judge is not None and judge.rises else LEAST
            words = BEST.format(end=end, name=name, label=self._keeper.list.label(best), value=self.figure(best) or 0.0)
        if code == INTERRUPTED:
            self.ended.emit(CANCELLED)
        elif self.done < self.order.count:
            self.ended.emit(f"The sweep ended after {self.done} of {self.order.count}. {_newest(errors)}")
        else:
            taken = duration(time.monotonic() - self._began_s)
            self.ended.emit(ENDED.format(count=self.done, time=taken, best=words))


def _newest(errors: str) -> str:
    """The line of a process's words that says most: the last."""
    return errors.splitlines()[-1] if errors else ""
