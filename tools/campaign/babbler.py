"""An engine without torch whose answers are changed at random, and are still messages; now and then they are none.

python -m tools.campaign.babbler SEED
"""

import os
import sys
from random import Random
from typing import Any, TypeVar, cast

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.program.model import flatten_statements
from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.base import PROTOCOL_VERSION, Message
from gradstudio.protocol.messages.events import (
    Device,
    Event,
    Failed,
    Gradients,
    GradPart,
    GradRow,
    Hello,
    Loaded,
    Log,
    Memory,
    Paused,
    Printed,
    Row,
    Started,
    Traced,
    Warned,
)
from gradstudio.protocol.messages.inference import Estimate, Estimated, Infer, Inferred, PortInference
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Preview,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.protocol.messages.requests import Do, Load, Request
from tools.campaign import mutations

LENGTH_BYTES = 4
SUMMARIES = (
    Summary(dtype="float32", shape=(2,), minimum=0.0, maximum=1.0, value=[0.0, 1.0], preview=Preview(1, 2, bytes(8))),
    Summary(dtype="int64", shape=(2, 2), minimum=0, maximum=3, mean=1.5, value=[[0, 1], [2, 3]]),
    Summary(
        dtype="float32", shape=(3, 64, 64), minimum=-1.0, maximum=1.0, mean=0.5, rms=0.3, nan=1,
        preview=Preview(32, 32, bytes(4096), 2, 2, False),
    ),
    Summary(
        dtype="uint8", shape=(16, 8, 8), minimum=0, maximum=255, mean=0.5,
        preview=Preview(16, 8, bytes(512), 1, 1, False, 8),
    ),
)  # fmt: skip
"""Of a vector, a matrix, a picture and a sheet of pictures."""
TENSORS = tuple(
    TensorRecord(device="cpu", summary=one, grad=one, grad_state="value", requires_grad=True, size_bytes=44, storage=3)
    for one in SUMMARIES
)
RECORDS: tuple[Record, ...] = (
    *TENSORS,
    TupleRecord(
        class_name="tuple", length=2, items=(TENSORS[0], PlainRecord(what="text", class_name="str", value="x"))
    ),
    ModuleRecord(class_name="Linear", parameters={"weight": TENSORS[1]}, buffers={"b": TENSORS[0]}),
    OptimizerRecord(class_name="SGD", groups=({"lr": 0.1, "momentum": 0.9},)),
    ArrayRecord(dtype="float64", shape=(2, 2), value=[[1.0, 2.0], [3.0, 4.0]]),
    ObjectRecord(class_name="object"),
)
MOST_TRIES = 20
MessageT = TypeVar("MessageT")


def changed(generator: Random, message: Message, union: type[MessageT], most: int = 2) -> MessageT | None:
    """A message with some values changed that is one all the same; None when none was found."""
    decoder = msgspec.msgpack.Decoder(union)
    for _ in range(MOST_TRIES):
        content: Any = msgspec.msgpack.decode(encode(message)[LENGTH_BYTES:])
        for _ in range(generator.randint(1, most)):
            content = mutations.of_values(generator, content)
        try:
            return decoder.decode(msgspec.msgpack.encode(content))
        except (msgspec.MsgspecError, OverflowError, UnicodeError, RecursionError):
            continue
    return None


class Babbler:
    """Answers requests, half of the time with something else."""

    def __init__(self, generator: Random) -> None:
        """Nothing was asked."""
        self._generator = generator
        self._load: Load | None = None

    def serve(self) -> None:
        """Answer until standard input ends."""
        sound = Hello(protocol=PROTOCOL_VERSION, ready=True, pid=os.getpid(), torch="0", devices=(Device("cpu", "x"),))
        self._write(encode(Hello(protocol=PROTOCOL_VERSION, ready=False, pid=os.getpid())))
        self._write(encode(sound))
        decoder: Decoder[Request] = Decoder(cast(type[Request], Request))
        while data := os.read(0, 1 << 16):
            for request in decoder.feed(data):
                for event in self._answers(request):
                    self._say(event)

    def _say(self, event: Message) -> None:
        chance = self._generator.random()
        if chance < 0.01:
            self._write(os.urandom(40))
        elif chance < 0.5 and (other := changed(self._generator, event, cast(type[Event], Event))) is not None:
            try:
                self._write(encode(cast(Message, other)))
            except (BrokenFrame, OverflowError, UnicodeError):
                return
        else:
            self._write(encode(event))

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]

    def _answers(self, request: Request) -> list[Message]:
        match request:
            case Load(document=document, revision=revision):
                self._load = request
                return [Loaded(document=document, revision=revision, stale=False, live=False)]
            case Infer(document=document, revision=revision):
                ports = [PortInference(node=node, dtype="float32", shape=(2,)) for node in self._nodes()]
                return [Inferred(document=document, revision=revision, ports=tuple(ports))]
            case Estimate():
                return [Estimated()]
            case Do(verb=verb) if self._load is not None:
                return self._run(verb, self._load.revision)
            case _:
                return [Log(level="info", text="heard")]

    def _run(self, verb: Any, revision: int) -> list[Message]:
        nodes, choose = self._nodes(), self._generator.choice
        rows = tuple(
            Row(step=k, node=node, outputs=(choose(RECORDS),), seconds=0.1, at_s=0.1 * k, made_bytes=10)
            for k, node in enumerate(nodes)
        )
        grads = tuple(
            GradRow(node=node, state="value", grad=choose(SUMMARIES), parts=(GradPart(1, 1, choose(SUMMARIES)),))
            for node in nodes
        )
        said: list[Message] = [Started(verb=verb, revision=revision, fresh=True, pass_number=1, seed=0)]
        said += [Traced(revision=revision, rows=(row,)) for row in rows]
        said += [Gradients(revision=revision, rows=grads), Memory(time_s=1.0, device="cpu", series={"process": 5})]
        if nodes:
            node, value = self._generator.choice(nodes), PlainRecord(what="number", class_name="int", value=1)
            said.append(Printed(node=node, line=1, text="x"))
            said.append(Warned(node=node, line=1, category="UserWarning", message="careful"))
            failed = Failed(
                revision=revision, node=node, address="x", line=1, type_name="RuntimeError", message="mat1 and mat2",
                operands=(("self", value),),
            )  # fmt: skip
            said.append(failed)
        return [
            *said,
            Paused(revision=revision, verb=verb, outcome="done", next_node=ItemId(""), at_end=True, pass_number=1),
        ]

    def _nodes(self) -> list[ItemId]:
        return [one.node for one in flatten_statements(self._load.program.statements)] if self._load is not None else []


def command(seed: str) -> list[str]:
    """What starts one."""
    return [sys.executable, "-m", "tools.campaign.babbler", seed]


if __name__ == "__main__":
    Babbler(Random(sys.argv[1])).serve()
