"""What was there before a step, as it was: a run of its drawing begins with these numbers, where they have room."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from gradstudio.engine.bring.value_literals import LARGEST_LITERAL

MOST_BYTES = 1 << 26
"""Of all that is kept of one step; a step with more is drawn without."""


class KeptValues:
    """Copies of layers' tensors, inputs and the state of random numbers, each made before the step uses it.

    Attributes:
        values: by identity of a tensor, what it was.
        random: the state of torch's random numbers on the CPU.
        is_whole: nothing was too large, and nothing was of a kind that is not kept; else only small ones are there.
        has_moments: an optimizer had learnt something before, which is not kept.
        has_gradients: the first backward added to gradients that were there, which are not kept.
    """

    def __init__(self) -> None:
        """Nothing is used yet."""
        self.values: dict[int, Tensor] = {}
        self.random = torch.get_rng_state()
        self.is_whole = True
        self.has_moments = self.has_gradients = False
        self._tensors: list[Tensor] = []
        self._goes_back = False
        self._bytes = 0

    def keep(self, tensors: Iterable[Tensor]) -> None:
        """These are about to be used."""
        for tensor in tensors:
            if id(tensor) not in self.values:
                self._keep(tensor)

    def drew(self) -> bool:
        """Whether random numbers were drawn since."""
        return not torch.equal(self.random, torch.get_rng_state())

    def look_at(self, optimizer: torch.optim.Optimizer) -> None:
        """It is about to be used for the first time."""
        states = list(optimizer.state.values())
        self.has_moments |= any(isinstance(one, Tensor) for state in states for one in state.values())

    def look_at_gradients(self) -> None:
        """A backward is about to add to them."""
        if not self._goes_back:
            self._goes_back = True
            self.has_gradients = any(map(_has_gradient, self._tensors))

    def _keep(self, tensor: Tensor) -> None:
        self._tensors.append(tensor)
        is_plain = _is_plain(tensor)
        if is_plain:
            self._bytes += tensor.numel() * tensor.element_size()
        self.is_whole &= is_plain and self._bytes <= MOST_BYTES
        if self.is_whole or tensor.numel() <= LARGEST_LITERAL:
            self.values[id(tensor)] = tensor.detach().clone()
        if not self.is_whole:
            self.values = {one: value for one, value in self.values.items() if value.numel() <= LARGEST_LITERAL}


def in_one(tensors: Iterable[Tensor], values: Mapping[int, Tensor]) -> Tensor | None:
    """What these were, one after the other in one vector; None where one is not known, or no dtype holds all."""
    known = [values.get(id(tensor)) for tensor in tensors]
    found = [value for value in known if value is not None]
    if not found or len(found) < len(known):
        return None
    floats = [value.dtype for value in found if value.is_floating_point()]
    for dtype in (*floats[:1], torch.float64):
        whole = torch.cat([value.reshape(-1).to(dtype) for value in found])
        parts = torch.split(whole, [value.numel() for value in found])
        if all(_holds(part, value) for part, value in zip(parts, found, strict=True)):
            return whole
    return None


def _holds(part: Tensor, value: Tensor) -> bool:
    return part.dtype == value.dtype or torch.equal(part.to(value.dtype), value.reshape(-1))


def _has_gradient(tensor: Tensor) -> bool:
    grad = tensor.grad if tensor.is_leaf else None
    return grad is not None and (not _is_plain(grad) or bool(grad.any()))


def _is_plain(tensor: Tensor) -> bool:
    if type(tensor) not in (Tensor, torch.nn.Parameter):
        return False
    return tensor.device.type == "cpu" and tensor.layout is torch.strided and not tensor.is_quantized
