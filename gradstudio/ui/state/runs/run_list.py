"""The runs of a document as they are looked at: which there are, and whose curves lie behind those of now."""

from __future__ import annotations

import time
from math import isfinite
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QObject, Signal

from gradstudio.document.errors import CannotSave
from gradstudio.document.runs import kept_run
from gradstudio.document.runs.kept_run import KeptRun, RunRecord, kept_runs
from gradstudio.document.runs.run_comparison import summaries
from gradstudio.protocol.curve_titles import Watched
from gradstudio.scene.value_format import number
from gradstudio.ui.state.results.curve_store import BesideCurve, CurveStore
from gradstudio.ui.state.results.loop_progress import duration

if TYPE_CHECKING:
    from pathlib import Path

DIGITS: Final = 4
TRAINED: Final = "Trained {turns:,} turns in {time}, kept in Runs: {figures}"
MOST_FIGURES: Final = 3
WHEN: Final = "%d %b %H:%M:%S"
TODAY: Final = "%H:%M"
EARLIER: Final = "%d %b %H:%M"


class Keeper(Protocol):
    """Who writes the runs."""

    @property
    def folder(self) -> Path | None:
        """Where; None: nowhere."""

    @property
    def current(self) -> str:
        """The id of the run that is written now; "": none."""


class RunList(QObject):
    """The runs in a folder, newest first.

    Attributes:
        runs: as they were read last; `differences`: what each has otherwise than the others, in a line.
        shown: ids of those whose curves are drawn, in the order they were chosen.

    Signals:
        changed(): there are others, or they say something else.
        refused(object): something could not be done with one; the words.
    """

    changed = Signal()
    refused = Signal(object)

    def __init__(self, curves: CurveStore, keeper: QObject) -> None:
        """Nothing is read before `refresh`; `keeper` is a `Keeper`."""
        super().__init__(keeper)
        self._curves = curves
        self._keeper: Keeper = keeper  # type: ignore[assignment] # a QObject that has both
        self.runs: list[KeptRun] = []
        self.differences: list[str] = []
        self.shown: list[str] = []

    @property
    def current(self) -> str:
        """The id of the run that is written now; "": none."""
        return self._keeper.current

    def refresh(self) -> None:
        """Read what lies there now."""
        folder = self._keeper.folder
        self.runs = list(kept_runs(folder)) if folder is not None else []
        self.differences = summaries(self.runs)
        self._draw()
        self.changed.emit()

    def find(self, name: str) -> KeptRun | None:
        """The run with an id."""
        return next((run for run in self.runs if run.id == name), None)

    def show(self, name: str, shown: bool) -> None:
        """Draw the curves of a run behind those of now, or no longer."""
        self.shown = [*(one for one in self.shown if one != name), *([name] if shown else [])]
        self._draw()
        self.changed.emit()

    def difference(self, run: KeptRun) -> str:
        """What a run has otherwise than the others; "" of one that is not there any more."""
        return self.differences[self.runs.index(run)] if run in self.runs else ""

    def label(self, run: KeptRun) -> str:
        """How a run is called: its name, else what it has otherwise, else when it was."""
        return run.record.name or self.difference(run) or when(run)

    # ------------------------------------------------------------------ what is done with one

    def rename(self, run: KeptRun, name: str) -> None:
        """Call a run so; "" takes its name away."""
        try:
            kept_run.rename(run, name)
        except CannotSave as error:
            self.refused.emit(str(error))
        self.refresh()

    def delete(self, runs: list[KeptRun]) -> None:
        """Put runs aside."""
        for run in runs:
            try:
                if run.state == "running":
                    raise CannotSave(f"“{self.label(run)}” is running: stop it first.")
                kept_run.delete(run)
            except (OSError, CannotSave) as error:
                self.refused.emit(str(error))
        self.refresh()

    @property
    def can_bring_back(self) -> bool:
        """Whether a run was deleted that is still there."""
        folder = self._keeper.folder
        return folder is not None and kept_run.can_bring_back(folder)

    def bring_back(self) -> None:
        """The run that was deleted last is there again."""
        folder = self._keeper.folder
        try:
            if folder is not None:
                kept_run.bring_back(folder)
        except OSError as error:
            self.refused.emit(f"It does not come back: {error}")
        self.refresh()

    # ------------------------------------------------------------------ inner workings

    def _draw(self) -> None:
        """Curves of the runs that are shown; the one that is written now is drawn from what the window has of it."""
        self.shown = [name for name in self.shown if self.find(name) is not None]
        beside: list[BesideCurve] = []
        for place, name in enumerate(self.shown):
            run = self.find(name)
            if run is None or (name == self.current and self._curves.names):
                continue
            label = self.label(run)
            found = run.curves().items()
            beside += [BesideCurve(place, label, title, turns, values) for title, (turns, values) in found]
        self._curves.put_beside(tuple(beside))


def when(run: KeptRun) -> str:
    """``28 Nov 07:51:48``."""
    return time.strftime(WHEN, time.localtime(run.record.began)).lstrip("0")


def short_when(run: KeptRun) -> str:
    """``07:51`` of today, else ``28 Nov 07:51``."""
    began, now = time.localtime(run.record.began), time.localtime()
    is_today = (began.tm_year, began.tm_yday) == (now.tm_year, now.tm_yday)
    return time.strftime(TODAY, began) if is_today else time.strftime(EARLIER, began).lstrip("0")


def figures(record: RunRecord) -> list[str]:
    """``accuracy 0.95``, ``loss 0.0123``: what was measured beside the curves first, for that a person trains."""
    found = reversed(record.last.items())
    return [f"{name} {number(value, DIGITS) if value is not None else 'nan'}" for name, value in found]


def final_figure(run: KeptRun, judge: Watched | None = None) -> float | None:
    """The last number of what a run is judged by, of none the longest curve; None where that is no finite number."""
    last = run.record.last
    value = next(iter(last.values()), None) if judge is None else last.get(judge.name)
    return value if value is not None and isfinite(value) else None


def came_out(record: RunRecord) -> str:
    """What a training that is over has come to, in a line."""
    known = ", ".join(figures(record)[:MOST_FIGURES])
    return TRAINED.format(turns=record.turns, time=duration(record.seconds), figures=known)
