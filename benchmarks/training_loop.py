"""A training loop of 1,000 steps: in the engine against the same Python, a ratio of CPU time of one thread.

"plain" as `gradstudio run` executes it; "sampled" as the window does, every event encoded, the loss of each turn told.
What the window itself does with the events is in another process, and not counted. Then going back: a run of many more
steps is put to turns of it, and the slowest of those counts.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch

from gradstudio.engine.audit_wall import wall
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.script.compiled_steps import heads
from gradstudio.engine.verbs import Engine
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.framing import encode
from gradstudio.protocol.kept_training import KeptTraining
from gradstudio.protocol.messages.progress import LARGEST_KEPT
from gradstudio.protocol.messages.requests import Do

STEPS, PAIRS = 1000, 3
LONG_RUN = 10_000
KEPT_STEPS = 3000
PLACES = (0.02, 0.5, 0.31, 0.97, 0.13)
"""Where turns lie that are gone to."""
TEXT = """import torch
import torch.nn.functional as F
from torch import nn, optim

torch.manual_seed(0)
X = torch.randn({batch}, {width})
Y = torch.randint(0, 10, ({batch},))
fc1 = nn.Linear({width}, {width})
fc2 = nn.Linear({width}, 10)
opt = optim.{optimizer}([fc1.weight, fc1.bias, fc2.weight, fc2.bias], lr=0.01)
for t in range({steps}):
    opt.zero_grad()
    h = torch.relu(fc1(X))
    logits = fc2(h)
    loss = F.cross_entropy(logits, Y)
    loss.backward()
    opt.step()
"""
LARGE = {"batch": 256, "width": 384, "optimizer": "Adam"}
SMALL = {"batch": 8, "width": 16, "optimizer": "SGD"}


def measure() -> list[dict[str, Any]]:
    """Steps of a millisecond and more, and small ones."""
    torch.set_num_threads(1)
    wall.build()
    rows = []
    for size, plain_goal, sampled_goal in ((LARGE, 1.05, 1.15), (SMALL, 1.05, 1.5)):
        text = TEXT.format(steps=STEPS, **size)
        by_hand, plain, sampled = (
            seconds_of(run) for run in interleaved(hand(text), engine(text, trace=False), engine(text, trace=True))
        )
        each = f"{by_hand / STEPS * 1e3:.2g} ms a step"
        rows.append(row(f"training loop, plain / Python, {each}", plain / by_hand, plain_goal))
        rows.append(row(f"training loop, sampled / Python, {each}", sampled / by_hand, sampled_goal))
    return [*rows, keeping(), going_back()]


def keeping() -> dict[str, Any]:
    """What it costs that a training is kept: its curves written, and checkpoints made, sent and written."""
    text = TEXT.format(steps=KEPT_STEPS, **LARGE)
    with tempfile.TemporaryDirectory() as folder:
        kept, alone = (
            seconds_of(run) for run in interleaved(engine(text, trace=True, folder=folder), engine(text, trace=True))
        )
    name = f"training loop, kept with checkpoints / not kept, {alone / KEPT_STEPS * 1e3:.2g} ms a step"
    return row(name, kept / alone, 1.02) | {"compared_with": f"CPU time of engine and writer, {KEPT_STEPS} steps"}


def going_back() -> dict[str, Any]:
    """Seconds until a turn of a run of a minute or so stands there, beyond the turns that are run on the way."""
    made = Engine(lambda message: encode(message) and None, lambda: False)
    loaded = Loaded("bench", 1, compile_graph(read_script(TEXT.format(steps=LONG_RUN, **LARGE)).graph))
    made.load(loaded)
    begun = time.process_time()
    assert made.do(Do(verb="run", samples_turns=True)).outcome == "done"
    step_s = (time.process_time() - begun) / LONG_RUN
    loop = next(head.id for head in heads(loaded.items))
    slowest, run_on = 0.0, 0
    for place in PLACES:
        turn = round(place * LONG_RUN)
        checkpoint = made.runner.sampling.checkpoints.before((loop,), (turn,))
        between = turn - checkpoint.turns[-1] if checkpoint is not None else turn  # without one from the beginning
        begun = time.process_time()
        assert made.do(Do(verb="go_to_turn", until=loop, turn=(turn,), samples_turns=True)).outcome == "done"
        taken = time.process_time() - begun - between * step_s
        slowest, run_on = max(slowest, taken), max(run_on, between)
    return {
        "name": f"going back to a turn of {LONG_RUN:,}", "measured": slowest * 1e3, "goal": 1000.0, "unit": "ms",
        "ok": slowest <= 1.0,
        "compared_with": f"slowest of {len(PLACES)}, less {run_on} turns of {step_s * 1e3:.2g} ms or fewer on the way",
    }  # fmt: skip


def row(name: str, measured: float, goal: float) -> dict[str, Any]:
    """One figure."""
    compared = f"CPU time of one thread, {STEPS} steps, median of {PAIRS} interleaved rounds"
    return {
        "name": name, "measured": measured, "goal": goal, "unit": "x", "ok": measured <= goal, "compared_with": compared,  # noqa: E501
    }  # fmt: skip


def interleaved(*runs: Callable[[], None]) -> list[list[float]]:
    """CPU seconds of each, one after the other, several times; the first time is not counted."""
    times: list[list[float]] = [[] for _ in runs]
    for round_number in range(PAIRS + 1):
        for found, run in zip(times, runs, strict=True):
            begun = time.process_time()
            run()
            if round_number:
                found.append(time.process_time() - begun)
    return times


def seconds_of(times: list[float]) -> float:
    """The median."""
    return statistics.median(times)


def hand(text: str) -> Callable[[], None]:
    """Python alone."""
    code = compile(text, "training", "exec")
    return lambda: exec(code, {})


def engine(text: str, *, trace: bool, folder: str = "") -> Callable[[], None]:
    """The engine, every event encoded; in a folder its training is kept."""
    graph = read_script(text).graph
    writer = KeptTraining(graph, f"{folder}/bench.gsg", goes_on=False) if folder else None

    def send(message: Any) -> None:
        encode(message)
        if writer is not None:
            writer.hear(message)

    made = Engine(send, lambda: False)
    made.load(Loaded("bench", 1, compile_graph(graph)))
    most = LARGEST_KEPT if folder else 0

    def run() -> None:
        request = Do(verb="run", trace=trace, restart=True, samples_turns=trace, keeps_bytes=most)
        assert made.do(request).outcome == "done"

    return run
