"""Long use of a window with its engine: drops, wires, words, runs; what is held stays as after the first rounds."""

import tempfile
import time
from pathlib import Path

from gradstudio.protocol.client import COMMAND
from tools.campaign.tally import Failure, Tally
from tools.campaign.window_kills import Windows, told_lines

NAME = "window-soak"
ROUND = 60
"""Gestures; then a new document begins, and what is held is counted."""
WARM_ROUNDS = 3
WORDS = (
    *("bytes of the window", "references to None and True", "descriptors", "threads", "processes"),
    "bytes of the engine",
)
SLACK = (160 << 20, 20_000, 6, 4, 1, 80 << 20)
"""What caches may still take after the warm-up: of the canvas's pictures of cards 600 are kept, 12 MiB a round."""
REFERENCES_A_GESTURE = 500
"""WORKAROUND(PySide 6.11 keeps a reference to None at each call of a slot by a timer): counted, they cost nothing."""
LEAST_S = 1.0


def use(*, seed: int, cases: range, until: float) -> Tally:
    """One window is used until the time is over; a case is a round of gestures."""
    tally = Tally(NAME)
    with Windows() as windows, tempfile.TemporaryDirectory(prefix="gradstudio-campaign-") as place:
        folder = Path(place)
        began = time.monotonic()
        process = windows.open(folder, f"{NAME} {seed}", list(COMMAND), ROUND)
        windows.wait_until_ready(folder, process)
        while time.monotonic() < until and len(_rounds(folder)) < len(cases) and Path(f"/proc/{process}").exists():
            time.sleep(LEAST_S)
        reason = windows.kill(folder, process)
        words = (folder / "words").read_text(errors="replace")
        rounds = _rounds(folder)
    for number in range(len(rounds)):
        tally.count(number, (time.monotonic() - began) / len(rounds))
    wrong = [reason] if reason else grown(rounds)
    wrong += [words[words.rindex("Traceback") :][-600:]] if "Traceback" in words else []
    tally.failures += [Failure(NAME, seed, len(rounds), one) for one in wrong]
    if len(rounds) > WARM_ROUNDS:
        told = (f"{last - first:+,} {what}" for what, first, last in zip(WORDS, _warm(rounds), rounds[-1], strict=True))
        tally.remarks.append(f"{len(rounds) * ROUND:,} gestures: {', '.join(told)}")
    return tally


def grown(rounds: list[list[int]]) -> list[str]:
    """What is more at the end than after the warm-up, beyond what caches may take."""
    if len(rounds) <= WARM_ROUNDS:
        return []
    memory, references, *counts = SLACK
    slacks = (memory, references + REFERENCES_A_GESTURE * ROUND * (len(rounds) - WARM_ROUNDS), *counts)
    rows = zip(WORDS, slacks, _warm(rounds), rounds[-1], strict=True)
    return [f"{last - first:,} more {what}" for what, slack, first, last in rows if last - first > slack]


def _warm(rounds: list[list[int]]) -> list[int]:
    return rounds[WARM_ROUNDS - 1]


def _rounds(folder: Path) -> list[list[int]]:
    return [[int(word) for word in words] for what, *words in told_lines(folder) if what == "standing"]
