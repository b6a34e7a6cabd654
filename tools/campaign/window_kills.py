"""Kills windows while somebody works in them: at most the gesture under way may be lost, and nothing be unreadable."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.journal import recoverable
from tools.campaign.engine_forks import EngineForks, end_server
from tools.campaign.tally import Failure, Tally, generator_of
from tools.campaign.window_hand import TOLD, digest

LONGEST_S = 1.5
"""After its first word a window lives up to so long."""
START_S = 120.0
NAME = "window-kills"
OF_ENGINES = "window-engines"


class Windows:
    """Opens windows, each a process with somebody at work in it; use it as a context manager."""

    def __init__(self) -> None:
        """Start what forks them."""
        command = [sys.executable, "-m", "tools.campaign.window_hand"]
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        self._server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, bufsize=1
        )

    def __enter__(self) -> "Windows":
        """These windows."""
        return self

    def __exit__(self, *_: object) -> None:
        """End what forks them."""
        end_server(self._server)

    def open(
        self,
        folder: Path,
        seed: str,
        engine: Sequence[str] | None = None,
        round_of: int = 0,
        *,
        outlives: bool = False,
    ) -> int:
        """Have somebody work in a window; its process.

        Args:
            folder: where it keeps everything, and tells what it did.
            seed: what is done.
            engine: what starts one; else it has none.
            round_of: behind so many gestures a new document begins.
            outlives: nothing is done but to run, and to lose the engine meanwhile.
        """
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        asked = {"folder": str(folder), "seed": seed, "engine": engine, "round_of": round_of, "outlives": outlives}
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())

    def wait_until_ready(self, folder: Path, process: int) -> None:
        """Wait for its first word, or its end."""
        end = time.monotonic() + START_S
        while not told_lines(folder) and time.monotonic() < end and Path(f"/proc/{process}").exists():
            time.sleep(0.02)

    def kill(self, folder: Path, process: int) -> str:
        """End it at once; "" when it was at work until then."""
        assert self._server.stdout is not None
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.kill(process, signal.SIGKILL)
        ended = int(self._server.stdout.readline())
        if ended == -signal.SIGKILL and told_lines(folder):
            return ""
        words = (folder / "words").read_text(errors="replace").strip()[-400:]
        return f"the window ended by itself with {ended}: {words}"


def kill_windows(*, seed: int, cases: range, until: float) -> Tally:
    """Each case opens a window, has somebody work in it, kills it, and looks at what is offered for recovery."""
    tally, lost_one = Tally(NAME), 0
    with Windows() as windows:
        for case in cases:
            if tally.cases and time.monotonic() > until:
                break
            began = time.process_time()
            with tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
                folder = Path(place)
                process = windows.open(folder, f"{NAME} {seed} {case}")
                windows.wait_until_ready(folder, process)
                time.sleep(generator_of(NAME, seed, case).random() * LONGEST_S)
                lost, reason = -1, windows.kill(folder, process)
                if not reason:
                    lost, reason = lost_gestures(folder)
            lost_one += lost == 1
            tally.count(case, time.process_time() - began)
            if reason:
                tally.failures.append(Failure(NAME, seed, case, reason))
    tally.remarks.append(f"the newest gesture was lost {lost_one} times")
    return tally


def kill_engines(*, seed: int, cases: range, until: float) -> Tally:
    """One window runs a program; each case kills its engine meanwhile, and the next run must be as the first was."""
    tally = Tally(OF_ENGINES)
    with (
        EngineForks() as engines,
        Windows() as windows,
        tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place,
    ):
        folder = Path(place)
        began = time.monotonic()
        process = windows.open(folder, f"{OF_ENGINES} {seed}", engines.command, outlives=True)
        windows.wait_until_ready(folder, process)
        while (
            len(_losses(folder)) < len(cases) and _lasts(process) and (time.monotonic() < until or not _losses(folder))
        ):
            time.sleep(0.1)
        reason = windows.kill(folder, process)
        reasons = [*_losses(folder), *([reason] if reason else [])]
        words = (folder / "words").read_text(errors="replace")
    for number, one in enumerate(reasons):
        tally.count(number, (time.monotonic() - began) / len(reasons))
        if one:
            tally.failures.append(Failure(OF_ENGINES, seed, number, one))
    if "Traceback" in words:
        tally.failures.append(Failure(OF_ENGINES, seed, len(reasons), words[words.rindex("Traceback") :][-600:]))
    return tally


def _losses(folder: Path) -> list[str]:
    return [" ".join(words) for what, *words in told_lines(folder) if what == "lost"]


def _lasts(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def rss_of(process: int) -> int:
    """How many bytes a process holds."""
    return int(psutil.Process(process).memory_info().rss)


def told_lines(folder: Path) -> list[list[str]]:
    """What the window told; a line that is not whole was never told."""
    told = folder / TOLD
    if not told.exists():
        return []
    whole, _, _ = told.read_text().rpartition("\n")
    return [line.split() for line in whole.splitlines()]


def lost_gestures(folder: Path) -> tuple[int, str]:
    """How many gestures that were over are not in what is offered for recovery, and what is wrong with it."""
    (_, place, start), *lines = told_lines(folder)
    try:
        left = [digest(one.load()[0]) for one in recoverable(Path(place))]
    except UnreadableFile as error:
        return -1, f"unreadable after the kill: {error}"
    if len(left) > 1:
        return -1, f"{len(left)} journals were left behind"
    found = left[0] if left else start
    at = max((k for k, line in enumerate(lines) if line == ["edit", found]), default=-1 if found == start else None)
    if at is None:
        return -1, "what is offered for recovery was never on the canvas"
    return _gestures(lines[at + 1 :])


def _gestures(lines: list[list[str]]) -> tuple[int, str]:
    """How many gestures with an edit these lines end; more than one is a failure."""
    lost, edited = 0, False
    for what, _ in lines:
        edited = edited or what == "edit"
        if what == "gesture" and edited:
            lost, edited = lost + 1, False
    return lost, f"{lost} gestures were lost" if lost > 1 else ""
