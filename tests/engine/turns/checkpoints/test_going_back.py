"""Going back to a turn: the run is what it was there, to the last bit, and goes on as it did."""

import random
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from gradstudio.engine.script.compiled_steps import Head
from gradstudio.engine.script.generator_states import GeneratorStates
from gradstudio.engine.turns import sampled_loop, turn_sampling
from gradstudio.engine.turns.checkpoints import checkpoints
from gradstudio.engine.turns.checkpoints.object_states import ObjectStates, TooLarge, UnknownState
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import Started
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench
from tests.engine.turns.test_turn_sampling import without_places

DROPOUT = """
x = torch.randn(8, 4)
t = torch.randint(0, 3, (8,))
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3))
opt = optim.Adam(net.parameters(), lr=0.01)
plan = optim.lr_scheduler.StepLR(opt, step_size=20)
for k in range(200):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), t)
    loss.backward()
    opt.step()
    plan.step()
"""
LOADER = """
data = torch.utils.data.TensorDataset(torch.randn(300, 4), torch.randn(300))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
w = torch.zeros(4, requires_grad=True)
for epoch in range(3):
    for number, pair in enumerate(loader):
        xb, yb = pair
        loss = ((xb + 0.1 * torch.randn_like(xb)) @ w - yb).square().mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.01 * w.grad
            w.grad = None
"""
CARRIED = """
w = torch.randn(3, requires_grad=True)
h = torch.zeros(3)
losses = []
for k in range(150):
    h = torch.tanh(h * 0.5 + w.detach())
    loss = (h * w).sum() + torch.rand(())
    loss.backward()
    w.data = w.data - 0.1 * w.grad
    w.grad = None
    losses.append(loss.item())
"""


class Clock:
    """A hundredth of a second passes whenever somebody looks: a turn is recorded now and then, whatever the machine."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def perf_counter(self) -> float:
        self.now_s += 0.01
        return self.now_s

    monotonic = thread_time = perf_counter


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Checkpoints at each look; one thread, since others wait for each other where the machine is busy."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    clock = Clock()
    monkeypatch.setattr(checkpoints, "EVERY_S", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 1e9)
    monkeypatch.setattr(checkpoints, "time", clock)
    monkeypatch.setattr(turn_sampling, "time", clock)
    yield
    torch.set_num_threads(threads)


def run(bench: Bench, text: str) -> None:
    bench.load(text)
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"


def go(bench: Bench, loop: ItemId, *turn: int) -> str:
    return bench.engine.do(Do(verb="go_to_turn", until=loop, turn=turn, samples_turns=True)).outcome


def values(bench: Bench) -> dict[str, object]:
    """Every tensor and number, parameters and the optimizer's among them, and what torch would draw next."""
    assert bench.engine.live is not None
    found: dict[str, object] = {"drawn next": torch.get_rng_state()}
    for name, value in bench.engine.live.namespace.items():
        if isinstance(value, nn.Module | torch.optim.Optimizer | torch.optim.lr_scheduler.LRScheduler):
            found[name] = _flat(value.state_dict())
        elif isinstance(value, torch.Tensor | int | float | list) and not name.startswith("__"):
            found[name] = _flat(value)
        if isinstance(value, torch.Tensor) and value.is_leaf and value.grad is not None:
            found[f"{name}.grad"] = value.grad.clone()
    return found


def _flat(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {str(key): _flat(one) for key, one in value.items()}
    return [_flat(one) for one in value] if isinstance(value, list) else value


def assert_same(one: object, other: object) -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other)
        for mine, yours in zip(one, other, strict=True):
            assert_same(mine, yours)
    elif isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        assert torch.equal(one, other)
    else:
        assert one == other


OWN_GENERATOR = LOADER.replace(
    "batch_size=4, shuffle=True", "batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3)"
)
PROGRAMS = {
    "dropout": (DROPOUT, (150,), (40,)),
    "loader": (LOADER, (1, 60), (1, 30)),
    "loader with a generator of its own": (OWN_GENERATOR, (1, 60), (1, 30)),
    "carried": (CARRIED, (120,), (30,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_turn_gone_back_to_is_what_it_was(bench: Bench, name: str) -> None:
    text, late, early = PROGRAMS[name]
    loop = loop_of(bench, text, len(late))
    run(bench, text)
    end = values(bench)
    fresh = Bench()
    fresh.load(text)
    assert go(fresh, loop, *early) == "done"  # from nothing
    there = values(fresh)
    assert go(bench, loop, *late) == "done"
    assert go(bench, loop, *early) == "done"
    started = [event for event in bench.events if isinstance(event, Started)][-1]
    assert started.back_to is not None and not started.fresh
    assert_same(values(bench), there)
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    assert_same(values(bench), end)
    assert go(bench, loop, *late) == "done"  # forward, too: later checkpoints are of the same run
    assert go(fresh, loop, *late) == "done"
    assert_same(values(bench), values(fresh))


def loop_of(bench: Bench, text: str, depth: int) -> ItemId:
    bench.load(text)
    loops: list[ItemId] = []
    items = bench.engine.loaded.items  # type: ignore[union-attr]
    while found := next((one for one in items if isinstance(one, Head)), None):
        loops += [found.id] if found.block.kind == "for" else []
        items = found.body
    return loops[depth - 1]


def test_what_is_told_of_the_turn_is_what_a_whole_record_tells(bench: Bench) -> None:
    loop = loop_of(bench, DROPOUT, 1)
    run(bench, DROPOUT)
    assert go(bench, loop, 40) == "done"
    kept = bench.timeline()
    whole = Bench()
    whole.run(DROPOUT)
    known = {(row.node, row.turns): row for row in whole.rows()}
    nodes = {step.id for step in bench.engine.loaded.steps if step.statement.line > 9}  # type: ignore[union-attr]
    assert {row.node for row in map(kept.row, nodes) if row is not None and row.turns == (40,)} == nodes
    for one in nodes:
        row, same = kept.row(one), known[one, (40,)]
        assert row is not None and list(map(without_places, row.outputs)) == list(map(without_places, same.outputs))
    assert max((tick.turns for tick in kept.ticks), default=()) == (40,)
    for one in nodes:
        assert max(kept.turns_of(one)) == (40,)


ACCUMULATED = """
w = torch.ones(3, requires_grad=True)
for k in range(100):
    loss = (w * w).sum()
    loss.backward()
"""


@pytest.mark.parametrize("text", [DROPOUT, ACCUMULATED])
def test_backwards_are_numbered_as_they_were_in_that_turn(bench: Bench, text: str) -> None:
    loop = loop_of(bench, text, 1)
    run(bench, text)
    assert go(bench, loop, 80) == "done"
    bench.events.clear()
    assert go(bench, loop, 40) == "done"
    assert not next(event for event in bench.events if isinstance(event, Started)).fresh
    assert [event.backward for event in bench.events if isinstance(event, BackwardTraced)][-1] == 41
    fresh = Bench()
    fresh.load(text)
    assert go(fresh, loop, 40) == "done"
    mine, others = bench.engine.live.gradients, fresh.engine.live.gradients  # type: ignore[union-attr]
    assert (mine.backwards, mine.last_backward) == (others.backwards, others.last_backward) == (41, 41)
    rows = [one.rows() for one in (mine, others)]
    told = [
        [(row.node, row.path, row.state, [part.backward for part in row.parts][-1:]) for row in one] for one in rows
    ]
    assert told[0] == told[1]


CARRIED_GRAPH = """
s = torch.zeros(())
w = torch.ones(2, requires_grad=True)
for k in range(80):
    s = s + w.sum()
"""
WITHIN = """
with torch.no_grad():
    x = torch.zeros(2)
    for k in range(80):
        x = x + 1
"""
DRAWN_LATER = """
loader = torch.utils.data.DataLoader(torch.arange(80), sampler=torch.utils.data.RandomSampler(torch.arange(80), True))
x = torch.zeros(())
for k in loader:
    x = x + k
"""


@pytest.mark.parametrize(
    ("text", "why"), [(CARRIED_GRAPH, "grad_fn"), (WITHIN, "context"), (DRAWN_LATER, "RandomSampler")]
)
def test_what_cannot_be_put_back_is_run_from_nothing(bench: Bench, text: str, why: str) -> None:
    loop = loop_of(bench, text, 1)
    run(bench, text)
    assert why in bench.engine.runner.sampling.checkpoints.why_none
    bench.events.clear()
    assert go(bench, loop, 40) == "done"
    assert next(event for event in bench.events if isinstance(event, Started)).fresh
    assert bench.engine.live is not None and bench.engine.live.cursor.turns == (40,)


def test_a_turn_that_never_comes_is_said(bench: Bench) -> None:
    loop = loop_of(bench, CARRIED, 1)
    run(bench, CARRIED)
    paused = bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(400,), samples_turns=True))
    assert paused.at_end and "did not come to this turn" in paused.reason
    assert bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(1, 2))).outcome == "refused"


def test_zero_grad_by_hand_makes_it_another_run(bench: Bench) -> None:
    loop = loop_of(bench, CARRIED, 1)
    run(bench, CARRIED)
    bench.do("zero_grad")
    paused = bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(120,), samples_turns=True))
    assert paused.outcome == "done" and "run again from nothing" in paused.reason
    assert next(event for event in bench.events if isinstance(event, Started) and event.verb == "go_to_turn").fresh
    assert not bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(130,), samples_turns=True)).reason


def test_that_a_turn_before_a_change_in_mid_run_is_gone_is_said(bench: Bench) -> None:
    loop = loop_of(bench, DROPOUT, 1)
    assert go(bench, loop, 90) == "done"
    bench.load(DROPOUT.replace("lr=0.01", "lr=0.5"))
    paused = bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(40,), samples_turns=True))
    assert paused.outcome == "done"
    assert paused.reason == (
        "No checkpoint leads to before the change in mid-run: the program was run again from nothing, with the numbers "
        "that stand in it now."
    )
    plain = Bench()
    plain.load(DROPOUT.replace("lr=0.01", "lr=0.5"))
    assert go(plain, loop_of(plain, DROPOUT.replace("lr=0.01", "lr=0.5"), 1), 40) == "done"
    assert_same(values(bench), values(plain))


def test_of_many_some_go(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MOST", 4)
    run(bench, DROPOUT)
    kept = bench.engine.runner.sampling.checkpoints
    assert 1 <= len(kept._kept) <= 4
    monkeypatch.setattr(checkpoints, "MOST", 96)
    loop = loop_of(bench, DROPOUT, 1)
    assert go(bench, loop, 150) == "done"


def test_a_run_that_is_too_large_to_copy_is_run_from_nothing_and_that_is_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MEMORY_SHARE", 1 << 62)
    monkeypatch.setattr(checkpoints, "LEAST_BYTES", 256)
    loop = loop_of(bench, DROPOUT, 1)
    run(bench, DROPOUT)
    kept = bench.engine.runner.sampling.checkpoints
    assert not kept._kept
    paused = bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(40,), samples_turns=True))
    assert paused.outcome == "done" and paused.reason.startswith(
        "What this run holds is more than a checkpoint may copy"
    )
    assert bench.engine.live is not None and bench.engine.live.cursor.turns == (40,)


def test_no_more_is_copied_than_the_limit() -> None:
    data, array, w = torch.randn(1000), np.zeros(500), torch.zeros(4)
    for limit in (15, 4015, 8000):
        with pytest.raises(TooLarge):
            ObjectStates([w, array, data], limit_bytes=limit)
    first = ObjectStates([w, array, data], limit_bytes=8016)
    assert first.bytes_kept == 8016
    assert ObjectStates([w, data], first, limit_bytes=0).bytes_kept == 0


def test_generators_draw_on_from_there_and_their_states_take_few_bytes() -> None:
    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    random.gauss(0.0, 1.0)
    tracemalloc.start()
    try:
        states = GeneratorStates()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    drawn = [(random.random(), random.gauss(0.0, 1.0), np.random.rand(), torch.rand(1).item()) for _ in range(2)]
    states.restore()
    again = [(random.random(), random.gauss(0.0, 1.0), np.random.rand(), torch.rand(1).item()) for _ in range(2)]
    assert again == drawn
    assert held < 16_384, "a run keeps dozens of them: 625 Python numbers would take 20,000 bytes each time"


def test_of_a_long_run_checkpoints_are_spread_over_all_of_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "MOST", 6)
    bench.load(DROPOUT)
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    turns = [0, *(one.turns[0] for one in bench.engine.runner.sampling.checkpoints._kept), 199]
    assert len(turns) > 4 and max(b - a for a, b in pairwise(turns)) <= 80, turns


def test_to_the_beginning_of_a_long_run_and_far_ahead_again_nothing_is_run_from_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MOST", 6)
    loop = loop_of(bench, DROPOUT, 1)
    run(bench, DROPOUT)
    kept = bench.engine.runner.sampling.checkpoints
    assert kept._kept[0].turns == (0,)
    newest = kept._kept[-1].turns[0]
    for turn in (1, newest + 1):
        assert go(bench, loop, turn) == "done"
        (started,) = [one for one in bench.events if isinstance(one, Started) and one.verb == "go_to_turn"]
        assert not started.fresh, turn
        bench.events.clear()
    assert kept._kept[0].turns == (0,)


def test_where_records_are_far_apart_checkpoints_are_not(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a record costs so much that there is none for seconds, which are thousands of turns."""
    monkeypatch.setattr(sampled_loop, "SHARE", 1e-9)
    loop = loop_of(bench, DROPOUT, 1)
    run(bench, DROPOUT)
    kept = bench.engine.runner.sampling.checkpoints
    turns = [0, *(one.turns[0] for one in kept._kept), 199]
    assert max(b - a for a, b in pairwise(turns)) < 40, turns
    fresh = Bench()
    fresh.load(DROPOUT)
    for turn in (150, 60, 110):
        assert go(bench, loop, turn) == "done" and go(fresh, loop, turn) == "done"
        assert_same(values(bench), values(fresh))


def test_a_checkpoint_that_had_to_wait_for_the_processor_puts_off_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(checkpoints, "time", clock)
    monkeypatch.setattr(clock, "thread_time", lambda: 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", 1e-9)
    run(bench, DROPOUT)
    assert len(bench.engine.runner.sampling.checkpoints._kept) > 2


def test_memory_that_did_not_change_is_kept_once() -> None:
    data, w = torch.randn(1000), torch.zeros(4)
    first = ObjectStates([data, w])
    w += 1
    second = ObjectStates([data, w, torch.zeros(0)], first)
    assert first.bytes_kept == 4 * (1000 + 4) and second.bytes_kept == 4 * 4
    kept = data.clone()
    data.zero_()
    first.restore()
    assert torch.equal(data, kept) and torch.equal(w, torch.zeros(4))


def test_objects_are_put_back_in_place() -> None:
    w = torch.nn.Parameter(torch.ones(2))
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    numbers, table, seen, array = [1, 2], {"a": 1}, {1}, np.arange(3.0)
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    w.grad = torch.full((2,), 5.0)
    grad = w.grad
    states = ObjectStates([w, net, numbers, table, seen, array, generator])
    w.data = torch.zeros(3)
    w.grad = None
    grad.zero_()
    w.requires_grad_(False)
    net.eval()
    net[0] = nn.Linear(2, 1)
    numbers.append(3)
    table["b"] = 2
    seen.clear()
    array[:] = 7
    torch.rand(1, generator=generator)
    states.restore()
    assert torch.equal(w, torch.ones(2)) and w.grad is grad and torch.equal(grad, torch.full((2,), 5.0))
    assert w.requires_grad and net.training and net[1].training and net[0].out_features == 2
    assert (numbers, table, seen, array.tolist()) == ([1, 2], {"a": 1}, {1}, [0, 1, 2])
    assert torch.equal(generator.get_state(), state)


@pytest.mark.parametrize(
    "made", [lambda: iter(map(abs, [1])), lambda: (k for k in [1]), lambda: torch.ones(2).to_sparse()]
)
def test_a_state_that_cannot_be_read_is_none(made: Callable[[], object]) -> None:
    with pytest.raises(UnknownState):
        ObjectStates([made()])
