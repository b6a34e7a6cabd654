"""Sample arguments of rows that reach other processes, and the group of one process that they are called in."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel

from gradstudio.operators.model import Operator

Values = dict[str, Any]
HOME = "torch.distributed."
ALONE: Values = {"backend": "gloo", "rank": 0, "world_size": 1}


def full(value: float) -> Callable[[], Tensor]:
    return lambda: torch.full((2,), value, dtype=torch.float64)


def listed(value: float) -> Callable[[], list[Tensor]]:
    return lambda: [full(value)()]


SAMPLES: dict[str, Values] = {
    f"{HOME}init_process_group": {**ALONE, "store": torch.distributed.HashStore},
    f"{HOME}get_node_local_rank": {"fallback_rank": 0},
    f"{HOME}broadcast": {"src": 0},
    f"{HOME}reduce": {"dst": 0},
    f"{HOME}all_gather": {"tensor_list": listed(0.0), "tensor": full(1.0)},
    f"{HOME}gather": {"tensor": full(1.0), "gather_list": listed(0.0)},
    f"{HOME}scatter": {"tensor": full(0.0), "scatter_list": listed(1.0)},
    f"{HOME}device_mesh.init_device_mesh": {"device_type": "cpu", "mesh_shape": (1,)},
    **{f"{HOME}{word}": {"output_tensor": full(0.0), "input_tensor": full(1.0)} for word in
       ("all_gather_single", "all_gather_into_tensor")},
    **{f"{HOME}{word}": {"output": full(0.0), "input": full(1.0)} for word in
       ("all_to_all_single", "reduce_scatter_single", "reduce_scatter_tensor")},
    f"{HOME}tensor.Shard": {"dim": 0},
    f"{HOME}tensor.parallel.parallelize_module": {"parallelize_plan": ColwiseParallel},
    "torch.utils.data.DistributedSampler": {"dataset": lambda: range(4)},
}  # fmt: skip
NEEDS_ANOTHER_PROCESS = frozenset(f"{HOME}{word}" for word in ("send", "recv"))
"""torch refuses a rank that sends to itself, or receives from itself."""

OWN_ALREADY = frozenset(f"{HOME}{word}" for word in ("all_reduce", "broadcast", "reduce"))
"""What a group of one process leaves as it was: the sum over one rank is that rank's tensor."""


@contextlib.contextmanager
def group_around(operator: Operator) -> Iterator[None]:
    """A group of this one process and its mesh, for a call that needs them; there is no group behind it."""
    if operator.category != "Distributed":
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.callback(leave)
        if operator.word != "init_process_group":
            torch.distributed.init_process_group(**ALONE, store=torch.distributed.HashStore())
            stack.enter_context(init_device_mesh("cpu", (1,)))
        yield


def leave() -> None:
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
