"""Lazy modules: their parameters and buffers have no shape before the first call, and may not be looked at."""

from torch import Tensor, nn
from torch.nn.parameter import is_lazy


def parameters_of(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """Parameters by dotted name, as far as they have been made."""
    return [(name, tensor) for name, tensor in module.named_parameters() if not _is_lazy(tensor)]


def buffers_of(module: nn.Module) -> list[tuple[str, Tensor]]:
    """Buffers by dotted name, as far as they have been made."""
    return [(name, tensor) for name, tensor in module.named_buffers() if not _is_lazy(tensor)]


def tensors_of(module: nn.Module) -> list[Tensor]:
    """Parameters and buffers, as far as they have been made."""
    return [tensor for _, tensor in (*parameters_of(module), *buffers_of(module))]


def waits(module: nn.Module) -> bool:
    """Whether some of its tensors are made by the first call only."""
    return any(map(_is_lazy, (*module.parameters(), *module.buffers())))


def _is_lazy(tensor: Tensor) -> bool:
    return bool(is_lazy(tensor))
