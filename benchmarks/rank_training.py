"""An MLP trained by DistributedDataParallel in two processes with gloo: under torchrun, in ranks of ours, and watched.

"unwatched" as `gradstudio run --processes 2` executes it, "watched" as the window does: turns by sample, each rank's
values, gradients and all-reduces joined by the leader. Each figure is of the program's own clocks in rank 0: seconds of
the wall, which others of the machine lengthen, and of its processor. Parameters have to be the same bits in all three.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Event, Paused, Printed
from gradstudio.protocol.messages.requests import Do, Load, Trust
from gradstudio.protocol.process_group import RUNS_CODE
from gradstudio.protocol.ranks.rank_command import leader_command

RANKS, TURNS, ROUNDS = 2, 400, 3
GOAL = 0.95
PATIENCE_S = 300
TEXT = f"""import hashlib
import time

import torch
import torch.distributed
import torch.nn.functional as F
from torch import nn, optim

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
model = nn.parallel.DistributedDataParallel(net)
opt = optim.SGD(model.parameters(), lr=0.01)
torch.manual_seed(rank)
x = torch.randn(128, 256)
y = torch.randint(0, 10, (128,))
began, cpu = time.perf_counter(), time.process_time()
for t in range({TURNS}):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in net.parameters())).hexdigest()
print(f"rate {{rank}} {{seconds}} {{cpu}} {{digest}}\\n", end="", flush=True)
"""


class Trained(NamedTuple):
    """What a training says of itself."""

    seconds: float
    cpu_s: float
    digest: str


def measure() -> list[dict[str, Any]]:
    """Interleaved rounds, the first of which is not counted."""
    rounds: list[dict[str, Trained]] = []
    for _ in range(ROUNDS + 1):
        rounds.append({"torchrun": by_torchrun(), "run": by_ranks(trace=False), "watched": by_ranks(trace=True)})
    digests = {one.digest for each in rounds for one in each.values()}
    rows = []
    for name, unit in (("seconds", "turns a second"), ("cpu_s", "turns a second of CPU")):
        alone, run, watched = (
            statistics.median(getattr(each[way], name) for each in rounds[1:]) for way in ("torchrun", "run", "watched")
        )
        each_turn = f"{alone / TURNS * 1e3:.2g} ms a turn"
        rows.append(row(f"DDP on 2 processes, run / torchrun, {each_turn}", alone / run, unit))
        rows.append(row(f"DDP on 2 processes, watched / not, {each_turn}", run / watched, unit))
    return [
        *rows,
        {
            "name": "DDP on 2 processes, parameters that differ in a bit", "measured": len(digests) - 1, "goal": 0,
            "unit": "", "ok": len(digests) == 1, "compared_with": "torchrun",
        },
    ]  # fmt: skip


def row(name: str, measured: float, unit: str) -> dict[str, Any]:
    """One figure."""
    compared = f"{unit}, {TURNS} turns, median of {ROUNDS} interleaved rounds"
    return {
        "name": name, "measured": measured, "goal": GOAL, "unit": "x", "ok": measured >= GOAL, "compared_with": compared
    }  # fmt: skip


def by_torchrun() -> Trained:
    """The script alone."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(TEXT, encoding="utf-8")
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*command, str(script)], stdout=subprocess.PIPE, text=True, check=True, env=environment, timeout=PATIENCE_S
        )
    return said(done.stdout)


def by_ranks(*, trace: bool) -> Trained:
    """As a program of ours, recorded or not."""
    graph = read_script(TEXT, keeps_code=True).graph
    program = compile_graph(graph)
    heard: list[Event] = []
    with EngineProcess(leader_command(RANKS, RUNS_CODE)) as engine:
        engine.wait_until_ready(PATIENCE_S)
        engine.send(Load(document="bench", revision=graph.revision, program=program))
        engine.send(Do(verb="run", trace=trace, samples_turns=trace, trust=Trust(digest=code_digest(program))))
        paused = engine.wait_for(Paused, timeout=PATIENCE_S, on_event=heard.append)
    assert isinstance(paused, Paused) and paused.outcome == "done", paused
    return said("\n".join(one.text for one in heard if isinstance(one, Printed)))


def said(text: str) -> Trained:
    """What rank 0 has printed."""
    words = next(line.split()[-3:] for line in text.splitlines() if "rate 0 " in line)
    return Trained(float(words[0]), float(words[1]), words[2])
