"""Inputs: a tensor of a sample taken apart into dense stored ones, and the calls that put it together again."""

from typing import Any

import torch
from torch import Tensor

from tools.conformance.plan import BEFORE, Input, PartRef, Unplanned

_COMPRESSED = {
    torch.sparse_csr: ("torch.sparse_csr_tensor", "crow_indices", "col_indices"),
    torch.sparse_csc: ("torch.sparse_csc_tensor", "ccol_indices", "row_indices"),
    torch.sparse_bsr: ("torch.sparse_bsr_tensor", "crow_indices", "col_indices"),
    torch.sparse_bsc: ("torch.sparse_bsc_tensor", "ccol_indices", "row_indices"),
}


def take_apart(tensor: Tensor, *, whole: bool = False) -> Input:
    """The tensor as a leaf, and how to make an equal one out of stored tensors.

    Args:
        tensor: of any layout and strides.
        whole: what lies around it in its memory matters as well (``as_strided``).

    Raises:
        Unplanned: it is of a kind that no document stores.
    """
    requires_grad = tensor.requires_grad
    with torch.no_grad():
        leaf = tensor.detach()
        parts, steps = _parts(leaf) if not whole else _in_whole_memory(leaf)
    leaf = leaf.requires_grad_(requires_grad)
    return Input(leaf, parts, steps, requires_grad)


def _parts(tensor: Tensor) -> tuple[list[Tensor], list[Any]]:
    if tensor.is_quantized or tensor.is_nested or tensor.is_meta or type(tensor) not in (Tensor, torch.nn.Parameter):
        raise Unplanned(f"a {type(tensor).__name__} that is quantized, nested or of a class of its own")
    if tensor.layout is torch.strided:
        return _strided(tensor)
    if tensor.layout is torch.sparse_coo:
        indices, values = tensor._indices(), tensor._values()
        step = (
            "torch.sparse_coo_tensor",
            (PartRef(0), PartRef(1), tuple(tensor.shape)),
        )
        return [_frozen(indices), _frozen(values)], [step]
    if tensor.layout in _COMPRESSED:
        path, outer, inner = _COMPRESSED[tensor.layout]
        parts = [_frozen(getattr(tensor, outer)()), _frozen(getattr(tensor, inner)()), _frozen(tensor.values())]
        return parts, [(path, (PartRef(0), PartRef(1), PartRef(2), tuple(tensor.shape)))]
    raise Unplanned(f"layout {tensor.layout}")


def _strided(tensor: Tensor) -> tuple[list[Tensor], list[Any]]:
    if tensor.is_conj():
        parts, steps = _strided(torch.conj(tensor))
        return parts, [*steps, ("torch.conj", (BEFORE,))]
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    steps: list[Any] = []
    base = tensor
    if tensor.stride() != _default_strides(tensor):
        span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)) if tensor.numel() else 0
        base = torch.as_strided(tensor, (span,), (1,), tensor.storage_offset())
        steps.append(("torch.as_strided", (BEFORE, tuple(tensor.shape), tuple(tensor.stride()))))
    return [_frozen(base)], steps


def _in_whole_memory(tensor: Tensor) -> tuple[list[Tensor], list[Any]]:
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    memory = torch.as_strided(tensor, (count,), (1,), 0)
    args = (BEFORE, tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())
    return [_frozen(memory)], [("torch.as_strided", args)]


def _frozen(tensor: Tensor) -> Tensor:
    return tensor.detach().clone(memory_format=torch.contiguous_format)


def _default_strides(tensor: Tensor) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(tensor.shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
