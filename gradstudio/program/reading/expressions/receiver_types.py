"""Whose methods and attributes a value has, as far as what made it tells: `torch.finfo(…)`, `grad_fn`, a scheduler."""

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator

_GIVES = {
    "torch.Tensor.untyped_storage": "torch.UntypedStorage",
    "torch.Tensor.storage": "torch.UntypedStorage",
    "torch.Tensor.grad_fn": "torch.autograd.graph.Node",
    "torch.Tensor.shape": "torch.Size",
    "torch.Tensor.size": "torch.Size",
    "torch.Tensor.device": "torch.device",
    "torch.nn.Module.state_dict": "builtins.dict",
    "torch.optim.Optimizer.state_dict": "builtins.dict",
    "torch.finfo": "torch.finfo",
    "torch.iinfo": "torch.iinfo",
    "numpy.finfo": "torch.finfo",
    "numpy.iinfo": "torch.iinfo",
    "torch.cuda.amp.GradScaler": "torch.amp.GradScaler",
}
LAST = ("torch.UntypedStorage", "torch.autograd.graph.Node", "torch.amp.GradScaler")
"""Whose methods a value may have that nothing is known of, behind all others."""


def owners_of(maker: Operator | None) -> tuple[str, ...]:
    """The types that what an operator makes is of, the nearest first; none where that is not known."""
    if maker is None:
        return ()
    if maker.path in _GIVES:
        return (_GIVES[maker.path],)
    return (maker.path,) if maker.face is Face.CONSTRUCTOR else ()


def attribute_of_made(maker: Operator | None, name: str) -> Operator | None:
    """The row that reads an attribute of what an operator makes; None when there is none of its own."""
    rows = (load().get(f"{owner}.{name}") for owner in owners_of(maker))
    return next((row for row in rows if row is not None and row.face is Face.ATTRIBUTE), None)
