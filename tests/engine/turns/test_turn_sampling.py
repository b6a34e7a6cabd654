"""Long loops are recorded by sample: what a sampled run leaves and records is what a whole record has."""

import struct
from collections.abc import Iterator
from functools import cache

import msgspec
import pytest
import torch

from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.diagnosis.training_steps import ZERO
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.script.compiled_steps import heads
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.turns import sampled_loop, turn_sampling
from gradstudio.engine.turns.quick_loop import quick_loop
from gradstudio.engine.turns.sampled_loop import FIRST, SampledLoop
from gradstudio.engine.verbs import Engine
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Gradients, Row, Traced
from gradstudio.protocol.messages.progress import CurveKey, Turned
from gradstudio.protocol.messages.records import ModuleRecord, OptimizerRecord, Record, TensorRecord
from gradstudio.protocol.messages.requests import Do
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.engine.build import node, program
from tests.engine.conftest import Bench

MLP = """
x = torch.randn(8, 4)
t = torch.randint(0, 3, (8,))
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3))
opt = optim.Adam(net.parameters(), lr=0.01)
for k in range(80):
    opt.zero_grad()
    y = net(x)
    loss = F.cross_entropy(y, t)
    loss.backward()
    opt.step()
"""
SUMS = (
    MLP.replace("    opt.zero_grad()\n", "")
    .replace(
        "    opt.step()\n",
        "    for _ in range(bool(k % 2)):\n        opt.step()\n        opt.zero_grad()\n",
    )
    .replace("(y, t)", "(y, t) / 2")
)
IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\ntorch.manual_seed(0)\n"
EPOCHS = """
w = torch.randn(4, requires_grad=True)
data = torch.randn(70, 4)
for epoch in range(2):
    for row in data:
        loss = ((w * row).sum() - 1) ** 2
        loss.backward()
        with torch.no_grad():
            w -= 0.01 * w.grad
            w.grad = None
"""


@pytest.fixture(autouse=True)
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples in between come by the clock: a test asks for them itself."""
    monkeypatch.setattr(sampled_loop, "TELL_S", 1e9)


def sampled(bench: Bench, text: str) -> list[Row]:
    bench.load(text)
    bench.events.clear()
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    return bench.rows()


@cache
def whole(text: str) -> Bench:
    bench = Bench()
    bench.run(text)
    return bench


def without_places(record: Record) -> Record:
    """A record without what says where in memory it lay."""
    if isinstance(record, ModuleRecord):
        leaves = (
            {path: without_places(leaf) for path, leaf in one.items()} for one in (record.parameters, record.buffers)
        )
        return msgspec.structs.replace(record, **dict(zip(("parameters", "buffers"), leaves, strict=True)))
    if isinstance(record, OptimizerRecord):
        return msgspec.structs.replace(record, leaves=())
    return msgspec.structs.replace(record, storage=0) if isinstance(record, TensorRecord) else record


def leaves_of(timeline: Timeline) -> dict[str, TensorRecord]:
    """The parameters and buffers of the net, as it was made."""
    row = timeline.row(node(3))
    assert row is not None
    (record,) = row.outputs
    assert isinstance(record, ModuleRecord)
    return record.parameters | record.buffers


def by_place(rows: list[Row]) -> dict[tuple[object, ...], Row]:
    return {(row.node, row.turns): row for row in rows}


@pytest.mark.parametrize("text", [MLP, EPOCHS])
def test_the_values_are_those_of_a_plain_run(bench: Bench, text: str) -> None:
    rows = sampled(bench, text)
    plain = Bench()
    plain.run(text, trace=False)
    assert len(rows) < len(whole(text).rows()) / 1.5
    for name, value in plain.engine.live.namespace.items():  # type: ignore[union-attr]
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, bench[name]), name  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [MLP, EPOCHS])
def test_every_row_is_that_of_a_whole_record(bench: Bench, text: str) -> None:
    rows = sampled(bench, text)
    known = by_place(whole(text).rows())
    for row in rows:
        same = known[row.node, row.turns]
        assert list(map(without_places, row.outputs)) == list(map(without_places, same.outputs)), row
        told = [without_places(state.record) for state in row.writes]
        wrote = [without_places(state.record) for state in same.writes]
        assert told[: len(wrote)] == wrote, row
        beside = told[len(wrote) :]  # buffers, which a call in a turn without a record wrote into
        calls = [one for place, one in known.items() if place[1] == row.turns and one is not same]
        assert all(one in [without_places(state.record) for call in calls for state in call.writes] for one in beside)


@pytest.mark.parametrize("text", [MLP, EPOCHS])
def test_the_backwards_of_turns_with_a_record_are_those_of_a_whole_one(bench: Bench, text: str) -> None:
    sampled(bench, text)
    known = {(one.statement, one.turns): one for one in whole(text).autograd()}
    for one in bench.autograd():
        same = known[one.statement, one.turns]
        assert [(row.incoming, row.outgoing, row.before, row.after) for row in one.rows] == [
            (row.incoming, row.outgoing, row.before, row.after) for row in same.rows
        ]
        assert one.backward == same.backward
        assert [wire.grad for wire in one.wires] == [wire.grad for wire in same.wires]


@pytest.mark.parametrize("text", [MLP, EPOCHS])
def test_the_states_of_gradients_at_the_end_are_those_of_a_whole_record(bench: Bench, text: str) -> None:
    sampled(bench, text)
    assert bench.grads() == whole(text).grads()


def test_first_and_last_turns_are_recorded(bench: Bench) -> None:
    rows = sampled(bench, MLP)
    assert {row.turns for row in rows if row.node == node(7)} == {(0,), (1,), (2,), (79,)}


def test_a_loop_of_few_turns_is_recorded_whole(bench: Bench) -> None:
    rows = sampled(bench, MLP.replace("80", "64"))
    assert len({row.turns for row in rows if row.node == node(7)}) == 64


def turned(bench: Bench) -> Iterator[Turned]:
    return (event for event in bench.events if isinstance(event, Turned))


def test_the_loss_of_every_turn_is_told(bench: Bench) -> None:
    sampled(bench, MLP)
    told = [curve for event in turned(bench) for curve in event.curves]
    numbers = torch.tensor([n for curve in told for n in memoryview(curve.data).cast("d")])
    losses = {row.turns[0]: row.outputs[0] for row in whole(MLP).rows() if row.node == node(8)}
    assert {curve.key.node for curve in told} == {node(8)}
    assert len(numbers) == 80
    for turn, record in losses.items():
        assert isinstance(record, TensorRecord)
        assert numbers[turn].item() == pytest.approx(record.summary.value, abs=0)


def test_in_a_turn_between_leaves_are_what_the_turns_before_made_of_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled_loop, "TELL_S", 0.002)
    monkeypatch.setattr(sampled_loop, "SHARE", 0.5)
    text = MLP.replace("range(80)", "range(300)")
    sampled(bench, text)
    other = Bench()
    other.run(text)
    found, known = bench.timeline(), other.timeline()
    turns = found.turns_of(node(7))
    assert 4 < len(turns) < 300
    for one in turns:
        ticks = (found.made_at(node(7), turns=one), known.made_at(node(7), turns=one))
        for path in ("0.weight", "3.bias", "1.running_mean", "1.num_batches_tracked"):
            weights = [
                timeline.leaf_at(leaves_of(timeline)[path], tick)
                for timeline, tick in zip((found, known), ticks, strict=True)
            ]
            assert without_places(weights[0]) == without_places(weights[1]), one
            grads = [
                timeline.grad(node(3), 0, path, tick) for timeline, tick in zip((found, known), ticks, strict=True)
            ]
            assert grads[0] == grads[1], one


def test_what_fails_in_a_turn_without_a_record_fails_at_its_statement(bench: Bench) -> None:
    text = """
    x = torch.randn(3)
    for k in range(200):
        y = x[k - 100 : ][:, k] if k == 120 else x
        z = y * 2
    """
    whole_paused, paused = bench.run(text), None
    failed = bench.failed()
    other = Bench()
    other.load(text)
    paused = other.engine.do(Do(verb="run", samples_turns=True))
    assert (paused.outcome, paused.next_node) == (whole_paused.outcome, whole_paused.next_node) == ("failed", node(3))
    assert (other.failed().message, other.failed().turns) == (failed.message, failed.turns) != ("", ())


def test_stop_pauses_and_run_goes_on_to_the_same_end(bench: Bench) -> None:
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked >= 300

    engine = bench.engine = Engine(bench.hear, stopped)
    bench.load(MLP)
    paused = engine.do(Do(verb="run", samples_turns=True))
    assert (paused.outcome, paused.at_end) == ("stopped", False)
    asked = -100_000
    assert engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    plain = Bench()
    plain.run(MLP, trace=False)
    assert torch.equal(plain["loss"], bench["loss"])  # type: ignore[arg-type]


@pytest.mark.parametrize("asks", [1, 40, 90])
def test_a_pause_waits_for_the_end_of_the_turn_and_run_goes_on_to_the_same_end(bench: Bench, asks: int) -> None:
    asked = stops = 0

    def pauses() -> bool:
        nonlocal asked
        asked += 1
        return asked >= asks

    bench.engine.runner.sampling.pauses = pauses
    bench.load(MLP)
    while (paused := bench.engine.do(Do(verb="run", samples_turns=True))).outcome == "stopped":
        live = bench.engine.live
        assert live is not None
        if live.cursor.turns:
            assert paused.next_node == node(6), "the first statement of the next turn"
        stops, asked = stops + 1, asks - 400
    assert stops and paused.outcome == "done"
    plain = Bench()
    plain.run(MLP, trace=False)
    assert torch.equal(plain["loss"], bench["loss"])  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [MLP, SUMS], ids=["zeroed in each turn", "zeroed every other turn"])
def test_of_a_right_training_that_is_paused_and_sampled_no_wrong_order_is_told(text: str) -> None:
    graph = read_script(IMPORTS + text.replace("range(80)", "range(300)")).graph
    bench, asked, stops = Bench(compares=False), 0, 0

    def pauses() -> bool:
        nonlocal asked
        asked += 1
        return asked >= 40

    bench.engine.runner.sampling.pauses = pauses
    bench.load(compile_graph(graph))
    while bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "stopped":
        stops, asked = stops + 1, 0
    timeline = bench.timeline()
    caught_up = [tick.row.node for tick in timeline.ticks if tick.row is not None and tick.row.caught_up]
    (zeroing,) = (one.id for one in graph.nodes.values() if one.operator == ZERO)
    assert stops > 2 and zeroing in caught_up
    assert RunDiagnosis(timeline).findings(graph) == ()


def test_what_is_wanted_of_every_turn_is_told_as_it_stands_at_its_end(bench: Bench) -> None:
    wanted = (
        CurveKey(node=node(3), path="0.weight", figure="norm"),
        CurveKey(node=node(3), path="0.weight", figure="max", grad=True),
        CurveKey(node=node(7), figure="mean"),
    )
    bench.load(MLP)
    bench.engine.do(Do(verb="run", samples_turns=True, curves=wanted))
    told = {key: [n for event in turned(bench) for curve in event.curves if curve.key == key
                  for n in memoryview(curve.data).cast("d")] for key in wanted}  # fmt: skip
    torch.manual_seed(0)
    names: dict[str, object] = {"torch": torch, "nn": torch.nn, "optim": torch.optim, "F": torch.nn.functional}
    exec(MLP.replace("range(80)", "range(1)"), names)
    turn = MLP.partition("range(80):\n")[2]
    for k in range(80):
        if k:
            exec("if True:\n" + turn, names)
        weight = names["net"][0].weight  # type: ignore[index]
        expected = [weight.detach().norm(), weight.grad.abs().max(), names["y"].detach().mean()]  # type: ignore[attr-defined]
        assert [told[key][k] for key in wanted] == pytest.approx([each.item() for each in expected], rel=1e-6)


@pytest.mark.parametrize(("text", "wanted", "line"), [(MLP, (40,), 8), (EPOCHS, (1, 33), 5)])
def test_a_turn_that_is_asked_for_is_recorded_as_in_a_whole_record(
    bench: Bench, text: str, wanted: tuple[int, ...], line: int
) -> None:
    bench.load(text)
    bench.engine.do(Do(verb="run", samples_turns=True))
    assert wanted not in {row.turns for row in bench.rows()}
    bench.events.clear()
    bench.engine.do(Do(verb="repeat", samples_turns=True, turns=(wanted,)))
    found, known = by_place(bench.rows()), by_place(whole(text).rows())
    assert len({row.turns for row in bench.rows()}) < len({turns for _, turns in known}) / 2
    of_turn = [place for place in known if place[1] == wanted]
    assert (node(line), wanted) in of_turn
    for place in of_turn:
        assert list(map(without_places, found[place].outputs)) == list(map(without_places, known[place].outputs))


def test_a_repeat_to_the_middle_of_a_loop_is_sampled_and_ends_where_it_stood(bench: Bench) -> None:
    bench.load(MLP)
    bench.engine.do(Do(verb="run", until=node(8)))
    for _ in range(70):
        bench.engine.do(Do(verb="run", until=node(8), samples_turns=True))
    loss, place = bench["loss"], bench.engine.live.cursor.turns  # type: ignore[union-attr]
    bench.events.clear()
    bench.engine.do(Do(verb="repeat", samples_turns=True))
    assert bench.engine.live.cursor.turns == place == (70,)  # type: ignore[union-attr]
    assert torch.equal(bench["loss"], loss)  # type: ignore[arg-type]
    assert len({row.turns for row in bench.rows()}) < 20


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "(net(x) ** 2).mean().backward()",
        "opt.zero_grad()",
        "z = torch.ones(2, requires_grad=True)\n(z * 2).sum().backward()",
        "net.zero_grad()\nnet(x).backward()",
        "opt.zero_grad()\ny = torch.ones(2, requires_grad=True)\n(y * 2).sum().backward()",
    ],
)
def test_a_plain_run_of_many_turns_tells_the_states_that_a_record_tells(bench: Bench, ending: str) -> None:
    text = f"{MLP}{ending}\n"
    plain = Bench()
    states = []
    for one, trace in ((bench, True), (plain, False)):
        one.run(text, trace=trace)
        states.append({key: row.state for key, row in one.grads().items() if key[0] in (node(3), node(13))})
    assert states[0] == states[1]


def test_turns_of_inner_loops_have_their_numbers_whoever_ran_them(bench: Bench) -> None:
    text = """
w = torch.tensor(2.0, requires_grad=True)
for epoch in range(70):
    for part in range(3):
        for k in range(2):
            loss = (w - part - 0.1 * k) ** 2
            loss.backward()
            with torch.no_grad():
                w -= 0.01 * w.grad
                w.grad = None
"""
    sampled(bench, text)
    told = [event for event in turned(bench) if event.loop == node(4)]
    packed = b"".join(curve.data for event in told for curve in event.curves)
    w, expected = torch.tensor(2.0), list[float]()
    for _ in range(70):
        for part in range(3):
            for k in range(2):
                expected.append(((w - part - 0.1 * k) ** 2).item())
                w = w - 0.01 * (2 * (w - part - 0.1 * k))
    assert struct.unpack(f"<{70 * 3 * 2}d", packed) == pytest.approx(expected, rel=1e-4)
    begins = [(begin.around, begin.number) for event in told for begin in event.begins]
    assert begins == [((epoch, part), 2 * (3 * epoch + part)) for epoch in range(70) for part in range(3)]


TELLING_S, TURNS = 0.01, 8000


class DearBench(Bench):
    """A hundredth of a second passes with each telling of rows, half a millisecond with every look at the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = self.told_s = 0.0

    def perf_counter(self) -> float:
        self.now_s += 0.0005
        return self.now_s

    monotonic = perf_counter

    def hear(self, event: Message) -> None:
        if isinstance(event, Traced | Gradients):
            self.now_s += TELLING_S
            self.told_s += TELLING_S
        super().hear(event)


def test_telling_counts_into_what_recording_turns_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = DearBench()
    monkeypatch.setattr(turn_sampling, "time", bench)
    monkeypatch.setattr(sampled_loop, "TELL_S", 0.02)
    rows = sampled(bench, f"w = torch.zeros(2)\nfor t in range({TURNS}):\n    w = w + 1\n")
    recorded = {row.turns for row in rows if row.turns}
    assert len(recorded) > sampled_loop.FIRST + 3, "some are recorded in between"
    assert bench.told_s < bench.now_s * sampled_loop.SHARE * 1.2, (bench.told_s, bench.now_s)


def test_one_turn_that_took_long_does_not_have_all_others_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_loop, "TELL_S", 1 / 15)
    text = "for k in range(1000):\n    n = k + 1"
    (head,) = heads(Loaded("loop", 1, program(text)).items)
    frame = Frame(head.body, head)
    frame.iterator = iter(range(1000))
    loop = SampledLoop(frame, quick_loop(program(text).code, head), FIRST, 0.0)
    frame.turn = 100
    loop.note_quick(1, 0.5)  # another program had the processor
    for turn in (101, 102):
        loop.turn_began_s = float(turn)
        frame.turn = turn
        assert loop.behind_turn(turn + 0.002)
    assert loop.skips(102.002, (), is_shared=False) > 0
