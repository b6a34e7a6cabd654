"""Writes a run while it runs: what was written is whole at any moment, whoever is killed."""

import contextlib
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from gradstudio.document.atomic_write import UNFINISHED, remove_unfinished, write_file
from gradstudio.document.event_files import Points, Scalars, event_file, event_head, event_records
from gradstudio.document.runs.kept_run import (
    BEST,
    EVENT_FILES,
    EVENTS,
    PARAMETERS,
    PROGRAM,
    KeptRun,
    RunRecord,
    kept_runs,
    read_record,
    this_writer,
    write_record,
)

KEPT: Final = 50
"""Runs without a name that are kept of a document; the oldest makes room."""
PARAMETERS_KEPT: Final = 10
"""Of so many of them what was learnt is kept, too."""
UNTITLED_KEPT: Final = 50
"""Of so many documents that were never saved they are kept."""
_UNTITLED: Final = re.compile(r"Untitled [0-9a-f]{32}\.runs")
"""The folder of such a document."""
APART: Final = ("val", "test", "eval")
"""In the names of losses of data that nobody learns from."""


class Figure(NamedTuple):
    """A figure that says how well; `rises`: the larger the better."""

    name: str
    value: float
    rises: bool

    def is_better_than(self, value: float) -> bool:
        """Than the same one of another moment."""
        return self.value > value if self.rises else self.value < value


class RunWriter:
    """One run in a folder of its own.

    Attributes:
        folder: where it is written; record: what `run.json` says next.
    """

    def __init__(self, runs: Path, record: RunRecord, program: str) -> None:
        """Make the folder, and write what is known at the beginning.

        Raises:
            OSError, CannotSave: it cannot be written there.
        """
        record.began = record.began or time.time()
        self._take(_new_folder(runs, record.began), record)
        self._text = program
        _put(self.folder / PROGRAM, program.encode())
        (self.folder / self._events).write_bytes(event_head(record.began))
        write_record(self.folder, record)
        _make_room(runs, keep=self.folder)
        _make_room_beside(runs)

    @classmethod
    def resume(cls, run: KeptRun, curves: Mapping[str, Points]) -> "RunWriter":
        """Go on in the folder of a run that has ended, behind its `learnt_curves`: where what it had learnt was kept.

        Raises:
            OSError, CannotSave: it cannot be written there.
        """
        writer = cls.__new__(cls)
        writer._take(run.folder, read_record(run.folder) or run.record)
        writer._text = run.program()
        writer._written = {title: int(steps[-1]) for title, (steps, _) in curves.items() if len(steps)}
        parts = [Scalars(title, *points) for title, points in curves.items()]
        _put(run.folder / writer._events, event_file(parts, writer.record.began))
        for old in run.folder.glob(EVENT_FILES):
            if old.name != writer._events:  # gone only when what it held stands elsewhere
                old.unlink()
        remove_unfinished(run.folder)
        writer.record.turns = run.learnt_turns
        writer.record.state, writer.record.reason = "running", ""
        writer.save()
        return writer

    @property
    def run(self) -> KeptRun:
        """As it is kept now."""
        return KeptRun(self.folder, self.record)

    def _take(self, folder: Path, record: RunRecord) -> None:
        record.writer = this_writer()
        self.folder, self.record = folder, record
        self._events = EVENTS.format(seconds=record.began)
        self._written: dict[str, int] = {}

    def add(self, curves: Mapping[str, Points]) -> None:
        """Put the points that are new behind those of before.

        Raises:
            OSError, CannotSave: they are not written.
        """
        parts = [new for title, points in curves.items() if (new := self._new(title, points)) is not None]
        if parts:
            with (self.folder / self._events).open("ab") as file:
                file.write(event_records(parts, time.time()))
        for part in parts:
            self._written[part.tag] = int(part.steps[-1])
        lengths = [int(steps[-1]) + 1 for steps, _ in curves.values() if len(steps)]
        self.record.turns = max([self.record.turns, *lengths])
        self.record.last |= {title: float(values[-1]) for title, (_, values) in curves.items() if len(values)}

    def save(self) -> None:
        """Write `run.json` as it is now; a name that somebody has given it meanwhile stays.

        Raises:
            CannotSave: it is as it was.
        """
        known = read_record(self.folder)
        if known is None:  # somebody has taken the folder away, and means it
            return
        self.record.name = known.name
        write_record(self.folder, self.record)

    def keep_program(self, text: str, literals: Mapping[str, str]) -> None:
        """The program that holds where a checkpoint was made: a literal may have become another since the run began.

        Raises:
            OSError, CannotSave: it is as it was.
        """
        if text != self._text and self.folder.is_dir():
            _put(self.folder / PROGRAM, text.encode())
            self._text, self.record.literals = text, dict(literals)

    def keep(self, data: bytes, lacks: str, learnt: Mapping[str, int], points: Mapping[str, Points]) -> None:
        """A checkpoint has come while it runs: keep it, with the curves up to it.

        Args:
            data: the file; empty where there is none.
            lacks: why there is none; "" when there is.
            learnt: of each curve, how many turns there were then.
            points: the curves.

        Raises:
            OSError, CannotSave: it is not kept.
        """
        self.record.lacks = lacks
        if data:
            self.add(points)
            self.keep_parameters(data, learnt, judged_loss(points))
        self.save()

    def keep_parameters(self, data: bytes, learnt: Mapping[str, int], loss: float | None = None) -> None:
        """Keep what was learnt: a checkpoint's file, as it is; the one before it makes room, unless it is the best.

        Args:
            data: the file.
            learnt: of each curve, how many turns there were then.
            loss: by which the best one is told from others; None: it is not known.

        Raises:
            OSError, CannotSave: it is not kept.
        """
        if not self.folder.is_dir():
            return
        waiting = self.folder / f".{PARAMETERS}{UNFINISHED}"
        _put(waiting, data)
        self.record.learnt = dict(learnt)
        self.save()  # first: killed in between, the turns behind the older file are run again, and none is missing
        waiting.replace(self.folder / PARAMETERS)
        if self.record.best_of:
            return
        if loss is not None and loss == loss and (self.record.best is None or loss < self.record.best):
            _put(self.folder / BEST, data)
            self.record.best = loss

    def keep_best(self, data: bytes, figure: Figure, turns: int) -> None:
        """Keep what was learnt where a figure was best, behind so many turns; one that is no better changes nothing.

        Raises:
            OSError, CannotSave: it is not kept.
        """
        record = self.record
        is_better = record.best is None or record.best_of != figure.name or figure.is_better_than(record.best)
        if not is_better or not self.folder.is_dir():
            return
        _put(self.folder / BEST, data)
        record.best, record.best_of, record.best_turns = figure.value, figure.name, turns
        self.save()

    def go_on_in(self, folder: Path) -> None:
        """The folder was put elsewhere."""
        self.folder = folder

    def _new(self, title: str, points: Points) -> Scalars | None:
        steps, values = points
        written = steps.dtype.type(self._written.get(title, -1))  # of another kind, all steps would be copied
        first = int(steps.searchsorted(written, side="right"))
        return Scalars(title, steps[first:], values[first:]) if first < len(steps) else None


def learnt_curves(run: KeptRun) -> dict[str, Points]:
    """The curves of a run up to where what it had learnt was kept, each turn once."""
    learnt, found = run.record.learnt, dict[str, Points]()
    for title, (steps, values) in run.curves().items():
        newest = dict(zip(steps.tolist(), values.tolist(), strict=True))
        kept = [(step, value) for step, value in sorted(newest.items()) if step < learnt.get(title, run.learnt_turns)]
        found[title] = np.array([step for step, _ in kept]), np.array([value for _, value in kept])
    return found


def own_turns(run: KeptRun, curves: Mapping[str, Points]) -> dict[str, Points]:
    """Kept curves by the turns of their own loops, from 0: of epochs, which end at steps of the loop within."""
    each = run.record.each
    return {title: ((steps + 1) / each.get(title, 1) - 1, values) for title, (steps, values) in curves.items()}


def judged_loss(curves: Mapping[str, Points]) -> float | None:
    """The loss by which checkpoints are judged: of data that nobody learns from, else the mean of the newest tenth."""
    losses = {title: values for title, (_, values) in curves.items() if "loss" in title.lower() and len(values)}
    apart = [title for title in losses if any(word in title.lower() for word in APART)]
    if apart:
        return float(losses[apart[0]][-1])
    learnt = max(losses.values(), key=len, default=None)
    return None if learnt is None else float(learnt[-max(len(learnt) // 10, 1) :].mean())


def move_run(run: Path, runs: Path) -> Path:
    """Put the folder of a run among other runs; where it is then.

    Raises:
        OSError: it is where it was.
    """
    runs.mkdir(parents=True, exist_ok=True)
    moved = Path(shutil.move(run, runs / run.name))
    with contextlib.suppress(OSError):
        run.parent.rmdir()  # where nothing is left in it
    return moved


def _put(path: Path, data: bytes) -> None:
    """Replace a file of a run; a link there is replaced too, so that nothing outside of the folder is written.

    Raises:
        OSError, CannotSave: it is as it was.
    """
    if path.is_symlink():
        path.unlink()
    write_file(path, data, durable=False)


def _new_folder(runs: Path, began: float) -> Path:
    """A folder that nobody has yet, named by the time: ``2026-01-31T12-30-05-1``."""
    runs.mkdir(parents=True, exist_ok=True)
    when = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(began))
    number = 1
    while True:
        folder = runs / f"{when}-{number}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
        number += 1


def _make_room(runs: Path, keep: Path) -> None:
    """Take the oldest runs without a name away, and of older ones what was learnt."""
    unnamed = [run for run in kept_runs(runs) if not run.record.name and run.folder != keep]
    for run in unnamed[KEPT - 1 :]:
        if not run.is_under_way:
            shutil.rmtree(run.folder, ignore_errors=True)
    for run in unnamed[PARAMETERS_KEPT - 1 : KEPT - 1]:
        _forget_parameters(run)


def _make_room_beside(runs: Path) -> None:
    """Take away what is kept of the oldest documents that were never saved, where this folder is of such a one."""
    if not _UNTITLED.fullmatch(runs.name):
        return
    others = [one for one in runs.parent.iterdir() if _UNTITLED.fullmatch(one.name) and one != runs]
    with contextlib.suppress(OSError):
        others.sort(key=lambda one: one.stat().st_mtime, reverse=True)
    for one in others[UNTITLED_KEPT - 1 :]:
        if not any(run.is_under_way for run in kept_runs(one)):
            shutil.rmtree(one, ignore_errors=True)


def _forget_parameters(run: KeptRun) -> None:
    with contextlib.suppress(OSError):
        (run.folder / PARAMETERS).unlink(missing_ok=True)
        (run.folder / BEST).unlink(missing_ok=True)
