"""The leaves a live state holds: what Zero grad clears."""

from itertools import chain

import torch
from torch import Tensor, nn

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.value.view_state import is_leaf


def leaves_of(live: Live) -> list[Tensor]:
    """Every leaf that requires grad in the namespace, in modules and optimizers, and those watched."""
    found: dict[int, Tensor] = {id(leaf.tensor): leaf.tensor for leaf in live.gradients.leaves.values()}
    around = [one.around.namespace for one in live.calls[1:]]
    inside = [live.inside.namespace] if live.inside is not None else []
    for value in chain.from_iterable(names.values() for names in (live.namespace, *around, *inside)):
        for tensor in _tensors_in(value):
            if is_leaf(tensor) and (tensor.requires_grad or tensor.grad is not None):
                found[id(tensor)] = tensor
    return list(found.values())


def _tensors_in(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, nn.Module):
        return list(value.parameters())
    if isinstance(value, torch.optim.Optimizer):
        return [tensor for group in value.param_groups for tensor in group["params"]]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors_in(item)]
    return []
