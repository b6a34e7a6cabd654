"""Engine: canvases run by a real engine process, several on their way at once."""

from collections import deque
from collections.abc import Mapping

import msgspec

from gradstudio.graph.model import Graph
from gradstudio.program.model import Program
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Event, Failed, NamedEntry, Paused, Report
from gradstudio.protocol.messages.inference import Infer, Inferred
from gradstudio.protocol.messages.requests import Collect, Do, Load
from tools.conformance.compare import MAX_VALUES

RUNS_PER_PROCESS = 5_000
"""The engine keeps every stored tensor that it was ever given: after so many runs another takes its place."""


class Ran(msgspec.Struct):
    """What the engine told of one canvas.

    Attributes:
        entries: what is bound at the end, by name.
    """

    entries: dict[str, NamedEntry]
    failed: Failed | None = None
    paused: Paused | None = None


class Engine:
    """One engine process at a time; canvases go in with `submit` and come out in the same order with `collect`."""

    def __init__(self, environment: Mapping[str, str], *, trace: bool = True) -> None:
        """Start an engine; `trace` records node by node, otherwise the whole text runs as one."""
        self._environment, self._trace = dict(environment), trace
        self._process: EngineProcess | None = None
        self._runs = 0
        self._waiting: deque[int] = deque()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, graph: Graph, program: Program) -> None:
        """Have a program run from nothing."""
        process = self._ready()
        self._runs += 1
        self._waiting.append(self._runs)
        tensors = {digest: graph.tensors[digest].data for digest in program.tensors}
        process.send(Load(document=f"case {self._runs}", revision=graph.revision, program=program, tensors=tensors))
        process.send(Do(verb="run", trace=self._trace, max_values=MAX_VALUES))
        process.send(Collect(max_values=MAX_VALUES))

    def collect(self) -> Ran:
        """What came of the program that was submitted first."""
        assert self._process is not None
        self._waiting.popleft()
        ran = Ran({})

        def hear(event: Event) -> None:
            if isinstance(event, Failed):
                ran.failed = event
            elif isinstance(event, Paused):
                ran.paused = event

        report = self._process.wait_for(Report, timeout=300, on_event=hear)
        assert isinstance(report, Report)
        ran.entries = {entry.name: entry for entry in report.entries}
        return ran

    def infer(self, graph: Graph, program: Program, *, run_small: bool) -> Inferred:
        """What inference says of a program; nothing may be on its way."""
        tensors = {digest: graph.tensors[digest].data for digest in program.tensors}
        process = self._ready()
        self._runs += 1
        process.send(Infer(revision=graph.revision, program=program, tensors=tensors, run_small=run_small))
        inferred = process.wait_for(Inferred, timeout=300)
        assert isinstance(inferred, Inferred)
        return inferred

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _ready(self) -> EngineProcess:
        if self._process is not None and self._runs >= RUNS_PER_PROCESS and not self._waiting:
            self.close()
            self._runs = 0
        if self._process is None:
            self._process = EngineProcess(environment=self._environment)
            self._process.wait_until_ready()
        return self._process

    @property
    def is_due(self) -> bool:
        """Whether the process is to be replaced as soon as nothing is on its way."""
        return self._runs >= RUNS_PER_PROCESS
