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
)
