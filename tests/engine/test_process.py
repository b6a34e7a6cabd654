"""The engine as a process: hello, requests over the pipe, prints, stop, kill, end of input."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import (
    Failed,
    Fetched,
    Hello,
    Loaded,
    Log,
    Memory,
    Paused,
    Printed,
    Report,
    Started,
    Traced,
)
from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.messages.requests import Collect, Do, Fetch, Load, SampleMemory, Stop
from tests.engine.build import node, program
from tests.helpers.engine_forks import STARTED, changed_by
from tests.helpers.patience import PATIENCE_SECONDS

WAIT_S = 120
PARENT = """
import sys
from gradstudio.protocol.client import EngineProcess
engine = EngineProcess(sys.argv[1:])
engine.receive()
print(engine.process.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(stderr=subprocess.DEVNULL) as process:
        process.wait_until_ready(WAIT_S)
        yield process


def do(engine: EngineProcess, text: str, request: Do | None = None) -> list[Message]:
    engine.send(Load(document="d", revision=1, program=program(text)))
    engine.send(request or Do(verb="run"))
    events: list[Message] = []
    events.append(engine.wait_for(Paused, timeout=WAIT_S, on_event=events.append))
    return events


def test_it_says_hello_before_torch_is_imported_and_then_what_there_is() -> None:
    with EngineProcess(STARTED, stderr=subprocess.DEVNULL) as process:
        first = process.receive(WAIT_S)
        assert isinstance(first, Hello)
        assert not first.ready
        ready = process.wait_until_ready(WAIT_S)
        assert ready.pid == process.process.pid
        assert ready.torch
        assert ready.devices[0].name == "cpu"
        assert process.close() == 0


def test_a_run_is_started_traced_and_paused(engine: EngineProcess) -> None:
    events = do(engine, "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 2\ny.backward()")
    kinds = [type(event) for event in events]
    assert kinds[0] is Loaded
    assert kinds[1] is Started
    assert kinds[-1] is Paused
    rows = [row for event in events if isinstance(event, Traced) for row in event.rows]
    assert [row.node for row in rows] == [node(1), node(2), node(3)]


def test_what_a_program_prints_comes_as_an_event_and_never_between_frames(engine: EngineProcess) -> None:
    events = do(engine, "for i in range(200):\n    print('line', i, end='')\nimport os\nos.write(1, b'noise')")
    printed = [event.text for event in events if isinstance(event, Printed)]
    assert printed == [f"line {i}" for i in range(200)]


def test_stop_ends_an_endless_loop_between_nodes(engine: EngineProcess) -> None:
    for trace in (True, False):
        engine.send(
            Load(
                document="d",
                revision=1,
                program=program("for i in range(10**15):\n    x = torch.ones(1)"),
            )
        )
        engine.send(Do(verb="run", trace=trace))
        engine.wait_for(Started, timeout=WAIT_S)
        engine.send(Stop())
        paused = engine.wait_for(Paused, timeout=WAIT_S)
        assert isinstance(paused, Paused)
        assert paused.outcome == "stopped"


def test_a_statement_that_takes_long_is_named_while_it_does() -> None:
    at_once = "import gradstudio.engine.run.long_work as long_work; long_work.LONG_S = 0.0"
    with EngineProcess(changed_by(at_once), stderr=subprocess.DEVNULL) as engine:
        engine.wait_until_ready(WAIT_S)
        engine.send(SampleMemory(every_ms=10))
        events = do(engine, "a = torch.ones(2)\nfor i in range(40):\n    u = torch.linalg.svd(torch.ones(300, 300))")
    named = {(event.node, event.line) for event in events if isinstance(event, Running)}
    assert (node(3), 7) in named


def test_a_stop_that_comes_too_late_does_not_stop_the_next_run(engine: EngineProcess) -> None:
    do(engine, "x = torch.ones(1)")
    engine.send(Stop())
    assert do(engine, "x = torch.ones(1)")[-1].outcome == "done"  # type: ignore[attr-defined]


def test_zeros_of_a_trillion_elements_is_refused_with_its_size_and_nothing_dies(engine: EngineProcess) -> None:
    for trace in (True, False):
        events = do(engine, "x = torch.zeros(10**12)", Do(verb="run", trace=trace))
        failed = next(event for event in events if isinstance(event, Failed))
        assert failed.warned_bytes == 4 * 10**12
        assert "3.6 TiB" in failed.message
        assert failed.node == node(1)
    assert do(engine, "x = torch.zeros(10)")[-1].outcome == "done"  # type: ignore[attr-defined]


def test_a_table_of_a_live_tensor_is_fetched(engine: EngineProcess) -> None:
    do(engine, "x = torch.arange(24.0).reshape(2, 3, 4)")
    engine.send(Fetch(request=5, node=node(1), name="x", index=(1,), rows=(1, 3), columns=(0, 2)))
    fetched = engine.wait_for(Fetched, timeout=WAIT_S)
    assert isinstance(fetched, Fetched)
    assert (fetched.request, fetched.shape, fetched.values) == (5, (2, 3, 4), ((16.0, 17.0), (20.0, 21.0)))
    engine.send(Fetch(request=6, node=node(9), name="nothing"))
    assert "not bound" in engine.wait_for(Fetched, timeout=WAIT_S).error  # type: ignore[union-attr]


def test_the_report_comes_after_a_plain_run(engine: EngineProcess) -> None:
    do(engine, "x = torch.ones(2)\ny = x * 2", Do(verb="run", trace=False))
    engine.send(Collect())
    report = engine.wait_for(Report, timeout=WAIT_S)
    assert isinstance(report, Report)
    assert [entry.name for entry in report.entries] == ["x", "y"]


def test_memory_is_sampled_while_it_is_wanted_with_a_mark_for_each_run(engine: EngineProcess) -> None:
    engine.send(SampleMemory(every_ms=10))
    assert isinstance(engine.wait_for(Memory, timeout=WAIT_S), Memory)
    events = do(engine, "x = torch.ones(1000, 1000)")
    while not any(isinstance(event, Memory) and event.series["tensors"] >= 4_000_000 for event in events):
        events.append(engine.wait_for(Memory, timeout=WAIT_S))
    assert any(isinstance(event, Memory) and event.mark.startswith("Run") for event in events)
    engine.send(SampleMemory(every_ms=0))


def test_a_broken_program_is_a_log_line_and_the_engine_lives(engine: EngineProcess) -> None:
    import msgspec

    broken = program("x = torch.ones(1)")
    statement = msgspec.structs.replace(broken.statements[0], text="x = (")
    engine.send(Load(document="d", revision=1, program=msgspec.structs.replace(broken, statements=(statement,))))
    log = engine.wait_for(Log, timeout=WAIT_S)
    assert isinstance(log, Log)
    assert log.level == "error"
    assert do(engine, "x = torch.ones(1)")[-1].outcome == "done"  # type: ignore[attr-defined]


def test_the_engine_ends_with_its_input_also_inside_an_endless_run() -> None:
    process = EngineProcess(STARTED, stderr=subprocess.DEVNULL)
    process.wait_until_ready(WAIT_S)
    process.send(
        Load(document="d", revision=1, program=program("while_true = iter(int, 1)\nfor i in while_true:\n    x = i"))
    )
    process.send(Do(verb="run"))
    process.wait_for(Started, timeout=WAIT_S)
    assert process.close() == 0


def test_a_killed_engine_is_said_to_be_dead() -> None:
    process = EngineProcess(STARTED, stderr=subprocess.DEVNULL)
    process.wait_until_ready(WAIT_S)
    process.kill()
    with pytest.raises(EngineDied):
        process.wait_for(Paused, timeout=WAIT_S)


def test_our_own_fault_in_a_verb_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradstudio.engine.pipe import Inbox
    from gradstudio.engine.service import Service

    class End(BaseException):
        """Nothing more is asked."""

    sent: list[Message] = []
    requests = iter([Load(document="d", revision=1, program=program("x = 1")), Do(verb="run"), Do(verb="run")])

    class Stub(Inbox):
        def __init__(self) -> None:
            pass

        def take(self) -> object:  # type: ignore[override]
            for request in requests:
                return request
            raise End

        def waiting(self) -> bool:
            return True

        def pauses(self) -> bool:
            return False

        def stopped(self) -> bool:
            return False

    class Out:
        send = staticmethod(sent.append)

    service = Service(Stub(), Out())  # type: ignore[arg-type]
    flush = service._engine.runner.flush
    failing = iter([RuntimeError("a bug of ours")])

    def broken() -> None:
        for error in failing:
            raise error
        flush()

    monkeypatch.setattr(service._engine.runner, "flush", broken)
    with pytest.raises(End):
        service.run()
    outcomes = [event.outcome for event in sent if isinstance(event, Paused)]
    assert outcomes == ["failed", "done"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
def test_an_engine_that_can_read_nothing_ends_with_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-c", PARENT, *STARTED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        engine = int(parent.stdout.readline())
        ended = os.pidfd_open(engine)
        try:
            signal.pidfd_send_signal(
                ended, signal.SIGSTOP
            )  # as an operator that keeps Python's lock: no thread goes on
            parent.kill()
            assert select.select([ended], [], [], PATIENCE_SECONDS)[0]
        finally:
            if not select.select([ended], [], [], 0)[0]:
                signal.pidfd_send_signal(ended, signal.SIGKILL)
            os.close(ended)
