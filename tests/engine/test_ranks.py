"""Several real processes of one program: what they hold beside torch, and what is said when one fails or hangs."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest
import torch

from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import (
    Event,
    Failed,
    Loaded,
    Log,
    Memory,
    NamedEntry,
    Paused,
    Printed,
    Report,
    Started,
    Traced,
)
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.messages.ranks import LookAt, Range, Spread
from gradstudio.protocol.messages.records import ModuleRecord, PlainRecord, TensorRecord, TupleRecord
from gradstudio.protocol.messages.requests import Collect, Do, Load, Stop, Trust
from gradstudio.protocol.process_group import PROCESSES, RUNS_CODE
from gradstudio.protocol.ranks.arrival_words import duration_words
from gradstudio.protocol.ranks.rank_command import asked_for, leader_command
from gradstudio.protocol.ranks.spread_words import spread_amount
from gradstudio.protocol.report import record_json
from gradstudio.protocol.report_table import report_table
from gradstudio.protocol.runner import Outcome, run_program
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS, wait_until

RANKS = 2
JOIN = "import torch\nimport torch.distributed\nfrom torch import nn\n\ntorch.distributed.init_process_group('gloo')\n"
TRAINED = f"""{JOIN}rank = torch.distributed.get_rank()
torch.manual_seed(0)
net = nn.Linear(3, 1)
model = nn.parallel.DistributedDataParallel(net)
x = torch.arange(12.0).reshape(4, 3) / 10 + rank
loss = (model(x) ** 2).mean()
loss.backward()
total = torch.ones(2) * (rank + 1)
torch.distributed.all_reduce(total)
print('rank', rank)
"""
MET_IN_TURNS = f"""{JOIN}total = torch.ones(2)
other = torch.zeros(2)
for k in range(300):
    other.add_(1)
    torch.distributed.all_reduce(total)
    total.div_(2)
other.mul_(2)
"""


SAMPLED = f"""{JOIN}import threading
rank = torch.distributed.get_rank()
total = torch.ones(2)
for epoch in range(100):
    for k in range(8):
        own = torch.ones(2) * (rank + epoch)
        threading.Event().wait(0.001 * rank * (epoch % 3))
        if rank == 1 and epoch > 80:
            own = own / 0 * 0
        total = own.clone()
        torch.distributed.all_reduce(total)
"""


UNEVEN = f"""{JOIN}import threading
rank = torch.distributed.get_rank()
torch.manual_seed(0)
net = nn.Linear(3, 1)
model = nn.parallel.DistributedDataParallel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(100_000_000):
    x = torch.randn(2, 8, 3).select(0, rank)
    threading.Event().wait(0.02 * rank)
    loss = model(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


EDITED = f"""{JOIN}differ = torch.zeros(1)
for step in range(100_000_000):
    rate = torch.ones(1) * 1.5
    both = rate.clone()
    torch.distributed.all_reduce(both)
    differ += (both != rate * 2).float()
"""


def read(text: str) -> tuple[Graph, Program]:
    graph = read_script(text, keeps_code=True).graph
    return graph, compile_graph(graph)


def run(engine: EngineProcess, text: str, heard: list[Event] | None = None) -> Outcome:
    graph, program = read(text)
    return run_program(
        engine, graph, program, document=text, trace=True, trust=Trust(digest=code_digest(program)),
        on_event=heard.append if heard is not None else None,
    )  # fmt: skip


def begin(engine: EngineProcess, text: str) -> None:
    graph, program = read(text)
    engine.send(Load(document=text, revision=graph.revision, program=program))
    engine.send(Do(verb="run", trust=Trust(digest=code_digest(program))))


def sampled(engine: EngineProcess, text: str) -> tuple[Graph, Program, list[Event]]:
    """What is heard of a run whose turns are recorded by sample."""
    graph, program = read(text)
    heard: list[Event] = []
    engine.send(Load(document=text, revision=graph.revision, program=program))
    engine.send(Do(verb="run", trust=Trust(digest=code_digest(program)), samples_turns=True))
    engine.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
    return graph, program, heard


def tensor(report: Report, name: str) -> TensorRecord:
    (entry,) = [entry for entry in report.entries if entry.name == name]
    return record(entry)


def record(entry: NamedEntry) -> TensorRecord:
    found = entry.outputs[entry.output or 0]
    assert isinstance(found, TensorRecord)
    return found


def spread(record: TensorRecord) -> Spread:
    assert record.summary.spread is not None and record.summary.spread.ranks == RANKS
    return record.summary.spread


@pytest.fixture(scope="module")
def ranks() -> Iterator[EngineProcess]:
    """Forks: to load torch for each that begins anew takes longer than all that is asked of them."""
    with engine_forks.everywhere():  # no longer than it is started: others start their own in earnest
        started = EngineProcess(leader_command(RANKS, RUNS_CODE))
    with started as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
        yield engine


@pytest.fixture(scope="module")
def in_earnest() -> Iterator[EngineProcess]:
    """Processes that the leader has started itself, for what becomes of processes; they end with it."""
    with EngineProcess(leader_command(RANKS, RUNS_CODE)) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
        yield engine
        left = ranks_of(engine)
        assert len(left) == RANKS
    wait_until("no rank is left", lambda: not any(os.path.exists(f"{PROCESSES}/{one}") for one in left))


def by_hand() -> tuple[list[torch.Tensor], torch.Tensor]:
    """The losses of both ranks, and the mean of their gradients, in one process."""
    losses, grads = [], []
    for rank in range(RANKS):
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 1)
        loss = (net(torch.arange(12.0).reshape(4, 3) / 10 + rank) ** 2).mean()
        loss.backward()
        assert net.weight.grad is not None
        losses.append(loss.detach())
        grads.append(net.weight.grad)
    return losses, torch.stack(grads).mean(0)


def test_each_rank_has_its_own_values_and_all_have_the_mean_of_the_gradients(ranks: EngineProcess) -> None:
    losses, grad = by_hand()
    for _ in range(2):  # the second run meets the others anew
        outcome = run(ranks, TRAINED)
        assert outcome.paused.outcome == "done"
        loss = spread(tensor(outcome.report, "loss"))
        assert loss.mean is not None and not loss.is_equal
        torch.testing.assert_close(torch.tensor([loss.mean.least, loss.mean.most]), torch.stack(sorted(losses)))
        assert tensor(outcome.report, "total").summary.value == [3.0, 3.0]
        assert spread(tensor(outcome.report, "total")).is_equal
        (entry,) = [entry for entry in outcome.report.entries if entry.name == "net"]
        module = entry.outputs[0]
        assert isinstance(module, ModuleRecord)
        weight = module.parameters["weight"]
        assert spread(weight).is_equal and weight.grad is not None and weight.grad.spread is not None
        assert weight.grad.spread.is_equal
        torch.testing.assert_close(torch.tensor(weight.grad.value), grad)


NUMBERS = f"""{JOIN}import math
rank = torch.distributed.get_rank()
x = torch.tensor([0.1, 0.7]) * (rank + 1)
loss = x.mean().item()
same = torch.tensor(1.5).item()
count = x.nonzero().size(0) + rank
odd = math.nan if rank == 1 else 1.0
huge = 10 ** 30 + rank
maybe = loss if rank == 0 else None
pair = [loss, 7]
y = x * 2
"""


def test_plain_numbers_are_compared_over_ranks_as_tensors_are(ranks: EngineProcess) -> None:
    heard: list[Event] = []
    outcome = run(ranks, NUMBERS, heard)
    assert outcome.paused.outcome == "done", [one.message for one in heard if isinstance(one, Failed)]
    report = outcome.report
    losses = [(torch.tensor([0.1, 0.7]) * (rank + 1)).mean().item() for rank in range(RANKS)]
    found = {entry.name: entry.outputs[entry.output or 0] for entry in report.entries if entry.outputs}
    loss, same, count, odd, huge, maybe = (found[name] for name in ("loss", "same", "count", "odd", "huge", "maybe"))
    for one in (loss, same, count, odd, huge, maybe):
        assert isinstance(one, PlainRecord)
    assert loss.value == losses[0] and loss.spread.maximum == Range(losses[0], 0, losses[1], 1)
    assert spread_amount(loss.spread) == f"Δ = {losses[1] - losses[0]:.3g}" and not loss.spread.is_equal
    assert same.spread.is_equal and same.spread.minimum == Range(1.5, 0, 1.5, 0)
    assert count.spread.maximum == Range(2, 0, 3, 1) and spread_amount(count.spread) == "Δ = 1"
    assert odd.spread.nan.ranks == (1,) and spread_amount(odd.spread) == "NaN r1"
    assert huge.spread is None, "no number that crosses a pipe"
    assert (maybe.spread.ranks, maybe.spread.missing, maybe.spread.is_equal) == (1, 1, False)
    pair = found["pair"]
    assert isinstance(pair, TupleRecord)
    first, second = pair.items
    assert isinstance(first, PlainRecord) and isinstance(second, PlainRecord)
    assert first.spread == loss.spread and second.spread is not None and second.spread.is_equal
    assert spread(tensor(report, "y")).ranks == RANKS, "what stands behind them is compared as ever"
    assert record_json(loss)["ranks"]["maximum"] == [[losses[0], 0], [losses[1], 1]]
    assert "NaN on rank 1; " in report_table(report)
    told = {one.spread for event in heard if isinstance(event, Traced) for row in event.rows for one in row.outputs
            if isinstance(one, PlainRecord) and one.spread is not None and one.spread.ranks == RANKS}  # fmt: skip
    assert {loss.spread, same.spread, odd.spread} <= told, "in rows, which cards show, as in the report"


def test_all_ranks_record_the_same_turns_of_a_long_loop(ranks: EngineProcess) -> None:
    graph, _, heard = sampled(ranks, SAMPLED)
    node = {name: item.id for item in graph.nodes.values() for name in item.names}
    rows = [row for event in heard if isinstance(event, Traced) for row in event.rows if row.complete and row.turns]
    found: dict[str, dict[tuple[int, ...], Spread]] = {"own": {}, "total": {}}
    for row in rows:
        for name, spreads in found.items():
            out = row.outputs[0] if row.node == node[name] and row.outputs else None
            if isinstance(out, TensorRecord) and out.summary.spread is not None:
                spreads[row.turns] = out.summary.spread
    between = {turns for turns in found["own"] if 2 < turns[0] < 99}
    assert between and len(found["own"]) < 800
    for turns, spread in found["own"].items():
        assert (spread.ranks, spread.missing, spread.is_equal) == (RANKS, 0, False), turns
        if turns[0] <= 80:
            assert spread.mean is not None and (spread.mean.least, spread.mean.most) == (turns[0], turns[0] + 1)
    assert found["own"][(99, 7)].nan.ranks == (1,)
    assert all(spread.missing == 0 for spread in found["total"].values())


def test_only_a_statement_at_which_ranks_met_says_when_they_came(ranks: EngineProcess) -> None:
    """Turns without a record meet, too: what is told again behind them has met nobody."""
    _, program, heard = sampled(ranks, MET_IN_TURNS)
    lines = {span.node: span.line for span in program.spans}
    rows = [row for event in heard if isinstance(event, Traced) for row in event.rows]
    (meets,) = [n for n, line in enumerate(program.code.splitlines(), 1) if "all_reduce" in line]
    assert len(rows) < 400  # by sample
    assert {lines[row.node] for row in rows if row.came is not None} == {meets}


def test_what_ranks_print_is_told_with_their_numbers(ranks: EngineProcess) -> None:
    texts = sorted(line for printed in run(ranks, TRAINED).printed for line in printed.text.splitlines())
    assert texts == ["[rank 0] rank 0", "[rank 1] rank 1"]


def test_another_rank_is_shown_with_what_it_said_of_its_run(ranks: EngineProcess) -> None:
    run(ranks, TRAINED)
    ranks.send(LookAt(rank=1))  # type: ignore[arg-type]  # of the leader alone
    heard: list[Event] = []
    try:
        ranks.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
        begun = next(event for event in heard if not isinstance(event, Memory))
        assert isinstance(begun, Started) and begun.fresh
        rows = [row for event in heard if isinstance(event, Traced) for row in event.rows]
        tensors = [one for row in rows for one in row.outputs if isinstance(one, TensorRecord)]
        assert any(one.summary.value == [2.0, 2.0] for one in tensors)  # ones * (rank + 1)
        compared = [one.summary.spread for one in tensors if one.summary.spread is not None]
        assert compared and all(one.ranks == RANKS for one in compared)
        report = run(ranks, TRAINED).report
        low, high = by_hand()[0]
        assert tensor(report, "loss").summary.value == pytest.approx(max(low, high).item())
    finally:
        ranks.send(LookAt(rank=0))  # type: ignore[arg-type]  # as above


def test_one_rank_holds_a_nan_and_is_named(ranks: EngineProcess) -> None:
    text = f"{JOIN}x = torch.ones(3)\nx[torch.distributed.get_rank()] = float('nan') * torch.distributed.get_rank()\n"
    outcome = run(ranks, text + "y = x * 2\n")
    assert spread(tensor(outcome.report, "y")).nan.ranks == (0, 1)
    outcome = run(ranks, f"{JOIN}x = torch.tensor([1.0, 0.0]) / (1 - torch.distributed.get_rank())\n")
    assert spread(tensor(outcome.report, "x")).nan.ranks == (1,)


OUTSIDE = f"""{JOIN}d = torch.distributed
t = torch.ones(2)
me = d.get_rank()
alone = d.new_group([0])
calls = [
    lambda: d.send(t, 5), lambda: d.send(t, -1), lambda: d.isend(t, group_dst=7), lambda: d.recv(t, {RANKS}),
    lambda: d.irecv(t, group_src=7), lambda: d.P2POp(d.isend, t, 5), lambda: d.send_object_list([1], 5),
    lambda: d.broadcast(t, 5), lambda: d.reduce(t, -1), lambda: d.gather(t, None, 5), lambda: d.scatter(t, None, 5),
]
for call in calls:
    try:
        call()
    except Exception as error:
        print(error)
if me == 0:
    try:
        d.send(t, group=alone, group_dst=1)
    except Exception as error:
        print(error)
passed = t * me
if me == 0:
    d.send(t, 1)
    d.recv(passed)
else:
    d.recv(passed, 0)
    d.send(passed + 1, 0)
d.broadcast(t, 1)
"""


def test_a_rank_that_a_group_has_not_is_refused_wherever_it_is_named(ranks: EngineProcess) -> None:
    outcome = run(ranks, OUTSIDE)
    assert outcome.paused.outcome == "done"
    told = [line for one in outcome.printed for line in one.text.splitlines()]
    wrong = ["5", "-1", "7", "2", "7", "5", "5", "5", "-1", "5", "5"]
    words = "There is no rank {} in this group: it has {}. Give dst or src one of these."
    expected = [words.format(rank, "2 processes, ranks 0 to 1") for rank in wrong]
    assert [line for line in told if line.startswith("[rank 1] ")] == [f"[rank 1] {line}" for line in expected]
    expected.append(words.format("1", "one process, rank 0"))
    assert [line for line in told if line.startswith("[rank 0] ")] == [f"[rank 0] {line}" for line in expected]
    assert tensor(outcome.report, "passed").summary.value == [2.0, 2.0]  # from whoever sends


def test_one_fails_and_the_others_that_wait_for_it_are_ended_and_begin_anew(ranks: EngineProcess) -> None:
    text = f"{JOIN}if torch.distributed.get_rank() == 1:\n    raise ValueError('no data')\n"
    begin(ranks, text + "t = torch.ones(1)\ntorch.distributed.all_reduce(t)\n")
    heard: list[Event] = []
    paused = ranks.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
    assert isinstance(paused, Paused) and paused.outcome == "failed" and paused.reason.startswith("Rank 1 failed")
    assert [one.message for one in heard if isinstance(one, Failed)] == ["no data"]
    assert any(one.text.startswith("Rank 1 failed at line") for one in heard if isinstance(one, Log))
    ranks.wait_until_ready(PATIENCE_SECONDS)
    assert run(ranks, TRAINED).paused.outcome == "done"


@pytest.mark.skipif(not os.path.isdir(PROCESSES), reason="which processes there are is asked of /proc")
def test_one_is_killed_and_is_named_and_nothing_is_left_behind(in_earnest: EngineProcess) -> None:
    killed = ranks_of(in_earnest)
    begin(in_earnest, f"{JOIN}t = torch.ones(1)\nfor k in range(10**9):\n    torch.distributed.all_reduce(t)\n")
    in_earnest.wait_for(Traced, timeout=PATIENCE_SECONDS)
    os.kill(killed[1], signal.SIGKILL)
    paused = in_earnest.wait_for(Paused, timeout=PATIENCE_SECONDS)
    assert isinstance(paused, Paused) and paused.outcome == "died"
    assert paused.reason.startswith("Rank 1 was killed by SIGKILL")
    in_earnest.wait_until_ready(PATIENCE_SECONDS)
    assert len(ranks_of(in_earnest)) == RANKS
    wait_until("none stays", lambda: not any(is_alive(one) for one in killed))


BABBLE = f"""{JOIN}import os
import stat

t = torch.ones(1)
torch.distributed.all_reduce(t)
if torch.distributed.get_rank() == 1:
    for number in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, bytes([255]) * 64)
        except OSError:
            pass
torch.distributed.all_reduce(t)
"""
TOO_MUCH = f"{JOIN}t = torch.ones(1)\nif torch.distributed.get_rank() == 1:\n    waste = bytearray(1 << 60)\n"
LEFT_BEHIND = f"""{JOIN}import os
import signal
import subprocess

child = subprocess.Popen(["sleep", "1000"])
print("child", child.pid)
t = torch.ones(1)
torch.distributed.all_reduce(t)
if torch.distributed.get_rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
torch.distributed.all_reduce(t)
"""


def test_one_whose_code_writes_into_its_pipe_is_named_and_all_begin_anew(ranks: EngineProcess) -> None:
    begin(ranks, BABBLE)
    heard: list[Event] = []
    paused = ranks.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
    assert isinstance(paused, Paused) and paused.outcome == "died"
    assert paused.reason.startswith("Rank 1 said what no engine says (A frame of 4294967295 bytes")
    assert " line " in paused.reason
    assert any(one.level == "error" and one.text == paused.reason for one in heard if isinstance(one, Log))
    ranks.wait_until_ready(PATIENCE_SECONDS)
    assert run(ranks, TRAINED).paused.outcome == "done"


def test_one_without_memory_is_named_with_its_line_and_all_are_stopped(ranks: EngineProcess) -> None:
    begin(ranks, TOO_MUCH + "torch.distributed.all_reduce(t)\n")
    heard: list[Event] = []
    paused = ranks.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
    assert isinstance(paused, Paused) and paused.outcome == "failed" and paused.reason.startswith("Rank 1 failed")
    (failed,) = [one for one in heard if isinstance(one, Failed)]
    assert failed.type_name == "MemoryError" and failed.line
    assert any(one.text == f"Rank 1 failed at line {failed.line}." for one in heard if isinstance(one, Log))
    ranks.wait_until_ready(PATIENCE_SECONDS)


@pytest.mark.skipif(not os.path.isdir(PROCESSES), reason="which processes there are is asked of /proc")
def test_what_ranks_have_started_ends_with_them(in_earnest: EngineProcess) -> None:
    begin(in_earnest, LEFT_BEHIND)
    heard: list[Event] = []
    paused = in_earnest.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
    assert isinstance(paused, Paused) and paused.reason.startswith("Rank 1 was killed by SIGKILL")
    children = [int(one.text.split()[-1]) for one in heard if isinstance(one, Printed)]
    assert len(children) == RANKS
    wait_until("no child is left", lambda: not any(is_alive(child) for child in children))
    in_earnest.wait_until_ready(PATIENCE_SECONDS)


def test_ranks_that_wait_for_one_another_are_named_and_stop(ranks: EngineProcess) -> None:
    late = "if torch.distributed.get_rank() == 1:\n    threading.Event().wait(30)\n"
    begin(ranks, f"{JOIN}import threading\nt = torch.ones(1)\n{late}torch.distributed.all_reduce(t)\n")
    heard: list[Event] = []
    while not any("wait for one another" in one.text for one in heard if isinstance(one, Log)):
        event = ranks.receive(PATIENCE_SECONDS)
        assert event is not None and not isinstance(event, Paused)
        heard.append(event)
    (words,) = [one.text for one in heard if isinstance(one, Log) and one.level == "warning"]
    assert "rank 0 is at line" in words and "rank 1 is at line" in words
    ranks.send(Stop())
    paused = ranks.wait_for(Paused, timeout=PATIENCE_SECONDS)
    assert isinstance(paused, Paused) and paused.outcome == "stopped"


@pytest.mark.parametrize("behind_turn", [False, True])
@pytest.mark.parametrize("samples_turns", [False, True])
def test_a_stop_finds_all_ranks_at_one_place_and_none_is_ended_for_another_that_waits_for_it(
    ranks: EngineProcess, samples_turns: bool, behind_turn: bool
) -> None:
    graph, program = read(UNEVEN)
    verb = Do(verb="run", trust=Trust(digest=code_digest(program)), samples_turns=samples_turns)
    ranks.send(Load(document=f"{samples_turns} {behind_turn}", revision=graph.revision, program=program))
    for _ in range(3):
        ranks.send(verb)
        steps = 0
        while steps < 20:
            event = ranks.receive(PATIENCE_SECONDS)
            assert event is not None and not isinstance(event, Paused), event
            steps += isinstance(event, Traced | Turned)
        ranks.send(Stop(behind_turn=behind_turn))
        paused = ranks.wait_for(Paused, timeout=PATIENCE_SECONDS)
        assert isinstance(paused, Paused) and paused.outcome == "stopped" and paused.reason == ""
        ranks.send(Collect())
        report = ranks.wait_for(Report, timeout=PATIENCE_SECONDS)
        assert isinstance(report, Report)
        (turn,) = [entry.outputs[entry.output or 0] for entry in report.entries if entry.name == "step"]
        assert isinstance(turn, PlainRecord) and turn.spread is not None and turn.spread.maximum is not None, turn
        assert turn.spread.maximum.most - turn.spread.maximum.least <= 1, "a turn that has begun has done nothing yet"


def test_a_literal_that_is_edited_while_ranks_run_waits_for_the_next_run(ranks: EngineProcess) -> None:
    program = read(EDITED)[1]
    ranks.send(Load(document="edited", revision=1, program=program))
    ranks.send(Do(verb="run", trust=Trust(digest=code_digest(program)), samples_turns=True))
    ranks.wait_for(Turned, timeout=PATIENCE_SECONDS)
    ranks.send(Load(document="edited", revision=2, program=read(EDITED.replace("1.5", "2.5"))[1]))
    loaded = ranks.wait_for(Loaded, timeout=PATIENCE_SECONDS)
    assert isinstance(loaded, Loaded) and loaded.waits
    ranks.send(Stop(behind_turn=True))
    paused = ranks.wait_for(Paused, timeout=PATIENCE_SECONDS)
    assert isinstance(paused, Paused) and paused.outcome == "stopped"
    ranks.send(Collect())
    report = ranks.wait_for(Report, timeout=PATIENCE_SECONDS)
    assert isinstance(report, Report)
    assert (tensor(report, "rate").summary.value, tensor(report, "differ").summary.value) == ([1.5], [0.0])


def test_who_came_late_to_a_collective_is_said_at_its_statement_and_line(ranks: EngineProcess) -> None:
    late = "if torch.distributed.get_rank() == 1:\n    threading.Event().wait(2.0)\n"
    heard: list[Event] = []
    run(ranks, f"{JOIN}import threading\nt = torch.ones(1)\n{late}torch.distributed.all_reduce(t)\ny = t * 2\n", heard)
    rows = {row.step: row for event in heard if isinstance(event, Traced) for row in event.rows}
    assert rows[max(rows)].came is None  # what only computes meets nobody
    came = rows[max(rows) - 1].came
    assert came is not None and (came.least_rank, came.most_rank) == (0, 1) and came.most - came.least > 0.5
    late_s = duration_words(came.most - came.least)
    words = [one.text for one in heard if isinstance(one, Log) and one.level == "info"]
    assert any(one.startswith(f"Rank 1 came {late_s} later than rank 0 to line ") for one in words), words


def test_without_code_there_is_one_engine_with_walls() -> None:
    with EngineProcess(leader_command(RANKS)) as engine:
        hello = engine.wait_until_ready(PATIENCE_SECONDS)
        assert "audit hook" in hello.walls
        graph = read_script("import torch\n\nx = torch.ones(2) * 3\n").graph
        outcome = run_program(engine, graph, compile_graph(graph), document="drawn")
        assert tensor(outcome.report, "x").summary.value == [3.0, 3.0]
        assert tensor(outcome.report, "x").summary.spread is None


def test_the_command_says_how_many_and_passes_on_the_option_for_code() -> None:
    assert asked_for(leader_command(4, RUNS_CODE)) == (4, [RUNS_CODE]) and asked_for(leader_command(3)) == (3, [])


def is_alive(process: int) -> bool:
    """Whether it runs; one that is dead and that nobody has asked about does not."""
    try:
        with open(f"{PROCESSES}/{process}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def ranks_of(engine: EngineProcess) -> list[int]:
    """The processes of the ranks, in their order."""
    leader, found = engine.process.pid, {}
    for name in filter(str.isdecimal, os.listdir(PROCESSES)):
        try:
            with open(f"{PROCESSES}/{name}/stat") as stat, open(f"{PROCESSES}/{name}/cmdline") as line:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == leader:
                    found[line.read().rstrip("\0").rsplit("=", 1)[1]] = int(name)
        except OSError:
            pass  # it has ended meanwhile
    assert sys.platform == "linux"
    return [found[key] for key in sorted(found)]


def test_one_that_does_not_come_is_named_when_the_time_of_the_group_is_over_and_no_process_stays(
    in_earnest: EngineProcess,
) -> None:
    late = "if torch.distributed.get_rank() == 1:\n    threading.Event().wait(600)\n"
    join = JOIN.replace("('gloo')", "('gloo', timeout=datetime.timedelta(seconds=8))")
    processes = ranks_of(in_earnest)
    begin(
        in_earnest,
        f"import datetime\nimport threading\n{join}t = torch.ones(1)\n{late}torch.distributed.all_reduce(t)\n",
    )
    heard: list[Event] = []
    paused = in_earnest.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
    assert isinstance(paused, Paused) and paused.outcome == "failed"
    assert paused.reason == (
        "Rank 0 waited at line 10 for others until the time-out of its group. Who did not come: rank 1 at line 8 "
        "(if torch.distributed.get_rank() == 1). All were ended, and begin from nothing."
    )
    (failed,) = [one for one in heard if isinstance(one, Failed)]
    assert "Timed out waiting" in failed.message, "its own words stay"
    wait_until("none stays", lambda: not any(is_alive(one) for one in processes))
    in_earnest.wait_until_ready(PATIENCE_SECONDS)
