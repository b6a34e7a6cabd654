"""Shapes around statements that reach other processes: told as far as they stand, and nothing is run."""

import pytest
import torch
import torch.distributed
from torch.utils.data import DataLoader, DistributedSampler

from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.inference import Infer, PortInference

TEXT = """import torch
import torch.distributed.fsdp
from torch import nn

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
count = torch.distributed.get_world_size()
x = torch.ones(3) * (rank + 1)
torch.distributed.all_reduce(x)
y = x * 2
parts = [torch.zeros(3), torch.zeros(3)]
torch.distributed.all_gather(parts, y)
both = torch.stack(parts)
every = torch.zeros(3 * count)
net = nn.Linear(3, 4)
replica = nn.parallel.DistributedDataParallel(net)
z = replica(y)
other = nn.Linear(3, 5)
torch.distributed.fsdp.fully_shard(other)
part = other(x)
"""


def found(text: str = TEXT) -> dict[str, PortInference]:
    graph = read_script(text, keeps_code=True).graph
    told = Inference().infer(Infer(revision=1, program=compile_graph(graph)), StoredTensors().load_file)
    names = {item: node.names[0] for item, node in graph.nodes.items() if node.names}
    return {names[port.node]: port for port in told.ports if port.node in names}


def test_what_a_collective_writes_into_and_a_wrapper_calls_keeps_its_shape() -> None:
    ports = found()
    shapes = {"x": (3,), "y": (3,), "both": (2, 3), "z": (4,), "part": (5,)}
    assert {name: ports[name].shape for name in shapes} == shapes
    assert not torch.distributed.is_initialized()


def test_what_hangs_on_the_number_of_ranks_is_known_after_a_run() -> None:
    assert found()["every"].known_after_run


SHARED_OUT = """import torch
from torch.utils.data import DataLoader, TensorDataset

torch.distributed.init_process_group("gloo")
data = TensorDataset(torch.randn(22, 3), torch.randn(22, 1))
sampler = torch.utils.data.DistributedSampler(data, shuffle=True)
share = max(1, 8 // torch.distributed.get_world_size())
loader = DataLoader(data, batch_size=share, sampler=sampler)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for xb, yb in loader:
        out = xb * 2
        seen = yb + 1
every = torch.zeros(3 * torch.distributed.get_world_size())
"""


def test_where_the_number_of_ranks_is_known_a_loader_gives_what_the_first_rank_gets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    ports = found(SHARED_OUT)
    sampler = DistributedSampler(range(22), 2, 0)
    first, *_ = DataLoader(torch.zeros(22, 3), batch_size=8 // 2, sampler=sampler)
    assert ports["out"].shape == tuple(first.shape) == (4, 3)
    assert ports["seen"].shape == (4, 1) and ports["every"].shape == (6,)


def test_where_nobody_has_said_how_many_ranks_there_are_batches_are_known_after_a_run() -> None:
    ports = found(SHARED_OUT)
    assert ports["sampler"].known_after_run and ports["out"].shape is None


def test_a_loader_of_as_many_rows_as_its_sampler_draws_has_no_batch_of_more() -> None:
    text = SHARED_OUT.replace("DistributedSampler(data, shuffle=True)", "RandomSampler(data, num_samples=3)")
    text = text.replace("max(1, 8 // torch.distributed.get_world_size())", "8").replace(
        "sampler.set_epoch(epoch)", "pass"
    )
    assert found(text)["out"].shape == (3, 3)
