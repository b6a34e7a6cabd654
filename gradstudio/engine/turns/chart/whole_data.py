"""The data behind a loop over a loader: all rows, or some of many, in place of the batch of one turn."""

from typing import Any, Final

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Subset, TensorDataset

from gradstudio.engine.script.compiled_steps import Head

MOST_ROWS: Final = 1000


def variables_of(head: Head, namespace: dict[str, Any], most: int = MOST_ROWS) -> dict[str, Any]:
    """What the variables of a loop would be if one batch were all rows, at most so many.

    None where the data are not tensors in memory.
    """
    loader = namespace.get(head.loader) if head.loader else None
    rows = _rows(loader, most) if isinstance(loader, DataLoader) else None
    if rows is None:
        return {}
    element: Any = (0, rows) if head.block.iterable.startswith("enumerate") else rows
    if len(head.targets) == 1:
        return {head.targets[0]: element}
    return dict(zip(head.targets, element, strict=True)) if len(head.targets) == len(element) else {}


def _rows(loader: "DataLoader[Any]", most: int) -> list[Tensor] | None:
    """The tensors of a loader's data set, each with the same rows of it."""
    dataset, chosen = loader.dataset, None
    while isinstance(dataset, Subset):
        own = torch.as_tensor(dataset.indices)
        chosen = own if chosen is None else own[chosen]
        dataset = dataset.dataset
    if not isinstance(dataset, TensorDataset) or not len(dataset):
        return None
    chosen = torch.arange(len(dataset)) if chosen is None else chosen
    if len(chosen) > most:
        chosen = chosen[torch.linspace(0, len(chosen) - 1, most).long()]
    return [tensor[chosen.to(tensor.device)] for tensor in dataset.tensors]
