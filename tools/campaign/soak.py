"""Long use: random edits with undo and redo, and runs again and again; what stays behind is counted."""

import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import psutil

from gradstudio.document.file import dumps
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.module_names import module_names
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.report import entries_json
from gradstudio.protocol.runner import run_program
from tools.campaign.tally import Failure, Tally, generator_of

EDITS_A_CASE = 60
WARM_CASES = 5
SLACK_REFERENCES = 2000
"""References to None and True that caches may still take after the warm-up."""
SLACK_A_CASE = 20
SLACK_BYTES = 20 * 2**20
OPERATORS = ("torch.randn", "operator.add", "torch.relu", "operator.matmul", "torch.cat", "torch.nn.Linear")
LITERALS = ("1", "(2, 3)", "True", "'mean'", "[1, 2]", "1e-3", "{x}", "")
RUN = """
import torch
x = torch.ones(100, requires_grad=True)
for i in range(5):
    y = (x * i).sum()
    y.backward()
"""


def edit(*, seed: int, cases: range, until: float) -> Tally:
    """Each case edits a document at random, undoes all and redoes all: byte by byte what it was."""
    from gradstudio.ui.state.document.graph_store import GraphStore

    tally, standing, made_in_all = Tally("edits"), _Standing(), 0
    for case in cases:
        if tally.cases and time.monotonic() > until:
            break
        began, generator = time.process_time(), generator_of("edits", seed, case)
        store = GraphStore()
        states = [dumps(store.graph)]
        for _ in range(EDITS_A_CASE):
            if made := _gesture(store.graph, generator):
                store.submit(made, "Edit")
                states.append(dumps(store.graph))
        reason = ""
        for place in (*range(len(states) - 1, -1, -1), *range(len(states))):
            store.undo_stack.setIndex(place)
            if dumps(store.graph) != states[place]:
                reason = f"after undo or redo to {place} of {len(states) - 1} the document is another"
                break
        compile_graph(store.graph)
        made_in_all += len(states) - 1
        store.close()
        tally.count(case, time.process_time() - began)
        if reason:
            tally.failures.append(Failure("edits", seed, case, reason))
        standing.after(tally, seed, case)
    tally.remarks.append(f"{made_in_all:,} edits")
    return tally


def run(*, seed: int, cases: range, until: float) -> Tally:
    """Each case runs a program on one engine: the report of the first run, as much alive as after the first runs."""
    tally = Tally("runs")
    graph = read_script(RUN).graph
    program, alive, names = compile_graph(graph), 0, module_names(RUN)
    before = _Standing()
    with EngineProcess(stderr=subprocess.DEVNULL) as engine:
        engine.wait_until_ready()
        process = psutil.Process(engine.process.pid)
        expected = entries_json(run_program(engine, graph, program, document="soak").report, names)
        for case in cases:
            if tally.cases and time.monotonic() > until:
                break
            began = time.process_time()
            outcome = run_program(engine, graph, program, document=f"soak {case}", trace=bool(case % 2))
            tally.count(case, time.process_time() - began)
            if outcome.failed is not None:
                tally.failures.append(Failure("runs", seed, case, f"the run failed: {outcome.failed.message}"))
            report = entries_json(outcome.report, names)
            if case % 2 == 0 and report != expected:  # records number storages anew
                tally.failures.append(Failure("runs", seed, case, "the same program has another report"))
            if tally.cases == 10 * WARM_CASES:
                alive = process.memory_info().rss
        if alive:
            grown = process.memory_info().rss - alive
            tally.remarks.append(f"engine {grown / 2**20:+.1f} MiB after the warm-up")
            if grown > SLACK_BYTES + SLACK_A_CASE * tally.cases:
                tally.failures.append(Failure("runs", seed, tally.cases, f"the engine has grown by {grown:,} bytes"))
    before.left(tally, seed)
    return tally


def _gesture(graph: Graph, generator: Random) -> Edits:
    """What one gesture would change; nothing when it is refused."""
    nodes = list(graph.nodes)
    if not nodes or generator.random() < 0.25:
        return recipes.add_operator(graph, generator.choice(OPERATORS), generator.random() * 900, 50.0)[0]
    some, other = generator.choice(nodes), generator.choice(nodes)
    port = generator.choice(("a", "b", "input", "tensors.0", "size", "dim"))
    gestures: tuple[Callable[[], Edits], ...] = (
        lambda: recipes.connect(graph, some, 0, other, port),
        lambda: recipes.connect(graph, some, 0, other, port),
        lambda: recipes.delete(graph, [some]),
        lambda: recipes.move(graph, {some: (generator.random() * 900, 10.0)}),
        lambda: recipes.rename(graph, some, (f"r{generator.randrange(10**6)}",)),
        lambda: recipes.set_literal(graph, some, port, generator.choice(LITERALS)),
        lambda: recipes.set_note(graph, ItemId(some), f"note {generator.randrange(99)}"),
        lambda: recipes.set_muted(graph, [some], generator.random() < 0.5),
        lambda: recipes.disconnect_all(graph, tuple(graph.wires.values())[:1]),
    )
    try:
        return generator.choice(gestures)()
    except Refused:
        return ()


class _Standing:
    """What is there before long use: references, descriptors, threads, processes."""

    def __init__(self) -> None:
        self._references, self._warm, self._held = 0, 0, 0
        self._descriptors, self._threads = _descriptors(), threading.active_count()
        self._processes = len(psutil.Process().children())

    def after(self, tally: Tally, seed: int, case: int) -> None:
        """Compare the references to None and True with those after the warm-up."""
        if tally.cases < WARM_CASES or tally.cases % WARM_CASES:
            return
        gc.collect()
        count, held = sys.getrefcount(None) + sys.getrefcount(True), psutil.Process().memory_info().rss
        if not self._references:
            self._references, self._warm, self._held = count, tally.cases, held
            return
        grown = count - self._references
        words = f"{grown:+,} references to None and True, {(held - self._held) / 2**20:+.1f} MiB after the warm-up"
        tally.remarks[:] = [words]
        if grown > SLACK_REFERENCES + SLACK_A_CASE * (tally.cases - self._warm) and not tally.failures:
            tally.failures.append(Failure("edits", seed, case, f"{grown:,} more references to None and True"))

    def left(self, tally: Tally, seed: int) -> None:
        """Compare descriptors, threads and processes with those that were there."""
        now = (_descriptors(), threading.active_count(), len(psutil.Process().children()))
        then = (self._descriptors, self._threads, self._processes)
        if any(a > b for a, b in zip(now, then, strict=True)):
            tally.failures.append(
                Failure("runs", seed, tally.cases, f"descriptors, threads, processes: {then} -> {now}")
            )


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.exists() else 0
