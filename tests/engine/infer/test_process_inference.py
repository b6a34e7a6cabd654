"""Shapes around statements that reach other processes: told as far as they stand, and nothing is run."""

import torch.distributed

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


def found() -> dict[str, PortInference]:
    graph = read_script(TEXT, keeps_code=True).graph
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
