"""Sample arguments of rows on what is no tensor: storages, nodes of the graph, limits of dtypes, optimizers, states."""

import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Values = dict[str, Any]


def plain() -> Tensor:
    return torch.ones(3, dtype=torch.float64)


def leaf() -> Tensor:
    return torch.full((2,), 0.5, dtype=torch.float64, requires_grad=True)


def node(operation: Callable[[Tensor], Tensor]) -> Callable[[], Any]:
    return lambda: operation(leaf()).grad_fn


def accumulator() -> Any:
    first: Any = (leaf() * 2).grad_fn
    return first.next_functions[0][0]


def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([leaf()], lr=0.1, momentum=0.9)


def view() -> Tensor:
    return (leaf() * 2).view(1, 2)


def chain() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 2))


def modules() -> nn.Module:
    return nn.ModuleList([nn.Linear(2, 2)])


LEGACY = {
    "Double": torch.float64, "Float": torch.float32, "Half": torch.float16, "BFloat16": torch.bfloat16,
    "Long": torch.int64, "Int": torch.int32, "Short": torch.int16, "Char": torch.int8, "Byte": torch.uint8,
    "Bool": torch.bool,
}  # fmt: skip
SCALER = "torch.amp.GradScaler"
NODE, STORAGE, STATE = "torch.autograd.graph.Node.", "torch.UntypedStorage.", "builtins.dict."


def of_dtype(dtype: torch.dtype) -> Callable[[], tuple[Tensor]]:
    """A tensor of the dtype itself, whose memory the constructor takes over."""
    made = torch.ones(2, dtype=dtype)
    return lambda: (made.requires_grad_(dtype.is_floating_point),)


def rows() -> torch.utils.data.Dataset[Any]:
    return torch.utils.data.TensorDataset(torch.arange(4.0), torch.arange(4))


def some_rows() -> torch.utils.data.Dataset[Any]:
    return torch.utils.data.Subset(rows(), [0, 2])


def loader() -> torch.utils.data.DataLoader[Any]:
    return torch.utils.data.DataLoader(rows(), batch_size=2)


def saved() -> io.BytesIO:
    file = io.BytesIO()
    torch.save(plain(), file)
    file.seek(0)
    return file


DATA = "torch.utils.data."
SAMPLES: dict[str, Values] = {
    f"{DATA}TensorDataset": {"tensors": lambda: (plain(), plain())},
    f"{DATA}Subset": {"dataset": rows, "indices": [0, 2]},
    f"{DATA}ConcatDataset": {"datasets": lambda: [rows(), some_rows()]},
    f"{DATA}random_split": {"dataset": rows, "lengths": [3, 1]},
    f"{DATA}DataLoader": {"dataset": rows},
    f"{DATA}SequentialSampler": {"data_source": rows},
    f"{DATA}RandomSampler": {"data_source": rows},
    f"{DATA}SubsetRandomSampler": {"indices": [0, 2]},
    f"{DATA}WeightedRandomSampler": {"weights": [0.5, 1.0]},
    f"{DATA}BatchSampler": {"sampler": lambda: torch.utils.data.SequentialSampler(range(3))},
    f"{DATA}default_collate": {"batch": lambda: [plain(), plain()]},
    f"{DATA}DataLoader.dataset": {"self": loader},
    f"{DATA}DataLoader.batch_size": {"self": loader},
    f"{DATA}TensorDataset.tensors": {"self": rows},
    f"{DATA}Subset.indices": {"self": some_rows},
    f"{DATA}Subset.dataset": {"self": some_rows},
    "torch.save": {"obj": plain, "f": io.BytesIO},
    "torch.load": {"f": saved},
    "torch.Tensor": {"data": of_dtype(torch.float32)},
    **{f"torch.{word}Tensor": {"data": of_dtype(dtype)} for word, dtype in LEGACY.items()},
    "torch.Tensor._base": {"self": view},
    **{f"torch.finfo.{word}": {"self": lambda: torch.finfo(torch.float32)} for word in
       ("max", "min", "eps", "tiny", "smallest_normal", "resolution", "bits", "dtype")},
    **{f"torch.iinfo.{word}": {"self": lambda: torch.iinfo(torch.int32)} for word in ("max", "min", "bits", "dtype")},
    **{f"torch.device.{word}": {"self": lambda: torch.device("cpu")} for word in ("type", "index")},
    "torch.Size.numel": {"self": lambda: torch.Size([2, 3])},
    **{f"{STORAGE}{word}": {"self": lambda: plain().untyped_storage()} for word in
       ("data_ptr", "nbytes", "size", "tolist")},
    **{f"{NODE}{word}": {"self": node(torch.sin)} for word in
       ("name", "next_functions", "_saved_self")},
    f"{NODE}variable": {"self": accumulator},
    f"{NODE}_saved_other": {"self": node(lambda x: x * plain()[:2])},
    f"{NODE}_saved_result": {"self": node(torch.exp)},
    f"{NODE}_saved_exponent": {"self": node(lambda x: x**2)},
    **{f"torch.nn.Sequential.{word}": {"self": chain} for word in ("append", "insert")},
    "torch.nn.Sequential.extend": {"self": chain, "sequential": chain},
    **{f"torch.nn.ModuleList.{word}": {"self": modules} for word in ("append", "insert", "extend")},
    "torch.nn.Module.register_parameter": {"param": lambda: nn.Parameter(plain())},
    **{f"torch.optim.Optimizer.{word}": {"self": optimizer} for word in ("param_groups", "defaults", "state")},
    **{f"{SCALER}.{word}": {"self": lambda: torch.amp.GradScaler("cpu")} for word in ("get_scale", "is_enabled")},
    f"{SCALER}.scale": {"self": lambda: torch.amp.GradScaler("cpu"), "outputs": leaf},
    **{f"{SCALER}.{word}": {"self": lambda: torch.amp.GradScaler("cpu", enabled=False), "optimizer": optimizer}
       for word in ("unscale_", "step")},
    f"{SCALER}.update": {"self": lambda: torch.amp.GradScaler("cpu", enabled=False)},
    **{f"{STATE}{word}": {"self": lambda: chain().state_dict()} for word in ("keys", "values", "items")},
}  # fmt: skip

OF_INSTANCES = frozenset(
    {f"torch.optim.Optimizer.{word}" for word in ("param_groups", "defaults", "state")}
    | {f"{DATA}{word}" for word in ("DataLoader.dataset", "DataLoader.batch_size", "TensorDataset.tensors")}
    | {f"{DATA}Subset.{word}" for word in ("indices", "dataset")}
    | {f"{NODE}{word}" for word in ("variable", "_saved_self", "_saved_other", "_saved_result", "_saved_exponent")}
)
"""Attributes that only an instance has, not its class."""
NEEDS_CUDA = frozenset(f"torch.cuda.{word}" for word in ("get_device_name", "synchronize", "current_device"))
