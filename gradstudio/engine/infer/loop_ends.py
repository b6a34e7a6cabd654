"""What a loop goes over, before a run: its first, second and last element; of a loader stand-ins for its batches."""

from collections.abc import Mapping, Sized
from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader, Subset, TensorDataset, default_collate

from gradstudio.engine.meta.inference_results import UNKNOWN
from gradstudio.engine.script.compiled_steps import Head, Step


def ends_of(over: Any, head: Head, names: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first, second and last element gone over; () when there is none, None when only a run tells.

    Args:
        over: what the loop's head gives.
        head: of the loop; `names` what stands under each name before it.
    """
    name = head.loader if head.maker is None else head.maker.counts
    loader = names.get(name) if name else None
    if type(loader) is DataLoader and (over is loader or head.maker is not None or isinstance(over, enumerate)):
        batches = _batches(loader)
        if batches is None or over is loader:
            return batches
        first = _first_number(over, head.maker)
        return tuple([(UNKNOWN if first is None else first + place, batch) for place, batch in enumerate(batches)])
    if not isinstance(over, range | list | tuple):
        return None
    return tuple(over) if len(over) <= 3 else (over[0], over[1], over[-1])


def _first_number(over: Any, maker: Step | None) -> int | None:
    """What `enumerate` begins to count at; None where only a run tells."""
    if maker is None:
        number = over.__reduce__()[1][1]
        return number if isinstance(number, int) else None
    text = dict(maker.statement.inputs).get("start", "0")
    return int(text) if text.isdecimal() else None


def _batches(loader: "DataLoader[Any]") -> tuple[Any, ...] | None:
    """Of rows of known tensors; the last batch may be smaller. None of any other data."""
    dataset: Any = loader.dataset
    while type(dataset) is Subset:
        dataset = dataset.dataset
    size = loader.batch_size
    if type(dataset) is not TensorDataset or size is None or loader.collate_fn is not default_collate:
        return None
    if not isinstance(loader.sampler, Sized):
        return None
    whole, rest = divmod(len(loader.sampler), size)
    sizes = [size] * min(whole, 2) + ([rest] if rest and not loader.drop_last else [])
    return tuple([_rows(tensor, count) for tensor in dataset.tensors] for count in sizes)


def _rows(tensor: Tensor, count: int) -> Tensor:
    """So many rows, stacked as a loader stacks them."""
    return tensor[0].expand(count, *tensor.shape[1:]).clone()
