"""The simulation of many ranks in its small form: what the window holds is what all ranks together say."""

import sys
from collections.abc import Iterator
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from benchmarks._rank_tree import NAN_RANK, climb, rank_frames
from benchmarks.rank_scale import program_text
from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.framing import Decoder
from gradstudio.protocol.messages.events import Event, Traced
from gradstudio.protocol.messages.ranks import Holders, Spread
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session

RANKS = 20


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    client = EngineClient([sys.executable, "-m", "benchmarks._rank_tree", str(RANKS)], spare=False)
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    yield Session(client)
    client.close()


def records(frame: bytes) -> list[TensorRecord]:
    (telling,) = Decoder(cast(type[Event], Event)).feed(frame)
    assert isinstance(telling, Traced)
    return [cast(TensorRecord, row.outputs[0]) for row in telling.rows]


def spread_of(record: object) -> Spread:
    assert isinstance(record, TensorRecord) and record.summary.spread is not None
    return record.summary.spread


def test_a_tree_of_ranks_says_what_all_of_them_say() -> None:
    frames = rank_frames([ItemId("a"), ItemId("b"), ItemId("c")], 0, RANKS)
    root, layers = climb(frames)
    told = [records(frame) for frame in frames]
    assert len(layers) == 2
    for place, record in enumerate(records(root)):
        spread = spread_of(record)
        lows = [each[place].summary.minimum for each in told]
        assert spread.ranks == RANKS and spread.minimum is not None
        assert (spread.minimum.least, spread.minimum.most) == (min(lows), max(lows))  # type: ignore[type-var]
        assert record.summary.preview == told[0][place].summary.preview is not None
    assert [spread_of(record).is_equal for record in records(root)] == [True, False, False]


def test_the_window_has_the_spread_of_what_is_in_view_and_of_nothing_else(qtbot: QtBot, session: Session) -> None:
    session.graph_store.load(read_script(program_text(2)).graph)
    by_name = {name: node.id for node in session.graph_store.graph.nodes.values() for name in node.names}
    seen = tuple(by_name[name] for name in ("a1_2", "b1_2", "c1_2"))
    session.run.visible = seen
    session.run.run()
    qtbot.waitUntil(lambda: session.results.outputs(seen[-1]) is not None)
    outputs = [session.results.outputs(node) for node in seen]
    spreads = [spread_of(outputs_of_one[0]) for outputs_of_one in outputs if outputs_of_one]
    assert [spread.ranks for spread in spreads] == [RANKS] * 3
    assert [spread.is_equal for spread in spreads] == [True, False, False]
    assert [spread.nan for spread in spreads] == [Holders(), Holders(), Holders(1, (NAN_RANK,))]
    grads = [session.results.grad(node) for node in seen]
    assert all(row is not None and row.grad is not None and row.grad.spread is not None for row in grads)
    assert session.results.outputs(by_name["h1_2"]) is None
    session.run.stop()
    qtbot.waitUntil(lambda: not session.run.state.busy)
