"""An engine in this process, for tests of what it does; processes are tested in test_process.py."""

import signal
from collections.abc import Callable, Iterator

import pytest
import torch

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.live.namespace_report import Reporter
from gradstudio.engine.verbs import Engine
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message, Verb
from gradstudio.protocol.messages.events import (
    Failed,
    Gradients,
    GradRow,
    NamedEntry,
    Paused,
    Printed,
    Row,
    Traced,
    Warned,
)
from gradstudio.protocol.messages.requests import Do
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.engine.build import node, program
from tests.protocol.timelines import feed


class Bench:
    """An engine, what it said, and short words for asking it; `compares`: whether a window would know what it knows."""

    def __init__(self, compares: bool = True) -> None:
        self.compares = compares
        self.events: list[Message] = []
        self.window = Timeline()
        self.stop_after: int | None = None
        self.engine = Engine(self.hear, lambda: self.stop_after is not None and self.executed >= self.stop_after)
        self.revision = 0

    @property
    def executed(self) -> int:
        return sum(len(e.rows) for e in self.events if isinstance(e, Traced)) + len(self.engine.runner._pending)

    def hear(self, event: Message) -> None:
        self.events.append(event)
        if self.compares:
            feed(self.window, [event])
            if isinstance(event, Gradients) and event.whole:
                self.compare_record(event)

    def compare_record(self, told: Gradients) -> None:
        """What the window knows by the record, where it is not told in rows, is what the engine has."""
        live = self.engine.live
        assert live is not None
        heard = {(row.node, row.output, row.path) for row in told.rows}
        in_record = {(item, 0, "") for item in (*told.in_record.births, *told.in_record.arrivals)}
        assert heard | in_record == live.gradients.values.keys() and not heard & in_record
        with clean_modes():
            for key in in_record:
                assert self.window.grad(*key) == live.gradients.row(live.gradients.values[key])

    def load(self, text: str | Program, **options: object) -> tuple[bool, bool]:
        built = text if isinstance(text, Program) else program(text, **options)  # type: ignore[arg-type]
        self.revision += 1
        return self.engine.load(Loaded("document", self.revision, built))

    def do(self, *verbs: Verb, trace: bool = True, restart: bool = False) -> Paused:
        for verb in verbs:
            self.events.clear()
            paused = self.engine.do(Do(verb=verb, trace=trace, restart=restart))
        return paused

    def run(self, text: str | Program, *verbs: Verb, trace: bool = True, **options: object) -> Paused:
        self.load(text, **options)
        return self.do(*(verbs or ("run",)), trace=trace)

    def __getitem__(self, name: str) -> object:
        live = self.engine.live
        assert live is not None
        return live.namespace[name]

    def __contains__(self, name: str) -> bool:
        return self.engine.live is not None and name in self.engine.live.namespace

    def rows(self) -> list[Row]:
        return [row for event in self.events if isinstance(event, Traced) for row in event.rows]

    def timeline(self) -> Timeline:
        """What the window makes of what was told of a run."""
        self.engine.settle()
        return feed(Timeline(), self.events)

    def grads(self) -> dict[tuple[ItemId, int, str], GradRow]:
        self.engine.settle()
        if self.engine.live is not None and not self.engine.live.traced:
            self.engine.runner.send_gradients(self.engine.live)
        last = [event for event in self.events if isinstance(event, Gradients)][-1]
        in_record = [(item, 0, "") for item in (*last.in_record.births, *last.in_record.arrivals)]
        known = {key: self.window.grad(*key) for key in in_record}
        return {
            **{key: row for key, row in known.items() if row is not None},
            **{(row.node, row.output, row.path): row for row in last.rows},
        }

    def grad(self, line: int, output: int = 0, path: str = "") -> GradRow:
        return self.grads()[node(line), output, path]

    def state(self, line: int, output: int = 0, path: str = "") -> str:
        return self.grad(line, output, path).state

    def autograd(self) -> list[BackwardTraced]:
        return [event for event in self.events if isinstance(event, BackwardTraced)]

    def traced(self) -> list[BackwardTraced]:
        """The records of backwards whose rows were told."""
        return [event for event in self.autograd() if event.rows]

    def failed(self) -> Failed:
        return next(event for event in self.events if isinstance(event, Failed))

    def printed(self) -> list[Printed]:
        return [event for event in self.events if isinstance(event, Printed)]

    def warned(self) -> list[Warned]:
        return [event for event in self.events if isinstance(event, Warned)]

    def report(self, trace: bool = False, max_values: int = 64) -> dict[str, NamedEntry]:
        self.engine.settle()
        live = self.engine.live
        assert live is not None
        with clean_modes():
            entries = Reporter(live, max_values, trace).report().entries
        assert len({entry.name for entry in entries}) == len(entries)
        return {entry.name: entry for entry in entries}


@pytest.fixture
def bench() -> Bench:
    """A fresh engine."""
    return Bench()


Make = Callable[[], Bench]


@pytest.fixture
def signals_and_numbers() -> Iterator[None]:
    """What a script changes of the process that runs it is put back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)
    for number, handler in handlers.items():
        signal.signal(number, handler)
