"""What stands in the `.grad` of leaves, as a checkpoint keeps it: a sparse gradient by its indices and values."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import torch
from torch import Tensor

DENSE: Final = "gradient."
INDICES: Final = "sparse.indices."
VALUES: Final = "sparse.values."
COALESCED: Final = "sparse.coalesced."
Leaves = Iterable[tuple[str, Tensor]]


def pack_gradients(leaves: Leaves) -> Iterator[tuple[str, Tensor]]:
    """The gradients of leaves as tensors that are not sparse, by the names under which a file has them."""
    for name, leaf in leaves:
        gradient = leaf.grad
        if gradient is None:
            continue
        if gradient.layout is torch.sparse_coo:
            yield f"{INDICES}{name}", gradient._indices()
            yield f"{VALUES}{name}", gradient._values()
            yield f"{COALESCED}{name}", torch.tensor(gradient.is_coalesced())
        else:
            yield f"{DENSE}{name}", gradient


def put_gradients_back(leaves: Leaves, tensors: Mapping[str, Tensor]) -> None:
    """Give leaves the gradients that a file has of them; none where it has none.

    Raises:
        RuntimeError: one is of another shape than its leaf.
        LookupError: a sparse one lacks its values.
    """
    for name, leaf in leaves:
        gradient = _gradient_of(name, leaf, tensors)
        if gradient is not None or leaf.grad is not None:
            leaf.grad = gradient.to(leaf.device) if gradient is not None else None


def _gradient_of(name: str, leaf: Tensor, tensors: Mapping[str, Tensor]) -> Tensor | None:
    if f"{INDICES}{name}" not in tensors:
        return tensors.get(f"{DENSE}{name}")
    is_coalesced = bool(tensors[f"{COALESCED}{name}"])
    return torch.sparse_coo_tensor(
        tensors[f"{INDICES}{name}"], tensors[f"{VALUES}{name}"], leaf.shape,
        is_coalesced=is_coalesced, check_invariants=True,
    )  # fmt: skip
