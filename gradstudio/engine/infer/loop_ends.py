"""What a loop goes over, before a run: its first, second and last element; of a loader stand-ins for its batches."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader, Subset, TensorDataset, default_collate

from gradstudio.engine.script.compiled_steps import Head


def ends_of(over: Any, head: Head, names: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first, second and last element gone over; () when there is none, None when only a run tells.

    Args:
        over: what the loop's head gives.
        head: of the loop; `names` what stands under each name before it.
    """
    loader = names.get(head.loader) if head.loader else None
    if type(loader) is DataLoader and (over is loader or isinstance(over, enumerate)):
        batches = _batches(loader)
        return tuple(enumerate(batches)) if batches is not None and over is not loader else batches
    if not isinstance(over, range | list | tuple):
        return None
    return tuple(over) if len(over) <= 3 else (over[0], over[1], over[-1])


def _batches(loader: "DataLoader[Any]") -> tuple[Any, ...] | None:
    """Of rows of known tensors; the last batch may be smaller. None of any other data."""
    dataset: Any = loader.dataset
    while type(dataset) is Subset:
        dataset = dataset.dataset
    size = loader.batch_size
    if type(dataset) is not TensorDataset or size is None or loader.collate_fn is not default_collate:
        return None
    chosen = loader.dataset
    assert isinstance(chosen, Subset | TensorDataset)
    whole, rest = divmod(len(chosen), size)
    sizes = [size] * min(whole, 2) + ([rest] if rest and not loader.drop_last else [])
    return tuple([_rows(tensor, count) for tensor in dataset.tensors] for count in sizes)


def _rows(tensor: Tensor, count: int) -> Tensor:
    """So many rows, stacked as a loader stacks them."""
    return tensor[0].expand(count, *tensor.shape[1:]).clone()
