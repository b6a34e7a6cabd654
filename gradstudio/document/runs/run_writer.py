"""Writes a run while it runs: what was written is whole at any moment, whoever is killed."""

import contextlib
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gradstudio.document.atomic_write import write_file
from gradstudio.document.event_files import Points, Scalars, event_head, event_records
from gradstudio.document.runs.kept_run import (
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
LARGEST_PARAMETERS: Final = 64 << 20


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
        self.record = record
        record.began = record.began or time.time()
        record.writer = this_writer()
        self.folder = _new_folder(runs, record.began)
        self._events = EVENTS.format(seconds=record.began)
        self._written: dict[str, int] = {}
        write_file(self.folder / PROGRAM, program.encode(), durable=False)
        (self.folder / self._events).write_bytes(event_head(record.began))
        write_record(self.folder, record)
        _make_room(runs, keep=self.folder)

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

    def keep_parameters(self, data: bytes) -> None:
        """Keep what was learnt: a checkpoint's file, as it is.

        Raises:
            CannotSave: it is not kept.
        """
        if self.folder.is_dir():
            write_file(self.folder / PARAMETERS, data, durable=False)

    def go_on_in(self, folder: Path) -> None:
        """The folder was put elsewhere."""
        self.folder = folder

    def _new(self, title: str, points: Points) -> Scalars | None:
        steps, values = points
        first = int(steps.searchsorted(self._written.get(title, -1), side="right"))
        return Scalars(title, steps[first:], values[first:]) if first < len(steps) else None


def move_run(run: Path, runs: Path) -> Path:
    """Put the folder of a run among other runs; where it is then.

    Raises:
        OSError: it is where it was.
    """
    runs.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(run, runs / run.name))


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
        if run.state != "running":
            shutil.rmtree(run.folder, ignore_errors=True)
    for run in unnamed[PARAMETERS_KEPT - 1 : KEPT - 1]:
        _forget_parameters(run)


def _forget_parameters(run: KeptRun) -> None:
    with contextlib.suppress(OSError):
        (run.folder / PARAMETERS).unlink(missing_ok=True)
