"""What autograd knows of a tensor, also where torch refuses to say, and without changing it by looking.

A view made under `no_grad` whose base was then written into with gradients has neither `grad_fn`
nor `is_leaf`: asking for them raises. Such a tensor is no leaf, and its node is not known.

A view that was made before its base required grad gets its node when it is next asked for `grad_fn` or
`is_leaf`, by torch or by us; until then torch refuses to write into it. So it is not asked.
"""

import torch
from torch import Tensor
from torch.autograd.graph import Node

_has_no_node = torch.ops.aten.is_leaf.default
"""What stands there now: unlike `Tensor.is_leaf` it brings nothing up to date."""


def grad_fn_of(tensor: Tensor) -> Node | None:
    """The autograd node that made the tensor; None for a leaf, where torch refuses, and where it has none yet."""
    try:
        return None if is_nodeless_view(tensor) else tensor.grad_fn
    except RuntimeError:
        return None


def is_leaf(tensor: Tensor) -> bool:
    """Whether it is a leaf; not where torch refuses to say."""
    if not (tensor._is_view() and tensor.requires_grad):
        return tensor.is_leaf
    base = tensor._base
    return bool(_has_no_node(tensor)) and (base is None or not base.requires_grad or base.is_leaf)


def is_nodeless_view(tensor: Tensor) -> bool:
    """Whether it is a view that requires grad because its base does, and has no node, or none yet."""
    if not (tensor._is_view() and tensor.requires_grad):
        return False
    base = tensor._base
    return base is not None and base.requires_grad and bool(_has_no_node(tensor))
