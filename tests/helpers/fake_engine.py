"""An engine without torch that speaks the real codec: for tests of the window's side of the pipe.

    python -m tests.helpers.fake_engine [MODE]

MODE: ``fine`` answers every verb at once; ``deaf`` begins a run and never ends it; ``dying`` exits
in the middle of a run; ``failing`` fails at the first statement; ``babbling`` writes what is no frame;
``talking`` prints, warns, logs and traces a backward at the first statement; ``tracing`` records a backward
over the whole program at each backward statement (a chain, the last statement first), sends wires' gradients,
notes every breakpoint at its node, stops behind a backward for one of that phase, and answers questions; Step
goes on by one statement; ``dreaming`` never says a shape, ``fainting`` ends when it is asked for one.
"""

import itertools
import os
import sys
import time

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, Statement, flatten_statements
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages import base, requests
from gradstudio.protocol.messages import debugging as d
from gradstudio.protocol.messages import events as m
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, WireGrad
from gradstudio.protocol.messages.inference import (
    Estimate,
    Estimated,
    Infer,
    Inferred,
    Inferring,
    PortInference,
    TryWire,
    WireTried,
)
from gradstudio.protocol.messages.records import PlainRecord, Summary, TensorRecord

VALUE = 3.5
REFUSAL = "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
NOWHERE = ItemId("")


class FakeEngine:
    """Answers requests with made-up values."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.load: requests.Load | None = None
        self.ran = False
        self.position = 0
        self.step = 0
        self.backwards = 0
        self.places: dict[ItemId, int] = {}

    def say(self, message: m.Event) -> None:
        os.write(1, encode(message))

    def serve(self) -> None:
        self.say(m.Hello(protocol=base.PROTOCOL_VERSION, ready=False, pid=os.getpid()))
        devices = (m.Device("cpu", "fake"),)
        self.say(m.Hello(protocol=base.PROTOCOL_VERSION, ready=True, pid=os.getpid(), torch="0", devices=devices))
        decoder = Decoder(requests.Request)
        while data := os.read(0, 65536):
            for request in decoder.feed(data):
                self.answer(request)

    def answer(self, request: requests.Request) -> None:
        match request:
            case requests.Load():
                self.load = request
                self.say(
                    m.Loaded(
                        document=request.document,
                        revision=request.revision,
                        stale=self.ran and self.mode != "failing",
                        live=self.ran,
                    )
                )
            case requests.Do():
                self.do(request)
            case Infer(revision=revision) if self.mode in ("dreaming", "fainting"):
                self.say(m.Log(level="info", text="asked for shapes"))
                if self.mode == "fainting":
                    sys.exit(1)
                program = request.program or self.load.program
                node = next(flatten_statements(program.statements)).node
                self.say(Inferring(revision=revision, node=node, line=1))
            case Infer(document=document, revision=revision, program=program):
                program = program or self.load.program
                ports = tuple(
                    PortInference(node=s.node, dtype="float32", shape=(2,))
                    for s in flatten_statements(program.statements)
                )
                self.say(Inferred(document=document, revision=revision, ports=ports))
            case Estimate():
                self.say(Estimated())
            case TryWire(request=number, target=target, program=program):
                self.say(self.tried(number, target, program))
            case requests.Fetch(request=number, node=node):
                self.say(m.Fetched(request=number, node=node, shape=(1, 1), dtype="float32", values=((VALUE,),)))
            case requests.Collect(trace=trace):
                self.report(trace)
            case d.WhatIf(request=number, change=change):
                self.say(d.WhatIfAnswered(request=number, change=change))
            case d.Check(request=number, nodes=nodes):
                self.say(d.Checked(request=number, nodes=nodes))
            case d.WeighMemory():
                self.say(d.MemoryByNode(revision=0, rows=(d.NodeMemory(node=ItemId("n"), alive_bytes=8),)))
            case _:
                pass

    def tried(self, number: int, target: ItemId, program: Program) -> WireTried:
        """Takes every wire but those into a product."""
        operator = next(s.operator for s in flatten_statements(program.statements) if s.node == target)
        if operator == "operator.matmul":
            return WireTried(request=number, target=target, refusal=REFUSAL)
        port = PortInference(node=target, dtype="float32", shape=(2, 5))
        return WireTried(request=number, target=target, outputs=(port,))

    def trace(self, request: requests.Do) -> None:
        """Execute one statement after another, as far as the verb goes."""
        assert self.load is not None
        revision = self.load.revision
        statements = list(flatten_statements(self.load.program.statements))
        fresh = request.verb in ("run", "repeat") or self.position >= len(statements)
        if fresh:
            self.position = self.step = self.backwards = 0
        self.say(m.Started(verb=request.verb, revision=revision, fresh=fresh, pass_number=1, seed=0))
        end = self.position + 1 if request.verb == "step" else len(statements)
        for index in range(self.position, end):
            statement = statements[index]
            self.step += 1
            if statement.backward:
                self.record_backward(statement, statements[:index], revision)
            row = m.Row(step=self.step, node=statement.node, outputs=(self.tensor(requires_grad=True),), seconds=0.001)
            self.say(m.Traced(revision=revision, rows=(row,)))
            for each in request.breakpoints:
                if each.node == statement.node:
                    self.say(d.Hit(breakpoint=each.id, node=each.node, step=self.step, summary=self.summary()))
        hit = next((each for each in request.breakpoints if each.phase == "backward" and each.stops), None)
        if hit is not None and self.backwards:
            place = self.places[hit.node]
            self.say(d.Hit(breakpoint=hit.id, node=hit.node, backward=self.backwards, place=place, stopped=True))
        self.position, self.ran = end, True
        state = "value" if self.backwards else "not_run"
        grad = self.summary() if self.backwards else None
        made = [s for s in statements[:end] if not s.backward]
        rows = tuple(m.GradRow(node=s.node, state=state, grad=grad) for s in made)  # type: ignore[arg-type]
        self.say(m.Gradients(revision=revision, rows=rows))
        following = statements[end].node if end < len(statements) else NOWHERE
        if hit is not None:
            self.pause(request.verb, "breakpoint", following, hit.id)
        else:
            self.pause(request.verb, "done", following)

    def record_backward(self, statement: Statement, before: list[Statement], revision: int) -> None:
        """A chain over the statements before: each sends its gradient to the one before it."""
        self.backwards += 1
        chain = [each for each in reversed(before) if not each.backward]
        self.places = {each.node: place for place, each in enumerate(chain)}
        rows = tuple(
            AutogradRow(
                backward=self.backwards,
                autograd="MulBackward0" if place + 1 < len(chain) else "AccumulateGrad",
                node=each.node,
                id=place,
                incoming=(self.summary(),),
                outgoing=(self.summary(),) if place + 1 < len(chain) else (),
                next=((place + 1, 0),) if place + 1 < len(chain) else (),
                values=(EdgeValue(node=each.node),),
                seconds=0.001,
            )
            for place, each in enumerate(chain)
        )
        wires = tuple(
            WireGrad(source=low.node, target=high.node, port="input", place=place, grad=self.summary())
            for place, (high, low) in enumerate(itertools.pairwise(chain))
        )
        self.say(
            BackwardTraced(revision=revision, rows=rows, wires=wires, backward=self.backwards, statement=statement.node)
        )

    def do(self, request: requests.Do) -> None:
        assert self.load is not None
        if self.mode == "tracing":
            self.trace(request)
            return
        revision = self.load.revision
        self.say(m.Started(verb=request.verb, revision=revision, fresh=True, pass_number=1, seed=0))
        if self.mode == "deaf":
            time.sleep(3600)
        if self.mode == "dying":
            os._exit(9)
        if self.mode == "babbling":
            os.write(1, b"\xff" * 64)
        statements = list(flatten_statements(self.load.program.statements))
        if self.mode == "failing":
            self.fail(statements[0], revision)
            return
        if self.mode == "talking":
            self.talk(statements[0], revision)
        self.say(m.Traced(revision=revision, rows=self.rows(statements)))
        grads = tuple(m.GradRow(node=s.node, state="value", grad=self.summary()) for s in statements)
        self.say(m.Gradients(revision=revision, rows=grads))
        self.ran = True
        self.pause(request.verb, "done")

    def fail(self, statement: Statement, revision: int) -> None:
        self.ran = True
        self.say(
            m.Failed(
                revision=revision,
                node=statement.node,
                address=statement.address,
                line=statement.line,
                type_name="RuntimeError",
                message="grad can be implicitly created only for scalar outputs",
                operands=(("self", PlainRecord(what="number", class_name="int", value=1)),),
            )
        )
        self.pause("run", "failed")

    def talk(self, statement: Statement, revision: int) -> None:
        assert self.load is not None
        self.say(m.Printed(node=statement.node, line=statement.line, text="hello\n"))
        self.say(m.Warned(node=statement.node, line=statement.line, category="UserWarning", message="careful"))
        self.say(m.Log(level="info", text=f"stored: {', '.join(self.load.tensors) or 'nothing'}"))
        row = AutogradRow(backward=1, autograd="ReluBackward0", node=statement.node, incoming=(self.summary(),))
        self.say(BackwardTraced(revision=revision, rows=(row,)))

    def report(self, trace: bool) -> None:
        assert self.load is not None
        statements = list(flatten_statements(self.load.program.statements)) if self.ran else []
        entries = tuple(
            m.NamedEntry(name=s.address, node=s.node, operator=s.operator, line=s.line, outputs=(self.tensor(),))
            for s in statements
        )
        rows = self.rows(statements) if trace else ()
        self.say(m.Report(revision=self.load.revision, entries=entries, rows=rows))

    def pause(self, verb: base.Verb, outcome: str, next_node: ItemId = NOWHERE, hit: str = "") -> None:
        assert self.load is not None
        self.say(
            m.Paused(
                revision=self.load.revision,
                verb=verb,
                outcome=outcome,  # type: ignore[arg-type]
                next_node=next_node,
                at_end=outcome in ("done", "breakpoint") and not next_node,
                pass_number=1,
                hit=hit,
            )
        )

    def rows(self, statements: list[Statement]) -> tuple[m.Row, ...]:
        return tuple(m.Row(step=k, node=s.node, outputs=(self.tensor(),)) for k, s in enumerate(statements))

    def summary(self) -> Summary:
        return Summary(dtype="float32", shape=(), minimum=VALUE, maximum=VALUE, mean=VALUE, value=VALUE)

    def tensor(self, requires_grad: bool = False) -> TensorRecord:
        return TensorRecord(device="cpu", summary=self.summary(), stride=(), requires_grad=requires_grad)


if __name__ == "__main__":
    FakeEngine(sys.argv[1] if len(sys.argv) > 1 else "fine").serve()
