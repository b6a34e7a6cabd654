"""Ranks that say hostile things to their leader in the middle of a run, two at once; what it passes on is an engine's.

The leader and what reads its ranks are the real ones; behind the pipes of the ranks is no process.
"""

import os
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, cast

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.base import PROTOCOL_VERSION, Message
from gradstudio.protocol.messages.events import (
    Event,
    Failed,
    Gradients,
    GradRow,
    Hello,
    NamedEntry,
    Paused,
    Report,
    Row,
    Traced,
)
from gradstudio.protocol.messages.progress import Asked, Running
from gradstudio.protocol.messages.ranks import LookAt, Spread
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.messages.requests import Collect, Do, Load
from gradstudio.protocol.process_group import RUNS_CODE
from gradstudio.protocol.ranks.leader import Leader
from gradstudio.protocol.ranks.rank_engine import RankEngine
from tools.campaign.far.frames import changed, runs
from tools.campaign.watch import Wrong

RANKS: Final = 2
MOST_RUN: Final = 6
PIECE: Final = 1 << 15
"""Bytes that a pipe takes at once."""
SLACK_BYTES: Final = 1 << 22
TIMES: Final = 150
"""So many times its bytes may what came take in memory, beside the slack."""
NODE: Final = ItemId("n")


class Puppet(RankEngine):
    """A rank without a process: what is written into `far_end` is what it says."""

    def _open(self, count: int, options: list[str]) -> tuple[int, int]:
        source, self.far_end = os.pipe()
        self._nowhere, target = os.pipe()
        self._ends = (source, target, self.far_end, self._nowhere)
        return source, target

    def _end_words(self) -> str:
        return "ended"

    def _close(self) -> None:
        for number in self._ends:
            os.close(number)
        self.far_end = -1


@cache
def words(rank: int) -> tuple[bytes, ...]:
    """What a rank says that is joined with what others say."""
    figures = Summary(dtype="float32", shape=(), minimum=1.0, maximum=1.0, mean=1.0, rms=1.0, value=1.0)
    summary = msgspec.structs.replace(figures, spread=Spread.of(rank, figures, b"12345678"))
    tensor = TensorRecord(device="cpu", summary=summary, grad=summary)
    rows = tuple(Row(step=step, node=NODE, outputs=(tensor,)) for step in (1, 2))
    entry = NamedEntry(name="x", node=NODE, operator="o", line=1, outputs=(tensor,))
    grads = (GradRow(node=NODE, state="value", grad=summary),)
    paused = Paused(revision=1, verb="run", outcome="done", next_node=NODE, at_end=True, pass_number=1)
    failed = Failed(revision=1, node=NODE, address="n", line=1, type_name="E", message="x")
    said = (
        *(
            Hello(protocol=PROTOCOL_VERSION, ready=True, pid=1, torch="2"),
            Traced(revision=1, rows=rows),
            paused,
            failed,
        ),
        *(Gradients(revision=1, rows=grads), Gradients(revision=1, rows=grads, whole=False), Asked(node=NODE, line=1)),
        *(Report(revision=1, entries=(entry,)), Running(line=1, node=NODE, seconds=9.0)),
    )
    return tuple(map(encode, said))


def make(generator: Random) -> bytes:
    """What each rank says; mostly one of them is hostile."""
    return msgspec.msgpack.encode([_said(generator, rank) for rank in range(RANKS)])


def _said(generator: Random, rank: int) -> bytes:
    said = list(generator.choices(words(rank), k=generator.randint(1, 8)))
    if generator.random() < 0.5:
        run = generator.choice(runs())
        begin = generator.randrange(len(run))
        said += run[begin : begin + generator.randint(1, MOST_RUN)]
        generator.shuffle(said)
    return changed(generator, said) if generator.random() < 0.7 else b"".join(said)


def put(data: bytes, folder: Path) -> Callable[[], object]:
    """How a leader takes it while a verb is under way, and its window looks from one rank to another."""
    parts = msgspec.msgpack.decode(data, type=tuple[bytes, bytes])
    stage = _Stage()

    def look() -> None:
        tracemalloc.start()
        try:
            stage.play(parts)
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            stage.close()
        if peak > SLACK_BYTES + TIMES * len(data):
            raise Wrong(f"{len(data)} bytes took {peak} bytes")

    return look


class _Stage:
    """A leader whose window has begun a run."""

    def __init__(self) -> None:
        self._ranks: dict[int, Puppet] = {}
        source, self._window = os.pipe()
        self._heard, target = os.pipe()
        self._ends = (source, target, self._window, self._heard)
        os.set_blocking(self._heard, False)
        self._decoder = Decoder(cast(type[Event], Event))
        self.leader = Leader(RANKS, [RUNS_CODE], source, target, start=self._start)
        self._ask(Load(document="d", revision=1, program=compile_graph(Graph())), Do(verb="run"))

    def play(self, parts: tuple[bytes, ...]) -> None:
        """Hear all in pieces, first a piece of one rank, then one of the other.

        Raises:
            Wrong: the leader has ended.
        """
        for pieces in zip(*map(_pieces, parts), strict=True):
            for rank, piece in enumerate(pieces):
                self._say(rank, piece)
            self._ask(LookAt(rank=1), Collect(), LookAt(rank=0))
        if self.leader.is_over:
            raise Wrong("the leader has ended")

    def close(self) -> None:
        self.leader.end()
        for number in self._ends:
            os.close(number)

    def _start(self, number: int, count: int, options: list[str], selector: object) -> RankEngine:
        puppet = Puppet(number, count, options, selector)  # type: ignore[arg-type]  # a selector, which a leader has
        self._ranks[number] = puppet
        os.write(puppet.far_end, words(number)[0])
        return puppet

    def _say(self, rank: int, data: bytes) -> None:
        for at in range(0, len(data), PIECE):
            os.write(self._ranks[rank].far_end, data[at : at + PIECE])
            self._go_on()

    def _ask(self, *messages: Message) -> None:
        os.write(self._window, b"".join(map(encode, messages)))
        self._go_on()

    def _go_on(self) -> None:
        """What the leader passes on is read as the window reads it."""
        self.leader.turn(0.0)
        while said := _read(self._heard):
            self._decoder.feed(said)
            self.leader.turn(0.0)


def _read(source: int) -> bytes:
    try:
        return os.read(source, PIECE)
    except BlockingIOError:
        return b""


def _pieces(data: bytes) -> Iterator[bytes]:
    size = max(1, -(-len(data) // 3))
    return (data[at * size : (at + 1) * size] for at in range(3))
