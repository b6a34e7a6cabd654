"""What FSDP2 shares out over real processes: each rank's own part, beside plain torch."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Event, Fetched, Traced
from gradstudio.protocol.messages.ranks import LookAt
from gradstudio.protocol.messages.records import ModuleRecord
from gradstudio.protocol.messages.requests import Fetch
from gradstudio.protocol.process_group import RUNS_CODE
from gradstudio.protocol.ranks.rank_command import leader_command
from gradstudio.protocol.report import entries_json
from tests.engine.test_distributed_programs import RANKS
from tests.engine.test_ranks import run
from tests.helpers import engine_forks
from tests.helpers.patience import PATIENCE_SECONDS
from tests.helpers.program_runs import ProgramRuns

PROGRAM = """import torch
import torch.distributed
from torch import nn, optim
from torch.distributed.fsdp import fully_shard

torch.distributed.init_process_group("gloo")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
fully_shard(net)
opt = optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(16.0).reshape(4, 4) / 10
for k in range(2):
    loss = (net(x) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
weight = net[0].weight
whole = weight.full_tensor()
"""
SHOWN = """
import json as _json
def _part(t):
    return {"value": t.to_local().tolist(), "shape": list(t.to_local().shape)}
_found = {name: [_part(p.detach()), _part(p.grad), list(p.shape)] for name, p in net.named_parameters()}
open(f"part{torch.distributed.get_rank()}.json", "w").write(_json.dumps([_found, whole.tolist()]))
torch.distributed.destroy_process_group()
"""


@pytest.fixture(scope="module")
def ranks() -> Iterator[EngineProcess]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        with engine_forks.everywhere(), EngineProcess(leader_command(RANKS, RUNS_CODE)) as engine:
            engine.wait_until_ready(PATIENCE_SECONDS)
            yield engine


@pytest.fixture(scope="module")
def by_torchrun(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], list[list[float]]]]:
    """Of each rank its parts by name, (value, gradient, shape of the whole), and the whole of one weight."""
    folder = tmp_path_factory.mktemp("torchrun")
    with ProgramRuns("torch.distributed.fsdp", "torch._dynamo") as python:
        python.as_ranks(PROGRAM + SHOWN, folder, RANKS)
    return [tuple(json.loads(Path(folder / f"part{rank}.json").read_text())) for rank in range(RANKS)]


def test_each_rank_shows_its_own_part_of_values_and_gradients(
    ranks: EngineProcess, by_torchrun: list[tuple[dict[str, Any], list[list[float]]]]
) -> None:
    try:
        for rank, (of_torch, whole) in enumerate(by_torchrun):
            ranks.send(LookAt(rank=rank))  # type: ignore[arg-type]  # of the leader alone
            nodes, _ = entries_json(run(ranks, PROGRAM).report, frozenset({"net", "weight", "whole"}))
            told = nodes["net"]["outputs"][0]["parameters"]
            assert told.keys() == of_torch.keys()
            for name, (value, grad, shape) in of_torch.items():
                one = told[name]
                assert (one["value"], one["grad"], one["shape"]) == (value["value"], grad["value"], shape)
                assert one["grad_state"] == "value"
                assert one["shard"]["placements"] == ["Shard(0)"] and one["shard"]["mesh"] == [RANKS]
                assert one["shard"]["shape"] == one["grad_shard"]["shape"] == value["shape"]
                assert one["ranks"]["count"] == RANKS and one["ranks"]["equal"] is None
            assert nodes["weight"]["outputs"][0]["value"] == of_torch["0.weight"][0]["value"]
            (gathered,) = nodes["whole"]["outputs"]
            assert gathered["value"] == whole and "shard" not in gathered and gathered["ranks"]["equal"]
    finally:
        ranks.send(LookAt(rank=0))  # type: ignore[arg-type]  # as above


def test_a_backward_and_a_step_are_told_of_the_parts_when_they_happen(ranks: EngineProcess) -> None:
    heard: list[Event] = []
    outcome = run(ranks, PROGRAM, heard)
    (net,) = [entry for entry in outcome.report.entries if entry.name == "net"]
    module = net.outputs[0]
    assert isinstance(module, ModuleRecord)
    storages = {parameter.storage for parameter in module.parameters.values()}
    rows = {row.step: row for event in heard if isinstance(event, Traced) for row in event.rows}
    written = [state.record for row in rows.values() for state in row.writes if state.storage in storages]
    assert sum(one.version == 1 for one in written) == len(storages), "each part is told behind the first step"
    assert all(one.summary.shard is not None for one in written)


@pytest.mark.parametrize("cut", [((0, 5), (0, 4)), ((1, 4), (2, 9)), ((3, 5), (0, 1)), ((7, 9), (0, 4))])
def test_the_whole_is_put_together_when_it_is_asked_for(
    ranks: EngineProcess,
    by_torchrun: list[tuple[dict[str, Any], list[list[float]]]],
    cut: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    entries = run(ranks, PROGRAM).report.entries
    (node,) = [entry.node for entry in entries if entry.name == "net"]
    rows, columns = cut
    ranks.send(Fetch(request=7, node=node, name="net.0.weight", rows=rows, columns=columns, whole=True))
    answer = ranks.wait_for(Fetched, timeout=PATIENCE_SECONDS)
    assert isinstance(answer, Fetched) and answer.request == 7 and not answer.error
    whole = by_torchrun[0][1]
    assert [list(row) for row in answer.values] == [row[slice(*columns)] for row in whole[slice(*rows)]]
    assert answer.shape == (5, 4)
