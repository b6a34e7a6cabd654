"""A place outside the program's modes, where the engine computes for itself (SEMANTICS 9)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch


@contextmanager
def neutral() -> Iterator[None]:
    """Neither gradients nor inference mode nor autocast, whatever the paused program stands in."""
    with ExitStack() as stack:
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        for device_type in _autocasting():
            stack.enter_context(torch.autocast(device_type, enabled=False))
        stack.enter_context(torch.no_grad())
        yield


def _autocasting() -> tuple[str, ...]:
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    kinds = ("cpu",) if accelerator is None else ("cpu", accelerator.type)
    return tuple(kind for kind in kinds if torch.is_autocast_enabled(kind))
