"""Kills windows while somebody works in them: at most the gesture under way may be lost, and nothing be unreadable."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gradstudio.document.errors import UnreadableFile
from gradstudio.document.journal import recoverable
from tools.campaign.tally import Failure, Tally, generator_of
from tools.campaign.window_hand import TOLD, digest

LONGEST_S = 1.5
"""After its first word a window lives up to so long."""
START_S = 120.0
NAME = "window-kills"


def kill_windows(*, seed: int, cases: range, until: float) -> Tally:
    """Each case opens a window, has somebody work in it, kills it, and looks at what is offered for recovery."""
    tally, lost_one = Tally(NAME), 0
    command = [sys.executable, "-m", "tools.campaign.window_hand"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, bufsize=1
    ) as server:
        for case in cases:
            if tally.cases and time.monotonic() > until:
                break
            began = time.process_time()
            with tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
                folder = Path(place)
                reason = _work_and_die(server, folder, f"{NAME} {seed} {case}", generator_of(NAME, seed, case).random())
                lost = -1
                if not reason:
                    lost, reason = lost_gestures(folder)
            lost_one += lost == 1
            tally.count(case, time.process_time() - began)
            if reason:
                tally.failures.append(Failure(NAME, seed, case, reason))
        assert server.stdin is not None
        server.stdin.close()
    tally.remarks.append(f"the newest gesture was lost {lost_one} times, more of them never")
    return tally


def _work_and_die(server: "subprocess.Popen[str]", folder: Path, seed: str, share: float) -> str:
    """Let a window live for some time; "" when it worked until it was killed."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"folder": str(folder), "seed": seed}) + "\n")
    server.stdin.flush()
    process = int(server.stdout.readline())
    end = time.monotonic() + START_S
    while not _lines(folder) and time.monotonic() < end and Path(f"/proc/{process}").exists():
        time.sleep(0.02)
    time.sleep(share * LONGEST_S)
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.kill(process, signal.SIGKILL)
    ended = int(server.stdout.readline())
    if ended == -signal.SIGKILL and _lines(folder):
        return ""
    words = (folder / "words").read_text(errors="replace").strip()[-400:]
    return f"the window ended by itself with {ended}: {words}"


def _lines(folder: Path) -> list[list[str]]:
    """What the window told; a line that is not whole was never told."""
    told = folder / TOLD
    if not told.exists():
        return []
    whole, _, _ = told.read_text().rpartition("\n")
    return [line.split() for line in whole.splitlines()]


def lost_gestures(folder: Path) -> tuple[int, str]:
    """How many gestures that were over are not in what is offered for recovery, and what is wrong with it."""
    (_, place, start), *lines = _lines(folder)
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
