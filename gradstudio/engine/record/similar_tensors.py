"""What makes a tensor like one that was there before a step, whose values are not kept."""

import torch
from torch import Tensor

from gradstudio.engine.bring.value_literals import literal, small_tensor


def similar(tensor: Tensor, before: Tensor | None) -> str:
    """An expression for a tensor of that shape; `before` is what it was, where its values are few."""
    is_plain = before is not None and before.layout is torch.strided and before.device.type == "cpu"
    small = small_tensor(before) if before is not None and is_plain and not before.is_quantized else None
    learns = tensor.requires_grad and tensor.grad_fn is None
    if small is not None:
        return f"{small[:-1]}, requires_grad=True)" if learns else small
    dtype = _dtype(tensor)
    if tensor.is_floating_point() or tensor.is_complex():
        return f"torch.randn({_shape(tensor)}{dtype}{', requires_grad=True' if learns else ''})"
    return f"torch.zeros({_shape(tensor)}{dtype})"


def similar_part(tensor: Tensor) -> str:
    """An expression for what a module keeps, the same for modules that are alike: a mask is one, a weight is random."""
    shape, dtype = _shape(tensor), _dtype(tensor)
    if tensor.requires_grad or tensor.layout is not torch.strided or tensor.is_quantized or not tensor.numel():
        return f"torch.randn({shape}{dtype})"
    value = tensor.detach()
    if value.dim() > 1 and value.numel() == value.shape[-1] * value.shape[-2]:
        square = value.reshape(value.shape[-2:])
        for word in ("tril", "triu"):
            if torch.equal(square, getattr(torch, word)(torch.ones_like(square))):
                view = f".view({shape})" if value.dim() > 2 else ""
                return f"torch.{word}(torch.ones({_shape(square)}{dtype})){view}"
    first = value.reshape(-1)[0]
    if bool((value == first).all()):
        return f"torch.full({shape}, {literal(first.item())}{dtype})"
    if not (value.is_floating_point() or value.is_complex()):
        return f"torch.zeros({shape}{dtype})"
    return f"torch.randn({shape}{dtype})"


def _shape(tensor: Tensor) -> str:
    return literal(tuple(tensor.shape))


def _dtype(tensor: Tensor) -> str:
    return "" if tensor.dtype == torch.get_default_dtype() else f", dtype={tensor.dtype}"
