"""What is kept of a run: a folder with `run.json`, the program's text, its curves, and what was learnt."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from typing import Literal as OneOf

import msgspec
import psutil

from gradstudio.document.atomic_write import read_ordinary, write_file
from gradstudio.document.errors import NothingToContinue
from gradstudio.document.event_files import Points, read_events
from gradstudio.program.reading.parser import MAX_CHARACTERS

RECORD: Final = "run.json"
PROGRAM: Final = "program.py"
PARAMETERS: Final = "parameters.safetensors"
BEST: Final = "best.safetensors"
"""What was learnt where the figure that is watched was best, else where the loss was least of the checkpoints kept."""
EVENTS: Final = "events.out.tfevents.{seconds:.0f}.gradstudio"
EVENT_FILES: Final = "events.out.tfevents.*"
DELETED: Final = ".deleted"
DELETED_KEPT: Final = 10
"""So many runs that were deleted can be brought back."""
LARGEST_RECORD: Final = 1 << 20
LARGEST_PROGRAM: Final = 4 * MAX_CHARACTERS
LARGEST_PARAMETERS: Final = 1 << 27
LARGEST_EVENTS: Final = 1 << 30
NOTHING_TO_GO_ON: Final = "What this run had learnt cannot be read: {reason}"
SAME_START_S: Final = 2.0
_FOLDER: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+")
State = OneOf["running", "paused", "finished", "stopped", "failed", "ended"]
WORDS: Final[dict[State, str]] = {
    "running": "running",
    "paused": "paused",
    "finished": "finished",
    "stopped": "stopped",
    "failed": "failed",
    "ended": "ended unexpectedly",
}
UNDER_WAY: Final = ("running", "paused")
_ENDS: Final[dict[str, State]] = {"done": "finished", "failed": "failed", "died": "ended"}


def state_behind(outcome: str) -> State:
    """How a run has ended whose verb ended so: refused or at a breakpoint, it goes no further, and has not failed."""
    return _ENDS.get(outcome, "stopped")


class Writer(msgspec.Struct, frozen=True):
    """The process that writes a run: its number, and when it was started (seconds since 1970)."""

    pid: int
    began: float


class RunRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What `run.json` says.

    Attributes:
        name: as a person calls it; such a run is never taken away to make room.
        began: seconds since 1970; `seconds`: how long it has run.
        state: "running" or "paused" while its writer lives; one that does not any more has ended unexpectedly.
        reason: words to the state.
        seed: what the random numbers began with; None: it is not known.
        threads: on how many an operator was computed, which sums are rounded by; 0: it is not known.
        each: of a curve by epochs, how many steps, turns of the loop within, each of its turns takes; of others 1.
        literals: text of each literal of the program, by the name of its argument, as it held at the newest checkpoint.
        turns: of the loop whose curve is longest.
        last: the last number of each curve, and of other values of one number.
        marks: literals that were changed while it ran.
        sweep: which sweep it belongs to; "": none.
        document: identity of the document that it was made of; "": nobody has said.
        lacks: why nothing of what was learnt is kept; "" when it is.
        learnt: of each curve, how many turns there were where that was kept.
        best: the figure of the checkpoint that is kept as the best; None: none is.
        best_of: what that figure is called; "": it is the loss, of the checkpoints that were kept.
        best_turns: behind which turn of the loop that trains it is.
    """

    format: int = 1
    name: str = ""
    began: float = 0.0
    seconds: float = 0.0
    state: State = "running"
    reason: str = ""
    seed: int | None = None
    device: str = ""
    threads: int = 0
    each: dict[str, int] = {}
    turns: int = 0
    last: dict[str, float | None] = {}
    literals: dict[str, str] = {}
    marks: tuple[str, ...] = ()
    sweep: str = ""
    document: str = ""
    lacks: str = ""
    learnt: dict[str, int] = {}
    best: float | None = None
    best_of: str = ""
    best_turns: int = 0
    writer: Writer | None = None


class KeptRun(msgspec.Struct, frozen=True):
    """A run in its folder."""

    folder: Path
    record: RunRecord

    @property
    def id(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def state(self) -> State:
        """As it is now: nobody is left to say that a run has ended whose writer was killed."""
        record = self.record
        return "ended" if record.state in UNDER_WAY and not is_alive(record.writer) else record.state

    @property
    def is_under_way(self) -> bool:
        """Whether it goes on, or can go on as it stands in its writer."""
        return self.state in UNDER_WAY

    @property
    def has_parameters(self) -> bool:
        """Whether what was learnt is kept."""
        path = self.folder / PARAMETERS
        return path.is_file() and not path.is_symlink()

    @property
    def learnt_turns(self) -> int:
        """Behind which turn of the longest curve what was learnt is kept; 0: it is not known."""
        return max(self.record.learnt.values(), default=0)

    @property
    def can_go_on(self) -> bool:
        """Whether it was paused, stopped or cut off behind a checkpoint."""
        return self.state in ("paused", "ended", "stopped") and self.has_parameters and self.learnt_turns > 0

    @property
    def was_cut_off(self) -> bool:
        """Whether its writer was killed, nobody has said anything to that since, and it can go on."""
        return self.record.state in UNDER_WAY and self.state == "ended" and self.can_go_on

    def program(self) -> str:
        """The text of the program that ran, with the literals that held at its newest checkpoint; "": it is gone."""
        try:
            return read_ordinary(self.folder / PROGRAM, LARGEST_PROGRAM).decode()
        except (OSError, ValueError):
            return ""

    @property
    def best_figure(self) -> float | None:
        """The figure that is watched where what was learnt was best, if that is kept."""
        path = self.folder / BEST
        is_kept = bool(self.record.best_of) and path.is_file() and not path.is_symlink()
        return self.record.best if is_kept else None

    def parameters(self, name: str = PARAMETERS) -> bytes:
        """What was learnt, as the file of a checkpoint; `BEST`: where it was best.

        Raises:
            NothingToContinue: it cannot be read, or is more than is kept of a run.
        """
        try:
            return read_ordinary(self.folder / name, LARGEST_PARAMETERS)
        except (OSError, ValueError) as error:
            raise NothingToContinue(NOTHING_TO_GO_ON.format(reason=error)) from error

    def curves(self) -> dict[str, Points]:
        """Its curves, by title: turns from 0, and values; what was being written when it was killed is left out."""
        found: dict[str, Points] = {}
        for path in sorted(self.folder.glob(EVENT_FILES)):
            try:
                found |= read_events(read_ordinary(path, LARGEST_EVENTS))
            except (OSError, ValueError):
                continue
        return found


def kept_runs(folder: Path) -> Iterator[KeptRun]:
    """The runs in a folder, newest first, each read when it is asked for; what is no run is passed over."""
    try:
        entries = [one for one in os.scandir(folder) if _FOLDER.fullmatch(one.name) and not one.is_symlink()]
    except OSError:
        return
    for name in sorted((one.name for one in entries), reverse=True):
        if (record := read_record(folder / name)) is not None:
            yield KeptRun(folder / name, record)


def runs_of(folder: Path, identity: str) -> list[KeptRun]:
    """Runs of one document: all in a folder that is named by it, else those that say so; not what others write now."""
    found = list(kept_runs(folder))
    if identity not in folder.name:
        found = [run for run in found if run.record.document == identity]
    return [run for run in found if not run.is_under_way or run.record.writer == this_writer()]


def read_record(folder: Path) -> RunRecord | None:
    """What `run.json` of a folder says; None where it cannot be read."""
    try:
        return msgspec.json.decode(read_ordinary(folder / RECORD, LARGEST_RECORD), type=RunRecord)
    except (OSError, ValueError, RecursionError):
        return None


def write_record(folder: Path, record: RunRecord) -> None:
    """Replace `run.json`.

    Raises:
        CannotSave: it is as it was.
    """
    write_file(folder / RECORD, msgspec.json.format(msgspec.json.encode(record)), durable=False)


def rename(run: KeptRun, name: str) -> None:
    """Call a run so; "" takes its name away.

    Raises:
        CannotSave: it is as it was.
    """
    record = read_record(run.folder) or run.record
    record.name = name.strip()
    write_record(run.folder, record)


def acknowledge(run: KeptRun) -> None:
    """A run that was cut off stays as it ended.

    Raises:
        CannotSave: it is as it was.
    """
    record = read_record(run.folder)
    if record is not None:
        record.state = "ended"
        write_record(run.folder, record)


def delete(run: KeptRun) -> None:
    """Put a run aside; `bring_back` brings it back, until as many others were deleted after it.

    Raises:
        OSError: it is as it was.
    """
    aside = run.folder.parent / DELETED
    aside.mkdir(exist_ok=True)
    run.folder.replace(aside / run.id)
    os.utime(aside / run.id)
    for old in _deleted(run.folder.parent)[DELETED_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def bring_back(folder: Path) -> str:
    """Bring the run back that was deleted last; its id, "" where there is none.

    Raises:
        OSError: it is where it was.
    """
    for newest in _deleted(folder)[:1]:
        newest.replace(folder / newest.name)
        return newest.name
    return ""


def can_bring_back(folder: Path) -> bool:
    """Whether a run was deleted that is still there."""
    return bool(_deleted(folder))


def is_alive(writer: Writer | None) -> bool:
    """Whether the process that writes a run is still at work, and no other has its number now."""
    if writer is None:
        return False
    try:
        process = psutil.Process(writer.pid)
        is_same = abs(process.create_time() - writer.began) < SAME_START_S
        return is_same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def this_writer() -> Writer:
    """This process."""
    return Writer(os.getpid(), psutil.Process().create_time())


def _deleted(folder: Path) -> list[Path]:
    """Runs that were deleted, the last first."""

    def when(path: Path) -> float:
        return path.stat().st_mtime

    return sorted(_folders_in(folder / DELETED), key=when, reverse=True)


def _folders_in(folder: Path) -> Iterator[Path]:
    try:
        yield from (Path(one.path) for one in os.scandir(folder) if _FOLDER.fullmatch(one.name))
    except OSError:
        return
