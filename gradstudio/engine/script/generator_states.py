"""The states of the generators that belong to the process, not to a program: torch's, Python's, numpy's."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


class GeneratorStates:
    """What the generators would draw next."""

    def __init__(self) -> None:
        """Read them off; of devices only what was begun."""
        self._cpu = torch.get_rng_state()
        self._python, self._numpy = random.getstate(), np.random.get_state()
        self._devices = [(put, get()) for put, get in _accelerators()]

    def restore(self) -> None:
        """Let them draw the same once more."""
        torch.set_rng_state(self._cpu)
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        for put, state in self._devices:
            put(state)


def _accelerators() -> list[tuple[Callable[[Any], object], Callable[[], Any]]]:
    found: list[tuple[Callable[[Any], object], Callable[[], Any]]] = []
    if _is_begun(torch.cuda):
        found.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all))
    if _is_begun(torch.xpu):
        found.append((torch.xpu.set_rng_state_all, torch.xpu.get_rng_state_all))
    if torch.backends.mps.is_available():
        found.append((torch.mps.set_rng_state, torch.mps.get_rng_state))
    return found


def _is_begun(device: Any) -> bool:
    """Whether a program has used such a device."""
    return bool(device.is_available() and device.is_initialized())
