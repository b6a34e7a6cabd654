"""The leader of ranks, with processes that speak the protocol and compute nothing: what it passes on, and when."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from gradstudio.program.model import Program
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.hosts.channel import FULL_BYTES, READ_BYTES
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Event, Failed, Gradients, Hello, Log, Paused, Printed, Report, Traced
from gradstudio.protocol.messages.ranks import LookAt
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Collect, Do, Load, Stop
from gradstudio.protocol.process_group import RUNS_CODE
from gradstudio.protocol.ranks import leader as leading
from gradstudio.protocol.ranks import leader_words, rank_engine
from gradstudio.protocol.ranks.leader import Leader
from gradstudio.protocol.ranks.rank_engine import RankEngine
from tests.helpers.patience import wait_until

RANK = """
import os, sys, time
import msgspec
from gradstudio.graph.model import ItemId
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages import events as m
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.progress import Asked, Running
from gradstudio.protocol.messages.ranks import Meet, Spread
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.messages.requests import Answer, Collect, Do, Load, Request, Stop

rank, what, port = int(os.environ["RANK"]), "", 0

def say(message):
    data = encode(message)
    while data:
        data = data[os.write(1, data):]

def tensor(value):
    told = Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, rms=value, value=value)
    return TensorRecord(device="cpu", summary=with_spread(told, value), grad=with_spread(told, value))

def of_all(told):
    return msgspec.structs.replace(told, spread=msgspec.structs.replace(told.spread, ranks=2**31 - 1))

def with_spread(told, value):
    return msgspec.structs.replace(told, spread=Spread.of(rank, told, str(value).encode()))

def paused(outcome):
    say(m.Paused(revision=1, verb="run", outcome=outcome, next_node=ItemId(""), at_end=True, pass_number=1))

def run():
    say(m.Started(verb="run", revision=1, fresh=True, pass_number=1))
    if what == "ask" :
        say(Asked(node=ItemId("n"), line=1))
        return
    if what == "fail" and rank == 1:
        say(m.Failed(revision=1, node=ItemId("n"), address="n", line=7, type_name="ValueError", message="no data"))
        paused("failed")
        return
    if what == "die" and rank == 1:
        os.kill(os.getpid(), 9)
    if what == "babble" and rank == 1:
        os.write(1, bytes([255]) * 4096)
    if what == "mute" and rank == 1:
        os.close(1)
        return
    if what == "lie" and rank == 1:
        figures = tensor(1.0).summary
        row = m.Row(step=1, node=ItemId("n"), outputs=(TensorRecord(device="cpu", summary=of_all(figures)),))
        say(m.Traced(revision=1, rows=(row,)))
    if what == "flood" and rank == 1:
        while True:
            say(m.Printed(node=ItemId("n"), line=1, text="x" * 1000))
    if what in ("fail", "die", "hang", "babble", "mute", "lie", "flood"):
        say(Running(line=8 + rank, node=ItemId("n"), seconds=60.0))
        return
    row = m.Row(step=1, node=ItemId("n"), outputs=(tensor(float(rank)),))
    say(m.Traced(revision=1, rows=(row,)))
    now = m.ValueNow(node=ItemId("n"), step=1, record=row.outputs[0])
    rows = (m.GradRow(node=ItemId("n"), state="value", grad=row.outputs[0].grad),)
    say(m.Gradients(revision=1, rows=rows, written=(now,)))
    say(m.Printed(node=ItemId("n"), line=1, text=f"port {port > 0}"))
    say(m.Log(level="info", text="hello"))
    say(m.Log(level="warning", text="slow"))
    paused("done")

if rank == 1:
    paused("done")  # nobody has asked for anything
for ready in (False, True):
    say(m.Hello(protocol=PROTOCOL_VERSION, ready=ready, pid=os.getpid(), torch="0"))
decoder = Decoder(Request)
while data := os.read(0, 1 << 16):
    for request in decoder.feed(data):
        match request:
            case Meet():
                port = request.port
            case Load():
                what = request.document
                say(m.Loaded(document=what, revision=1, stale=False, live=False))
            case Do():
                run()
            case Answer():
                say(m.Printed(node=ItemId("n"), line=1, text=f"typed {request.text}"))
                paused("done")
            case Stop():
                if what == "hang" and rank == 1:
                    paused("stopped")
            case Collect():
                entry = m.NamedEntry(name="x", node=ItemId("n"), operator="o", line=1, outputs=(tensor(float(rank)),))
                say(m.Report(revision=1, entries=(entry,)))
            case _:
                pass
"""


class Window:
    """Whoever started the leader."""

    def __init__(self, count: int, *options: str) -> None:
        source, self._to = os.pipe()
        self._from, target = os.pipe()
        self._decoder = Decoder(cast(type[Event], Event))
        self._heard: list[Event] = []
        self.leader = Leader(count, list(options), source, target)
        self._thread = threading.Thread(target=self.leader.run)
        self._thread.start()

    def send(self, message: Message) -> None:
        os.write(self._to, encode(message))

    def until(self, kind: type[Message]) -> list[Event]:
        """All that is said up to the first message of a kind, which is the last."""
        told: list[Event] = []
        while True:
            while self._heard:
                told.append(self._heard.pop(0))
                if isinstance(told[-1], kind) and not (isinstance(told[-1], Hello) and not told[-1].ready):
                    return told
            data = os.read(self._from, 1 << 16)
            assert data, "the leader has ended"
            self._heard += self._decoder.feed(data)

    def run(self, what: str) -> list[Event]:
        self.begin(what)
        return self.until(Paused)

    def begin(self, what: str) -> None:
        program = Program(script="", code="", prelude="", statements=(), spans=(), seed=0, device="cpu", tensors=())
        self.send(Load(document=what, revision=1, program=program))
        self.send(Do(verb="run"))

    def close(self) -> None:
        os.close(self._to)
        self._thread.join()
        os.close(self._from)


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rank.py"
    path.write_text(RANK)
    monkeypatch.setattr(rank_engine, "COMMAND", (sys.executable, str(path)))
    monkeypatch.setenv("PYTHONPATH", str(Path(leading.__file__).parents[3]))
    monkeypatch.setattr(leading, "GRACE_S", 0.1)
    monkeypatch.setattr(leading, "LOOK_S", 0.05)


@pytest.fixture
def window(stub: None) -> Iterator[Window]:
    window = Window(2, RUNS_CODE)
    window.until(Hello)
    yield window
    window.close()


def value(record: object) -> TensorRecord:
    assert isinstance(record, TensorRecord)
    return record


def last_row(told: list[Event]) -> TensorRecord:
    rows = [row for event in told if isinstance(event, Traced) for row in event.rows if row.complete]
    return value(rows[-1].outputs[0])


def spreads_now(told: list[Event]) -> list[int | None]:
    """Over how many ranks each telling compares what was written to."""
    found = [value(event.written[0].record).summary.spread for event in told if isinstance(event, Gradients)]
    return [spread and spread.ranks for spread in found]


def test_the_rank_that_is_shown_speaks_with_what_all_hold(window: Window) -> None:
    told = window.run("go")
    shown = last_row(told)
    assert shown.summary.value == 0.0 and shown.summary.spread is not None and shown.summary.spread.ranks == 2
    assert [one.text for one in told if isinstance(one, Printed) and "rank 0" in one.text] == ["[rank 0] port True"]
    assert sorted(one.text for one in told if isinstance(one, Log)) == ["[rank 1] slow", "hello", "slow"]
    grads = [one for one in told if isinstance(one, Gradients) and not one.whole]
    assert len(grads) == 1 and grads[0].rows[0].grad is not None and grads[0].rows[0].grad.spread is not None
    assert grads[0].rows[0].grad.spread.ranks == 2 and told.index(grads[0]) < len(told) - 1
    assert spreads_now(told) == [None, 2], "nobody knows while ranks are under way"


def test_another_rank_takes_its_place_and_answers_from_then_on(window: Window) -> None:
    window.run("go")
    window.send(LookAt(rank=1))
    told = window.until(Paused)
    shown = last_row(told)
    assert spreads_now([*told, *window.until(Gradients)]) == [None, 2]
    assert shown.summary.value == 1.0 and shown.summary.spread is not None and shown.summary.spread.ranks == 2
    window.send(LookAt(rank=7))  # there is none
    window.send(Collect())
    (report,) = [one for one in window.until(Report) if isinstance(one, Report)]
    record = value(report.entries[0].outputs[0])
    assert record.summary.value == 1.0 and record.summary.spread is not None and record.summary.spread.ranks == 2


def test_one_fails_and_those_that_wait_are_ended(window: Window) -> None:
    told = window.run("fail")
    assert [one.message for one in told if isinstance(one, Failed)] == ["no data"]
    paused = told[-1]
    assert isinstance(paused, Paused) and paused.outcome == "failed"
    assert paused.reason == (
        "Rank 1 failed, and others waited for it: rank 0 at line 8. All were ended, and begin from nothing."
    )
    window.until(Hello)
    assert last_row(window.run("go")).summary.value == 0.0


def test_one_is_killed_and_named(window: Window) -> None:
    *before, paused = window.run("die")
    assert isinstance(paused, Paused) and paused.outcome == "died"
    assert [one.ready for one in before if isinstance(one, Hello)] == [False], "who asks from here on asks others"
    assert paused.reason == "Rank 1 was killed by SIGKILL. All ranks were ended, and begin from nothing."
    window.until(Hello)


@pytest.mark.parametrize(
    ("what", "how"),
    [
        ("babble", "Rank 1 said what no engine says (A frame of 4294967295 bytes was announced"),
        ("lie", "Rank 1 said what no engine says (Rank 1 speaks of other ranks"),
        ("mute", "Rank 1 has closed its pipe"),
    ],
)
def test_one_that_says_what_no_engine_says_is_named_and_all_begin_anew(window: Window, what: str, how: str) -> None:
    paused = window.run(what)[-1]
    assert isinstance(paused, Paused) and paused.outcome == "died" and paused.reason.startswith(how)
    assert paused.reason.endswith("All ranks were ended, and begin from nothing.")
    window.until(Hello)
    assert last_row(window.run("go")).summary.value == 0.0


def test_what_one_says_faster_than_it_is_read_stays_with_it(window: Window) -> None:
    window.begin("flood")
    window.until(Printed)
    wait_until("the pipe is full", lambda: window.leader.waiting > FULL_BYTES)
    for _ in range(3):
        assert window.leader.waiting < FULL_BYTES + 4 * READ_BYTES
    window.send(Stop())
    paused = window.until(Paused)[-1]
    assert isinstance(paused, Paused) and paused.outcome == "stopped"
    window.until(Hello)


def test_those_that_wait_for_one_another_are_named_and_ended_by_stop(window: Window) -> None:
    window.begin("hang")
    words = [one.text for one in window.until(Log) if isinstance(one, Log)]
    assert words == [
        "Ranks wait for one another since 5 s: rank 0 is at line 8; rank 1 is at line 9. Stop (Shift+F5) ends them."
    ]
    window.send(Stop())
    paused = window.until(Paused)[-1]
    assert isinstance(paused, Paused) and paused.outcome == "stopped" and "rank 0 at line 8" in paused.reason
    assert paused.is_lost, "nothing of it is live"
    window.until(Hello)


def test_input_is_asked_for_the_rank_that_is_shown_alone(window: Window) -> None:
    window.begin("ask")
    told = window.until(Printed)
    assert [one.text for one in told if isinstance(one, Printed)] == ["[rank 1] typed None"]


@pytest.mark.usefixtures("stub")
def test_without_code_there_is_one() -> None:
    window = Window(4)
    window.until(Hello)
    told = window.run("go")
    assert last_row(told).summary.value == 0.0 and all(
        "rank" not in one.text for one in told if isinstance(one, Printed)
    )
    window.close()


@pytest.mark.usefixtures("stub")
def test_one_that_cannot_begin_ends_all_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_engine, "COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    window = Window(2, RUNS_CODE)
    starts, said = (one for _ in range(2) for one in window.until(Log) if isinstance(one, Log))
    assert starts.text == "2 processes: all start"
    assert "ended with code 3 before it was ready" in said.text
    window.close()


@pytest.mark.usefixtures("stub")
def test_nonsense_ends_it(capfd: pytest.CaptureFixture[str]) -> None:
    window = Window(2, RUNS_CODE)
    window.until(Hello)
    os.write(window._to, b"\x00\x00\x00\x01\xc1")
    window._thread.join()
    assert "no message of ours" in capfd.readouterr().err
    window.close()


class _Starts(NamedTuple):
    number: int
    has_begun: bool
    is_ready: bool


def test_how_far_ranks_are_that_start_is_said() -> None:
    def words(*states: int) -> str:
        return leader_words.start_words(
            cast(list[RankEngine], [_Starts(number, state > 0, state > 1) for number, state in enumerate(states)])
        )

    assert words(0, 0) == "2 processes: all start"
    assert words(1, 0) == "2 processes: rank 0 loads torch, rank 1 starts"
    assert words(2, 1, 1, 1) == "4 processes: rank 0 is ready, ranks 1, 2 and 3 load torch"
    assert words(2, 2) == words(1) == words(*[2, *[1] * 7]) == ""
    assert words(*[1] * 8) == "8 processes: all load torch"
