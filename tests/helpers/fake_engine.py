"""An engine without torch that speaks the real codec: for tests of the window's side of the pipe.

    python -m tests.helpers.fake_engine [MODE]

MODE: ``fine`` answers every verb at once; ``deaf`` begins a run and never ends it; ``dying`` exits
in the middle of a run; ``failing`` fails at the first statement; ``babbling`` writes what is no frame;
``talking`` prints, warns, logs and traces a backward at the first statement.
"""

import os
import sys
import time

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Statement, flat
from gradstudio.protocol import messages as m
from gradstudio.protocol.autograd import AutogradRow, BackwardTraced
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.records import PlainRecord, Summary, TensorRecord

VALUE = 3.5


class FakeEngine:
    """Answers requests with made-up values."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.load: m.Load | None = None
        self.ran = False

    def say(self, message: m.Event) -> None:
        os.write(1, encode(message))

    def serve(self) -> None:
        self.say(m.Hello(protocol=m.PROTOCOL_VERSION, ready=False, pid=os.getpid()))
        devices = (m.Device("cpu", "fake"),)
        self.say(m.Hello(protocol=m.PROTOCOL_VERSION, ready=True, pid=os.getpid(), torch="0", devices=devices))
        decoder = Decoder(m.Request)
        while data := os.read(0, 65536):
            for request in decoder.feed(data):
                self.answer(request)

    def answer(self, request: m.Request) -> None:
        match request:
            case m.Load():
                self.load = request
                self.say(
                    m.Loaded(
                        document=request.document,
                        revision=request.revision,
                        stale=self.ran and self.mode != "failing",
                        live=self.ran,
                    )
                )
            case m.Do():
                self.do(request)
            case m.Infer(revision=revision, program=program):
                ports = tuple(
                    m.PortInference(node=s.node, dtype="float32", shape=(2,)) for s in flat(program.statements)
                )
                self.say(m.Inferred(revision=revision, ports=ports))
            case m.Fetch(request=number, node=node):
                self.say(m.Fetched(request=number, node=node, shape=(1, 1), dtype="float32", values=((VALUE,),)))
            case m.Collect(trace=trace):
                self.report(trace)
            case _:
                pass

    def do(self, request: m.Do) -> None:
        assert self.load is not None
        revision = self.load.revision
        self.say(m.Started(verb=request.verb, revision=revision, fresh=True, pass_number=1, seed=0))
        if self.mode == "deaf":
            time.sleep(3600)
        if self.mode == "dying":
            os._exit(9)
        if self.mode == "babbling":
            os.write(1, b"\xff" * 64)
        statements = list(flat(self.load.program.statements))
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
        statements = list(flat(self.load.program.statements)) if self.ran else []
        entries = tuple(
            m.NamedEntry(name=s.address, node=s.node, operator=s.operator, line=s.line, outputs=(self.tensor(),))
            for s in statements
        )
        rows = self.rows(statements) if trace else ()
        self.say(m.Report(revision=self.load.revision, entries=entries, rows=rows))

    def pause(self, verb: m.Verb, outcome: str) -> None:
        assert self.load is not None
        self.say(
            m.Paused(
                revision=self.load.revision,
                verb=verb,
                outcome=outcome,  # type: ignore[arg-type]
                next_node=ItemId(""),
                at_end=outcome == "done",
                pass_number=1,
            )
        )

    def rows(self, statements: list[Statement]) -> tuple[m.Row, ...]:
        return tuple(m.Row(step=k, node=s.node, outputs=(self.tensor(),)) for k, s in enumerate(statements))

    def summary(self) -> Summary:
        return Summary(dtype="float32", shape=(), minimum=VALUE, maximum=VALUE, mean=VALUE, value=VALUE)

    def tensor(self) -> TensorRecord:
        return TensorRecord(device="cpu", summary=self.summary(), stride=())


if __name__ == "__main__":
    FakeEngine(sys.argv[1] if len(sys.argv) > 1 else "fine").serve()
