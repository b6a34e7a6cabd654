"""The all-reduce of DistributedDataParallel as it is recorded, beside torch without us: real processes and gloo."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.backward_trace import ALL_REDUCE, AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Event, Paused
from gradstudio.protocol.messages.ranks import LookAt
from gradstudio.protocol.process_group import RUNS_CODE
from gradstudio.protocol.ranks.rank_command import leader_command
from tests.engine.test_ranks import run
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS
from tests.helpers.program_runs import ProgramRuns, of_torchrun

RANKS = 3
"""A third is no binary fraction: what is multiplied otherwise is seen in the last bit."""
SMALL, STEPS = 0.0001, 3
TEXT = f"""import threading

import torch
import torch.distributed
from torch import nn, optim

torch.distributed.init_process_group('gloo')
rank = torch.distributed.get_rank()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb={SMALL})
opt = optim.SGD(model.parameters(), lr=0.3)
torch.manual_seed(rank + 1)
x = torch.randn(4, 5)
for t in range({STEPS}):
    opt.zero_grad()
    loss = (model(x) ** 2).mean()
    threading.Event().wait(2.0 if t == 1 and rank == 2 else 0.0)
    loss.backward()
    opt.step()
for p in net.parameters():
    print(p.grad.numpy().tobytes().hex(), p.detach().numpy().tobytes().hex())
"""

WAYS = """import torch
import torch.distributed
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

torch.distributed.init_process_group('gloo')
rank = torch.distributed.get_rank()


def trained(turns=3, own=None, joined=False, accumulates=False, unused=False, **options):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    if unused:
        net.unused = nn.Linear(2, 2)
        net.forward = lambda x: net[2](torch.tanh(net[0](x)))
    model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.0001, **options)
    torch.manual_seed(rank + 1)
    told = []
    x = torch.randn(4, 5)
    with model.join(divide_by_initial_world_size=False, enable=joined):
        for t in range(turns + (rank if joined else 0)):
            model.zero_grad(set_to_none=t % 2 == 0)
            if accumulates:
                with model.no_sync():
                    (model(x) ** 3).mean().backward()
            (model(x) ** 2).mean().backward()
            if own is not None and t == 0:
                model.register_comm_hook(None, own)
            told += [p.grad.clone() for p in net.parameters() if p.grad is not None]
            with torch.no_grad():
                for p in net.parameters():
                    p -= 0.3 * (0.0 if p.grad is None else p.grad)
    return [*told, *net.parameters()]


def halved(state, bucket):
    return torch.distributed.all_reduce(bucket.buffer().mul_(0.5), async_op=True).get_future().then(
        lambda future: future.value()[0]
    )


def said(name, tensors):
    print(name, ' '.join(one.detach().numpy().tobytes().hex() for one in tensors))


said('own', trained(own=halved))
said('compressed', trained(own=default_hooks.fp16_compress_hook))
said('joined', trained(joined=True))
said('view', trained(gradient_as_bucket_view=True))
said('view accumulated', trained(gradient_as_bucket_view=True, accumulates=True))
said('accumulated', trained(accumulates=True))
said('static', trained(static_graph=True))
said('unused', trained(find_unused_parameters=True, unused=True))
net = nn.Sequential(nn.Embedding(5, 3, sparse=True), nn.Linear(3, 2))
model = nn.parallel.DistributedDataParallel(net)
(model(torch.tensor([rank, 3])) ** 2).mean().backward()
said('sparse', [net[0].weight.grad.to_dense(), net[1].weight.grad])
"""
"""Ways to reduce that differ from the usual one."""
WAYS_COUNT = 9
WAYS_BUCKETS = [
    *([1, 0, 0] * 2),  # not what a hook of the program does
    *[0, 0, 0],  # no mean over all ranks
    *[1, 2, 2],  # once torch has looked in which order gradients come
    *([0, 1, 0, 2, 0, 2] * 2),  # none in what is only accumulated
    *[1, 1, 2],
    *[3, 3, 3],
    1,  # not the sparse one
]
"""So many all-reduces are shown of each backward."""


@pytest.fixture(scope="module")
def ranks() -> Iterator[EngineProcess]:
    with engine_forks.everywhere(), EngineProcess(leader_command(RANKS, RUNS_CODE)) as engine:
        engine.wait_until_ready(PATIENCE_SECONDS)
        yield engine


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    with ProgramRuns("torch.distributed.algorithms.ddp_comm_hooks.default_hooks") as runs:
        yield runs


def by_torch(text: str, python: ProgramRuns, folder: Path) -> list[list[str]]:
    """What each rank prints where torch is alone."""
    ends = python.end_together(text, folder, of_torchrun(RANKS))
    assert not any(end.code for end in ends), ends
    return [end.printed.splitlines() for end in ends]


def records(heard: list[Event]) -> list[BackwardTraced]:
    """The last record that was told of each backward."""
    return list({one.backward: one for one in heard if isinstance(one, BackwardTraced)}.values())


def reductions(record: BackwardTraced) -> list[AutogradRow]:
    return [row for row in record.rows if row.reduction is not None]


@pytest.fixture(scope="module")
def watched(ranks: EngineProcess) -> tuple[list[Event], list[str]]:
    heard: list[Event] = []
    outcome = run(ranks, TEXT, heard)
    assert outcome.paused.outcome == "done"
    return heard, [line for printed in outcome.printed for line in printed.text.splitlines()]


def of_ranks(lines: list[str]) -> list[list[str]]:
    """What each rank has printed."""
    return [
        [line.removeprefix(f"[rank {rank}] ") for line in lines if f"[rank {rank}]" in line] for rank in range(RANKS)
    ]


def test_gradients_and_parameters_are_those_of_torch_alone_to_the_last_bit(
    watched: tuple[list[Event], list[str]], python: ProgramRuns, tmp_path: Path
) -> None:
    told = of_ranks(watched[1])
    assert all(len(lines) == 4 for lines in told) and told == by_torch(TEXT, python, tmp_path)


def test_each_bucket_is_a_row_with_the_gradients_of_all_ranks_and_their_mean(
    watched: tuple[list[Event], list[str]],
) -> None:
    found = records(watched[0])
    assert len(found) == STEPS
    assert len(reductions(found[0])) >= 1 and len(reductions(found[-1])) >= 2
    for record in found:
        rows = reductions(record)
        assert record.rows[-len(rows) :] == tuple(rows) and all(row.autograd == ALL_REDUCE for row in rows)
        paths = {value.path for row in rows for value in row.values}
        assert {"0.weight", "0.bias", "2.weight", "2.bias"} <= paths
        for row in rows:
            assert row.reduction is not None and [share.rank for share in row.reduction.shares] == list(range(RANKS))
            assert row.reduction.ranks == RANKS and row.reduction.came_s <= row.reduction.done_s
            for place, mean in enumerate(row.outgoing):
                of_ranks = [share.grads[place] for share in row.reduction.shares]
                assert mean is not None and mean.mean is not None
                means = [grad.mean for grad in of_ranks if grad is not None and grad.mean is not None]
                assert len(means) == RANKS and len(set(means)) > 1
                assert mean.mean == pytest.approx(sum(means) / RANKS, rel=1e-4, abs=1e-6)
                spread = row.incoming[place] and row.incoming[place].spread
                assert spread is not None and spread.ranks == RANKS and not spread.is_equal


def test_what_a_leaf_took_is_the_gradient_of_this_rank_and_not_the_mean(watched: tuple[list[Event], list[str]]) -> None:
    for record in records(watched[0]):
        own = {
            (value.node, value.path): row.incoming[value.index] for row in reductions(record) for value in row.values
        }
        leaves = [row for row in record.rows if row.autograd == "AccumulateGrad"]
        assert len(leaves) == 4
        for row in leaves:
            local, grad = own[row.values[0].node, row.values[0].path], row.incoming[0]
            assert local is not None and grad is not None and row.after is not None
            assert grad.value == local.value == row.after.value


def test_what_autograd_nodes_sent_and_got_is_what_hooks_see_in_torch_alone(
    watched: tuple[list[Event], list[str]],
) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    torch.manual_seed(1)
    loss = (net(torch.randn(4, 5)) ** 2).mean()
    seen: list[tuple[str, list[Tensor]]] = []

    def look(node: Any) -> None:
        name = type(node).__name__
        node.register_hook(
            lambda went, came: seen.append((name, [one.clone() for one in (*came, *went) if one is not None]))
        )

    todo = [loss.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and not hasattr(node, "variable"):
            look(node)
            todo += [following for following, _ in node.next_functions]
    loss.backward()
    for name in ("AddmmBackward0", "TBackward0"):
        rows = [row for row in records(watched[0])[0].rows if row.autograd == name]
        by_hooks = [grads for called, grads in seen if called == name]
        assert len(rows) == len(by_hooks) == 2
        for row, grads in zip(rows, by_hooks, strict=True):
            recorded = [one for one in (*row.incoming, *row.outgoing) if one is not None]
            assert [one.mean for one in recorded] == pytest.approx([grad.mean().item() for grad in grads], rel=1e-4)
            assert [one.shape for one in recorded] == [tuple(grad.shape) for grad in grads]


def test_the_rank_that_came_late_is_named_by_the_clock_of_all(watched: tuple[list[Event], list[str]]) -> None:
    second = reductions(records(watched[0])[1])[0]
    assert second.reduction is not None and second.reduction.arrivals is not None
    assert second.reduction.arrivals.most_rank == 2
    for share, other in pairwise(second.reduction.shares):
        assert share.rank < other.rank
    latest = max(share.came_s for share in second.reduction.shares)
    assert latest == second.reduction.arrivals.most


def test_another_rank_shows_its_own_gradients_with_those_of_all(
    ranks: EngineProcess, watched: tuple[list[Event], list[str]]
) -> None:
    heard: list[Event] = []
    ranks.send(LookAt(rank=1))  # type: ignore[arg-type]  # of the leader alone
    try:
        ranks.wait_for(Paused, timeout=PATIENCE_SECONDS, on_event=heard.append)
        for own, other in zip(records(watched[0]), records(heard), strict=True):
            for row, its_row in zip(reductions(own), reductions(other), strict=True):
                assert row.reduction is not None and its_row.reduction is not None
                assert row.reduction.shares == its_row.reduction.shares
                assert [grad and grad.value for grad in its_row.incoming] == [
                    grad and grad.value for grad in row.reduction.shares[1].grads
                ]
    finally:
        ranks.send(LookAt(rank=0))  # type: ignore[arg-type]  # as above


def test_hooks_of_the_program_joins_and_views_give_what_torch_alone_gives(
    ranks: EngineProcess, python: ProgramRuns, tmp_path: Path
) -> None:
    heard: list[Event] = []
    outcome = run(ranks, WAYS, heard)
    assert outcome.paused.outcome == "done", outcome.paused
    assert [len(reductions(one)) for one in records(heard)] == WAYS_BUCKETS
    told = of_ranks([line for printed in outcome.printed for line in printed.text.splitlines()])
    alone = by_torch(WAYS, python, tmp_path)
    assert all(len(lines) == WAYS_COUNT for lines in told)
    for rank in range(RANKS):
        for line, other in zip(told[rank], alone[rank], strict=True):
            assert line == other, line[:20]
