"""The states of the generators that belong to the process, torch's, Python's, numpy's, and of those of a loader."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader


class GeneratorStates:
    """What the generators would draw next."""

    def __init__(self, own: Iterable[torch.Generator] = ()) -> None:
        """Read them off, and `own` ones of a program; of devices only what was begun."""
        self._cpu = torch.get_rng_state()
        self._python, self._numpy = random.getstate(), np.random.get_state()
        self._others = [(put, get()) for put, get in _accelerators()]
        self._others += [(one.set_state, one.get_state()) for one in own]

    def restore(self) -> None:
        """Let them draw the same once more."""
        torch.set_rng_state(self._cpu)
        random.setstate(self._python)
        np.random.set_state(self._numpy)
        for put, state in self._others:
            put(state)


def generators_of(loader: DataLoader[Any]) -> list[torch.Generator]:
    """The generators of a program that a loader, and what gives it its order, draw from."""
    samplers = (loader, loader.sampler, getattr(loader.batch_sampler, "sampler", None))
    found = (getattr(one, "generator", None) for one in samplers)
    return [one for one in found if isinstance(one, torch.Generator)]


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
