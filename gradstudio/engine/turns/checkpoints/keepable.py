"""What no checkpoint keeps: told before it is touched, for the training is to go on."""

import sys
from collections.abc import Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from gradstudio.engine.errors import VerbRefused

NOT_STRIDED: Final = "'{name}' is {layout}, which no file keeps."
SHARED_OUT: Final = "'{name}' is a {kind}, whose parts lie in several processes: no checkpoint keeps that."
FREED: Final = "The memory of '{name}' was freed."


def require_own_module(name: str, part: object) -> None:
    """See that FSDP2 has no part in it: asked for its state, one rank alone would share out what others have gathered.

    Raises:
        VerbRefused: it has.
    """
    fsdp: Any = sys.modules.get("torch.distributed.fsdp")  # no program without it has such a module
    if fsdp is None or not isinstance(part, nn.Module):
        return
    if any(isinstance(one, fsdp.FSDPModule) for one in part.modules()):
        raise VerbRefused(SHARED_OUT.format(name=name, kind="module of FSDP2"))


def require_bytes(tensors: Mapping[str, Tensor]) -> None:
    """See that all have bytes of their own here, by names that begin with what they are.

    Raises:
        VerbRefused: one has none.
    """
    for name, one in tensors.items():
        if is_traceable_wrapper_subclass(one):
            raise VerbRefused(SHARED_OUT.format(name=name.partition(".")[2], kind=type(one).__name__))
        if one.layout is torch.strided and one.numel() and not one.untyped_storage().nbytes():
            raise VerbRefused(FREED.format(name=name.partition(".")[2]))  # reading it would end the process


def require_strided(tensors: Mapping[str, Tensor]) -> None:
    """See that all lie in memory element by element, by names that begin with what they are.

    Raises:
        VerbRefused: one does not.
    """
    for name, one in tensors.items():
        if one.layout is not torch.strided:
            raise VerbRefused(NOT_STRIDED.format(name=name.partition(".")[2], layout=one.layout))
