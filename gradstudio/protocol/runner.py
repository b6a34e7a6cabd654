"""Runs one program on an engine from beginning to end and gathers what it said. No Qt here."""

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gradstudio.graph.model import Graph
from gradstudio.program.model import Program
from gradstudio.program.trust import code_digest, need_words
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineSilent, NeedsTrust, ShapeTooLong
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Event, Failed, Loaded, Log, Paused, Printed, Report, Warned
from gradstudio.protocol.messages.inference import Estimate, Estimated, Infer, Inferred, Inferring, Need
from gradstudio.protocol.messages.progress import Asked, ProgramExit, Running
from gradstudio.protocol.messages.requests import Answer, Collect, Do, Load, Trust
from gradstudio.protocol.shape_clock import SHAPE_PATIENCE_S, TICK_S, ShapeClock

RUN = Do(verb="run")
PATIENCE_S = 10
"""After so long a person is told that it is still at work."""


class Outcome(msgspec.Struct, kw_only=True):
    """All that a run from nothing left.

    Attributes:
        failed: the node that failed, if one did.
        paused: how the verb ended.
        report: what is bound, by name.
        needs: devices whose memory is expected not to suffice for all of it.
    """

    paused: Paused
    report: Report
    failed: Failed | None = None
    printed: list[Printed] = []
    warned: list[Warned] = []
    logged: list[Log] = []
    backward: list[BackwardTraced] = []
    needs: tuple[Need, ...] = ()

    @property
    def program_exit(self) -> ProgramExit | None:
        """With what the program ended itself, where that was no good end."""
        return self.failed.program_exit if self.failed is not None else None


class _Listener:
    """Sorts events by kind while a verb runs; `also` hears all of them, `ask` is asked what to type."""

    def __init__(
        self,
        also: Callable[[Event], None] | None,
        ask: Callable[[Asked], None],
        warn: Callable[[Log], None] | None = None,
    ) -> None:
        self.also, self.ask, self.warn = also, ask, warn
        self.failed: Failed | None = None
        self.printed: list[Printed] = []
        self.warned: list[Warned] = []
        self.logged: list[Log] = []
        self.backward: list[BackwardTraced] = []
        self.running: Running | None = None

    def hear(self, event: Event) -> None:
        if self.also is not None:
            self.also(event)
        match event:
            case Failed():
                self.failed = event
            case Printed(passing=False):
                self.printed.append(event)
            case Warned():
                self.warned.append(event)
            case Log():
                self.logged.append(event)
                if self.warn is not None and event.level != "info":
                    self.warn(event)
            case BackwardTraced():
                self.backward.append(event)
            case Running():
                self.running = event
            case Asked():
                self.ask(event)
            case _:
                pass


def trust_in(program: Program, file: str) -> Trust:
    """The yes to a program that lies in a file; "-" is standard input, which has no folder of its own."""
    folder = Path.cwd() if file == "-" else Path(file).resolve().parent
    return Trust(digest=code_digest(program), file=file, folder=str(folder))


def typed_line(prompt: str) -> str | None:
    """The next line of standard input, for a question that is shown where answers are typed; None at its end."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if not line:
        sys.stderr.write("\nThe program asks for a line, and nobody types: standard input has ended.\n")
        return None
    return line.removesuffix("\n")


def run_program(
    engine: EngineProcess,
    graph: Graph,
    program: Program,
    *,
    document: str,
    trace: bool = False,
    max_values: int = 64,
    on_slow: Callable[[Running | None], None] | None = None,
    on_event: Callable[[Event], None] | None = None,
    on_warning: Callable[[Log], None] | None = None,
    trust: Trust | None = None,
    type_line: Callable[[str], str | None] | None = None,
    request: Do = RUN,
) -> Outcome:
    """Run a program from nothing and collect its report.

    Args:
        engine: one that is ready and at rest.
        graph: where stored tensors are.
        program: compiled from that graph.
        document: a name that no other program on this engine has.
        trace: record every node, gradients of non-leaves too.
        max_values: exact values up to this many elements.
        trust: of a program that holds code.
        type_line: gives a line that the program wants typed, for its question; None: nobody types any more.
        on_slow: called once when it takes longer than `PATIENCE_S`, with where it was last, as far as that is known.
        on_event: hears all that is said of the run, which is recorded for it; the report is that of a recorded one.
        on_warning: is told at once what is said beside the run, as that ranks wait for one another.
        request: what begins the run.

    Raises:
        EngineDied: the engine ended while it ran (killed, out of memory).
    """

    def answer(asked: Asked) -> None:
        engine.send(Answer(text=type_line(asked.prompt) if type_line is not None else None))

    listener = _Listener(on_event, answer, on_warning)
    _load(engine, graph, program, document, listener.hear)
    engine.send(Estimate())
    estimated = engine.wait_for(Estimated, on_event=listener.hear)
    is_traced, answers = trace or on_event is not None, type_line is not None
    asked: dict[str, Any] = {"trace": is_traced, "max_values": max_values, "trust": trust, "answers": answers}
    engine.send(msgspec.structs.replace(request, **asked))
    paused = _patiently(engine, listener, on_slow)
    engine.send(Collect(max_values=max_values, trace=trace))
    report = engine.wait_for(Report, on_event=listener.hear)
    assert isinstance(paused, Paused) and isinstance(report, Report) and isinstance(estimated, Estimated)
    return Outcome(
        paused=paused,
        report=report,
        failed=listener.failed,
        printed=listener.printed,
        warned=listener.warned,
        logged=listener.logged,
        backward=listener.backward,
        needs=estimated.needs,
    )


def runner_of(name: str, *, keeps: bool, goes_on: bool) -> Callable[..., Outcome]:
    """What runs the program of a file: `run_program`, and, where its training is asked to be kept, what keeps it.

    Raises (when it is called):
        NothingToContinue: `goes_on`, and no run of the file can; or there is no file.
    """
    return partial(_run_kept, name, goes_on) if keeps or goes_on else run_program


def _run_kept(
    name: str, goes_on: bool, engine: EngineProcess, graph: Graph, program: Program, **arguments: Any
) -> Outcome:
    from gradstudio.protocol.kept_training import KeptTraining  # with numpy, which other runs do without

    also: Callable[[Event], None] | None = arguments.pop("on_event")
    with KeptTraining(graph, name, goes_on=goes_on) as kept:

        def hear(event: Event) -> None:
            kept.hear(event)
            if also is not None:
                also(event)

        outcome = run_program(engine, graph, program, on_event=hear, request=kept.request, **arguments)
        kept.end(engine, outcome.paused)
    return outcome


def _patiently(engine: EngineProcess, listener: _Listener, on_slow: Callable[[Running | None], None] | None) -> Event:
    try:
        return engine.wait_for(Paused, timeout=PATIENCE_S, on_event=listener.hear)
    except EngineSilent:
        if on_slow is not None:
            on_slow(listener.running)
    return engine.wait_for(Paused, on_event=listener.hear)


def trace_program(engine: EngineProcess, graph: Graph, program: Program, *, document: str) -> list[Event]:
    """Run a program from nothing with every value and gradient traced, and return all that the engine said.

    Raises:
        EngineDied: the engine ended while it ran.
    """
    if program.codes:
        words = need_words([one.text for one in program.codes])
        raise NeedsTrust(f"{words} A picture of it is drawn without running it: leave out --run.")
    events: list[Event] = []
    _load(engine, graph, program, document, events.append)
    engine.send(Do(verb="run"))
    engine.wait_for(Paused, on_event=events.append)
    return events


def infer_program(
    engine: EngineProcess,
    graph: Graph,
    program: Program,
    on_slow: Callable[[Inferring | None], object] = lambda _: None,
) -> Inferred:
    """Ask for shapes and refusals without running.

    Args:
        engine: one that is ready and at rest.
        graph: where stored tensors are.
        program: compiled from that graph.
        on_slow: called once when it takes longer than `PATIENCE_S`, with where it was last, as far as that is known.

    Raises:
        EngineDied: the engine ended meanwhile.
        ShapeTooLong: one statement was tried for too long; the engine was ended.
    """
    engine.send(Infer(revision=graph.revision, program=program, tensors=_stored(graph, program)))
    clock, began, is_told = ShapeClock(engine.process.pid), time.monotonic(), False
    while (event := engine.receive(TICK_S)) is None or not isinstance(event, Inferred):
        if isinstance(event, Inferring):
            clock.at(event)
        elif event is None and clock.has_run_out():
            engine.kill()
            raise ShapeTooLong(SHAPE_PATIENCE_S, clock.node, clock.line)
        if not is_told and time.monotonic() - began > PATIENCE_S:
            is_told = True
            on_slow(clock.place)
    return event


def _load(
    engine: EngineProcess, graph: Graph, program: Program, document: str, on_event: Callable[[Event], None]
) -> None:
    tensors = _stored(graph, program)
    engine.send(Load(document=document, revision=graph.revision, program=program, tensors=tensors))
    engine.wait_for(Loaded, on_event=on_event)


def _stored(graph: Graph, program: Program) -> dict[str, bytes]:
    """The stored tensors that the program loads, by digest."""
    return {digest: graph.tensors[digest].data for digest in program.tensors}
