"""What autograd knows of a tensor, also where torch refuses to say.

A view made under `no_grad` whose base was then written into with gradients has neither `grad_fn`
nor `is_leaf`: asking for them raises. Such a tensor is no leaf, and its node is not known.
"""

from torch import Tensor
from torch.autograd.graph import Node


def grad_fn_of(tensor: Tensor) -> Node | None:
    """The autograd node that made the tensor; None for a leaf, and where torch refuses."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def is_leaf(tensor: Tensor) -> bool:
    """Whether it is a leaf; not where torch refuses to say."""
    try:
        return tensor.is_leaf
    except RuntimeError:
        return False
