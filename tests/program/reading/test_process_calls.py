"""Collectives, wrappers and placements of torch.distributed, read as rows of the catalogue and printed as they were."""

import pytest

from gradstudio.graph.model import Graph, Node
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.text.code_records import FREE_PATH, PROCESSES
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Effect
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write

TEXT = """import torch
import torch.distributed.fsdp
import torch.distributed.tensor
import torch.distributed.tensor.parallel
from torch import nn

torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
x = torch.ones(3) * (rank + 1)
torch.distributed.all_reduce(x, op=torch.distributed.ReduceOp.MAX)
torch.distributed.broadcast(x, src=0)
parts = [torch.empty(3), torch.empty(3)]
torch.distributed.all_gather(parts, x)
torch.distributed.barrier()
net = nn.Linear(3, 4)
replica = nn.parallel.DistributedDataParallel(net)
y = replica(x)
sampler = torch.utils.data.DistributedSampler(x, shuffle=False)
sampler.set_epoch(1)
torch.distributed.fsdp.fully_shard(net)
mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
parted = [torch.distributed.tensor.Shard(0)]
whole = torch.distributed.tensor.distribute_tensor(x, mesh, parted)
z = whole.full_tensor()
style = torch.distributed.tensor.parallel.ColwiseParallel()
torch.distributed.tensor.parallel.parallelize_module(net, mesh, style)
torch.distributed.destroy_process_group()
"""
ASYNC = """import torch

x = torch.ones(3)
work = torch.distributed.all_reduce(x, async_op=True)
work.wait()
sender = torch.distributed.recv(x)
"""
SHORT = """import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

net = nn.Linear(3, 4)
fully_shard(net)
x = torch.ones(3)
dist.all_reduce(x)
"""


def read(text: str) -> Graph:
    return read_script(text, keeps_code=True).graph


def nodes(graph: Graph, key: str) -> list[Node]:
    return [node for node in graph.nodes.values() if node.operator == key]


def test_every_call_has_its_row_and_is_printed_as_it_stands() -> None:
    graph = read(TEXT)
    assert not nodes(graph, FREE_PATH) and not nodes(graph, "python.code")
    assert write(graph).code == TEXT
    assert nodes(graph, "torch.distributed.all_reduce")[0].literals == {"op": "torch.distributed.ReduceOp.MAX"}


def test_what_a_row_has_not_stays_a_call_that_may_do_anything() -> None:
    graph = read(ASYNC)
    assert write(graph).code == ASYNC
    assert [node.literals["name"] for node in nodes(graph, FREE_PATH)] == [
        '"torch.distributed.all_reduce"',
        '"torch.distributed.recv"',
    ]


def test_what_is_imported_by_itself_is_the_same_row() -> None:
    graph = read(SHORT)
    assert [node.operator for node in graph.nodes.values()] == [
        "torch.nn.Linear",
        "torch.distributed.fsdp.fully_shard",
        "torch.ones",
        "torch.distributed.all_reduce",
    ]
    assert "import torch.distributed.fsdp\n" in write(graph).code


UNKNOWN = SHORT.replace("import fully_shard", "import MixedPrecisionPolicy, fully_shard").replace(
    "fully_shard(net)", "fully_shard(net, mp_policy=MixedPrecisionPolicy())"
)


def test_an_import_of_what_has_no_row_is_kept_with_all_that_it_brings() -> None:
    graph = read(UNKNOWN)
    assert "from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard" in write(graph).code
    assert "fully_shard(net, mp_policy=MixedPrecisionPolicy())" in write(graph).code


PARTS = SHORT.replace("from torch.distributed.fsdp import fully_shard", "import torch.distributed.fsdp").replace(
    "fully_shard(net)", "net.policy = torch.distributed.fsdp.MixedPrecisionPolicy()"
)


def test_a_module_is_imported_where_something_else_of_it_is_read() -> None:
    assert "import torch.distributed.fsdp\n" in write(read(PARTS)).code


@pytest.mark.parametrize("key", sorted(PROCESSES))
def test_every_row_keeps_its_place_and_names_what_it_writes_into(key: str) -> None:
    row = load()[key]
    assert Effect.CODE in row.effects
    assert all(row.parameter(name) is not None for name in row.writes)
    assert row.summary and row.words


def test_rows_that_need_a_yes_are_those_of_the_category() -> None:
    assert {row.key for row in load() if row.category == "Distributed"} == PROCESSES


def test_what_a_collective_writes_into_is_what_its_card_stands_for() -> None:
    graph = read(TEXT)
    (node,) = nodes(graph, "torch.distributed.all_gather")
    row = row_of(graph, node)
    assert row is not None and row.writes == ("tensor_list",) and not row.results
