"""torch's errors about several processes of one program: pattern, explanation, fixes, example. Data."""

from gradstudio.advice.model import Rule

ON_SEVERAL = "Run it on several processes: Run ▸ On several processes…, or 'gradstudio run --processes 2'"
ALONE = """\
import torch
d = torch.distributed
d.init_process_group("gloo", store=d.HashStore(), rank=0, world_size=1)
try:
    {call}
finally:
    d.destroy_process_group()"""
"""A call in a group of one process."""
PROCESSES: tuple[Rule, ...] = (
    Rule(
        "one process alone",
        "ValueError",
        r"environment variable (?P<v>\w+) expected, but not set",
        "This joins the processes of one program, and the program runs in a single one: nothing says which of how many "
        "it is ({v}).",
        (ON_SEVERAL,),
        "import torch\ntorch.distributed.init_process_group('gloo')",
    ),
    Rule(
        "no process group",
        "",
        r"Default process group has not been initialized",
        "This needs other processes, and the program has not joined any.",
        ('Put torch.distributed.init_process_group("gloo") before it', ON_SEVERAL),
        "import torch\ntorch.distributed.all_reduce(torch.ones(2))",
    ),
    Rule(
        "list for all ranks",
        "",
        r"invalid (?:output|input) tensor list at index \d+ \(expected length (?P<n>\d+), got (?P<m>\d+)\)"
        r"|Incorrect (?:output|input) list size (?P<k>\d+)\. \w+ list size should be (?P<l>\d+)",
        "The list needs a tensor for each rank: {n}{l}, and it has {m}{k}.",
        ("Make the list of torch.distributed.get_world_size() tensors",),
        ALONE.format(call="d.all_gather([torch.ones(2)] * 2, torch.ones(2))"),
    ),
    Rule(
        "no rank is named",
        "ValueError",
        r"Must specify global_rank or group_rank",
        "This goes to one rank, or comes from one, and none is named.",
        ("Give dst, the rank that receives it, or src, the rank that it comes from: 0 is the first",),
        ALONE.format(call="d.send(torch.ones(2))"),
    ),
    Rule(
        "a rank with itself",
        "",
        r"(?:destination|source) rank should not be the same as the rank of the current process"
        r"|state_ >= CONNECTED.*Pair is not connected",
        "A rank sends to itself here, or waits for what it sends itself: processes are connected with others alone.",
        (
            "Name another rank in dst or src, as "
            "(torch.distributed.get_rank() + 1) % torch.distributed.get_world_size()",
            "Copy the tensor with clone() where it stays on its rank",
        ),
        ALONE.format(call="d.isend(torch.ones(2), 0)"),
    ),
)
OUTSIDE_MESH = Rule(
    "a rank outside of the mesh",
    "IndexError",
    r"^list index out of range$",
    "The mesh is smaller than the number of processes, and this process has no place in it.",
    (
        "Make a mesh of all processes: init_device_mesh with torch.distributed.get_world_size() as its size, or with "
        "sizes whose product is that",
        "Run on as many processes as the mesh has places",
    ),
    """\
import torch
from torch.testing._internal.distributed.fake_pg import FakeStore
d = torch.distributed
d.init_process_group("fake", store=FakeStore(), rank=1, world_size=2)
try:
    mesh = d.device_mesh.init_device_mesh("cpu", (1,))
    d.fsdp.fully_shard(torch.nn.Linear(2, 2), mesh=mesh)
finally:
    d.destroy_process_group()""",
)
