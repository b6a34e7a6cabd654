"""A thousand ranks without torch: each tells what is in view of it in the real messages, and a tree makes one of all.

    python -m benchmarks._rank_tree RANKS

is that tree's root as an engine for the window: a run goes on, and tells turns, until it is stopped.
"""

import hashlib
import os
import select
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple, cast

import msgspec
import numpy as np

from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Program, flatten_statements
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages import events as m
from gradstudio.protocol.messages import requests
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.progress import Curve, CurveKey, Turned
from gradstudio.protocol.messages.ranks import Spread
from gradstudio.protocol.messages.records import Preview, Summary, TensorRecord

ARITY = 8
EDGE = 32
DIFFERENT_TURNS = 2
"""So many turns are made beforehand by all ranks, and told again and again."""
NAN_RANK = 7
PACE_S = 0.1
BYTES_A_SECOND = 800_000
"""What the root may send: of more in view than that, a portion each turn."""


class Layer(NamedTuple):
    """What one join of the tree takes."""

    received_bytes: int
    seconds: float


def rank_frames(nodes: Sequence[ItemId], turn: int, ranks: int, step: int = 0) -> list[bytes]:
    """What each rank says of the values of these nodes, and their gradients; rank 0's with pictures.

    Values of every third node are equal on all ranks, as weights are; of the last node `NAN_RANK` holds a NaN.
    """
    told: list[list[m.Row]] = [[] for _ in range(ranks)]
    for place, node in enumerate(nodes):
        generator = np.random.default_rng(1000 * turn + place)
        value, grad = (_MadeUp(each) for each in generator.normal(size=(2, EDGE, EDGE)).astype(np.float32))
        scales = [1.0] * ranks if place % 3 == 0 else generator.uniform(0.5, 2, ranks).tolist()
        for rank, scale in enumerate(scales):
            nan = int(place == len(nodes) - 1 and rank == NAN_RANK)
            record = TensorRecord(
                device=f"cuda:{rank % 8}", summary=value.on(rank, scale, nan), stride=(EDGE, 1), requires_grad=True,
                grad=grad.on(rank, scale), grad_state="value",
            )  # fmt: skip
            row = m.Row(step=step + place, node=node, outputs=(record,), turns=(turn,), seconds=1e-3)
            told[rank].append(row)
    return [encode(m.Traced(revision=0, rows=tuple(rows))) for rows in told]


class _MadeUp:
    """A tensor that every rank has times a factor of its own: a thousand tensors need not be made for their figures."""

    def __init__(self, values: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> None:
        self._figures = float(values.min()), float(values.max()), float(values.mean()), float(values.std())
        self._preview = Preview(EDGE, EDGE, values.tobytes())

    def on(self, rank: int, scale: float, nan: int = 0) -> Summary:
        """What a rank says of it."""
        low, high, mean, rms = (figure * scale for figure in self._figures)
        digest = hashlib.blake2b(struct.pack("ddi", scale, low, nan), digest_size=8).digest()
        summary = Summary(
            dtype="float32", shape=(EDGE, EDGE), minimum=low, maximum=high, mean=mean, rms=rms, nan=nan,
            preview=None if rank else self._preview,
        )  # fmt: skip
        return msgspec.structs.replace(summary, spread=Spread.of(rank, summary, digest))


def join(frames: Sequence[bytes]) -> bytes:
    """One telling for those of several ranks: the first one's, with spreads over all."""
    decoder = Decoder(cast(type[m.Event], m.Event))
    told = [message for frame in frames for message in decoder.feed(frame) if isinstance(message, m.Traced)]
    rows = (_joined_row(rows) for rows in zip(*(each.rows for each in told), strict=True))
    return encode(msgspec.structs.replace(told[0], rows=tuple(rows)))


def _joined_row(rows: Sequence[m.Row]) -> m.Row:
    outputs = [
        _joined_record(cast(tuple[TensorRecord, ...], records))
        for records in zip(*(row.outputs for row in rows), strict=True)
    ]
    return msgspec.structs.replace(rows[0], outputs=tuple(outputs))


def _joined_record(records: Sequence[TensorRecord]) -> TensorRecord:
    summary = _joined_summary([record.summary for record in records])
    grads = [record.grad for record in records if record.grad is not None]
    return msgspec.structs.replace(records[0], summary=summary, grad=_joined_summary(grads) if grads else None)


def _joined_summary(summaries: Sequence[Summary]) -> Summary:
    spreads = [summary.spread for summary in summaries if summary.spread is not None]
    return msgspec.structs.replace(summaries[0], spread=reduce(lambda one, other: one | other, spreads))


def climb(frames: list[bytes]) -> tuple[bytes, list[Layer]]:
    """What the root has in the end, and the heaviest join of each layer."""
    layers = []
    while len(frames) > 1:
        joins, upper = [], []
        for group in (frames[k : k + ARITY] for k in range(0, len(frames), ARITY)):
            begun = time.thread_time()
            upper.append(join(group))
            joins.append(Layer(sum(map(len, group[1:])), time.thread_time() - begun))
        layers.append(Layer(max(each.received_bytes for each in joins), max(each.seconds for each in joins)))
        frames = upper
    return frames[0], layers


class Root:
    """The engine that the window sees."""

    def __init__(self, ranks: int) -> None:
        self._ranks, self._revision = ranks, 0
        self._program: Program | None = None
        self._decoder = Decoder(requests.Request)

    def serve(self) -> None:
        """Answer until the window is gone."""
        self._say(
            m.Hello(protocol=PROTOCOL_VERSION, ready=True, pid=os.getpid(), torch="0", devices=(m.Device("cpu", ""),))
        )
        while data := os.read(0, 1 << 16):
            for request in self._decoder.feed(data):
                match request:
                    case requests.Load():
                        self._program, self._revision = request.program, request.revision
                        self._say(
                            m.Loaded(document=request.document, revision=request.revision, stale=False, live=False)
                        )
                    case requests.Do():
                        self._train(request)
                    case _:
                        pass

    def _say(self, message: m.Event) -> int:
        frame = encode(message)
        left = memoryview(frame)
        while left:
            left = left[os.write(1, left) :]
        return len(frame)

    def _train(self, request: requests.Do) -> None:
        assert self._program is not None
        loop = next(each for each in self._program.statements if isinstance(each, BlockStatement))
        inside = [statement.node for statement in flatten_statements(loop.body)]
        nodes = [node for node in inside if node in request.visible]
        tellings = list(self._tellings(nodes))
        self._say(m.Started(verb=request.verb, revision=self._revision, fresh=True, pass_number=1, seed=0))
        begun, turn, sent = time.monotonic(), 0, 0
        while not self._is_told_to_stop():
            key, seconds = CurveKey(node=inside[-2]), time.monotonic() - begun
            curve = Curve(key, np.float64(1 / (1 + turn)).tobytes())
            sampled = Turned(loop=loop.block, turn=turn, number=turn + 1, is_sampled=True)
            self._say(msgspec.structs.replace(sampled, seconds=seconds, curves=(curve,)))
            telling = _portion(tellings[turn % DIFFERENT_TURNS], sent)
            sent += len(telling.rows)
            for message in _at_turn(telling, turn, len(inside), self._revision):
                self._say(message)
            turn += 1
            time.sleep(PACE_S)
        self._say(
            m.Paused(
                revision=self._revision, verb=request.verb, outcome="stopped", next_node=loop.block, at_end=False,
                pass_number=1,
            )
        )  # fmt: skip

    def _tellings(self, nodes: Sequence[ItemId]) -> Iterator[m.Traced]:
        decoder = Decoder(cast(type[m.Event], m.Event))
        for turn in range(DIFFERENT_TURNS):
            frame, _ = climb(rank_frames(nodes, turn, self._ranks))
            (telling,) = decoder.feed(frame)
            assert isinstance(telling, m.Traced)
            yield telling

    def _is_told_to_stop(self) -> bool:
        if not select.select([0], [], [], 0)[0]:
            return False
        data = os.read(0, 1 << 16)
        return not data or any(isinstance(each, requests.Stop) for each in self._decoder.feed(data))


def _portion(telling: m.Traced, sent: int) -> m.Traced:
    """As many values as the line takes until the next turn, from behind those that were sent last."""
    size = len(encode(telling)) / max(len(telling.rows), 1)
    count = min(len(telling.rows), max(1, int(BYTES_A_SECOND * PACE_S / size)))
    begin = sent % max(len(telling.rows), 1)
    chosen = (telling.rows[begin:] + telling.rows[:begin])[:count]
    return m.Traced(revision=0, rows=tuple(sorted(chosen, key=lambda row: row.step)))


def _at_turn(telling: m.Traced, turn: int, statements: int, revision: int) -> tuple[m.Traced, m.Gradients]:
    """The values of a turn, and their gradients."""
    rows, grads = [], []
    for row in telling.rows:
        record = cast(TensorRecord, row.outputs[0])
        grads.append(m.GradRow(node=row.node, state="value", grad=record.grad))
        value = msgspec.structs.replace(record, grad=None, grad_state="not_run")
        step = turn * statements + row.step + 1
        rows.append(msgspec.structs.replace(row, step=step, turns=(turn,), outputs=(value,)))
    return (
        m.Traced(revision=revision, rows=tuple(rows)),
        m.Gradients(revision=revision, rows=tuple(grads), whole=False),
    )


if __name__ == "__main__":
    Root(int(sys.argv[1])).serve()
