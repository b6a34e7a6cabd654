"""The states of the generators that belong to the process, torch's, Python's, numpy's, and of those of a loader."""

import random
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

NUMPY_KIND: Final = "MT19937"
OTHER: Final = "other"
"""Before the numbers of generators of devices, and of a program's own."""


class GeneratorStates:
    """What the generators would draw next."""

    def __init__(self, own: Iterable[torch.Generator] = ()) -> None:
        """Read them off, and `own` ones of a program; of devices only what was begun."""
        self._cpu = torch.get_rng_state()
        version, words, follows = random.getstate()
        self._python = (version, array("I", words), follows)  # a tuple of 625 numbers takes ten times as much
        self._numpy: Any = np.random.get_state()
        self._others = [(put, get()) for put, get in _accelerators()]
        self._others += [(one.set_state, one.get_state()) for one in own]

    def restore(self) -> None:
        """Let them draw the same once more."""
        torch.set_rng_state(self._cpu)
        version, words, follows = self._python
        random.setstate((version, tuple(words), follows))
        np.random.set_state(self._numpy)
        for put, state in self._others:
            put(state)

    def as_tensors(self) -> dict[str, Tensor]:
        """All of them, as a file keeps them."""
        _, words, follows = self._python
        python = [float("nan") if follows is None else follows]
        found = {
            "torch": self._cpu,
            "python": torch.tensor(words.tolist()),
            "python.next": torch.tensor(python).double(),
        }
        kind, keys, *rest = self._numpy
        if kind == NUMPY_KIND:
            found["numpy"] = torch.from_numpy(keys.astype(np.int64))
            found["numpy.rest"] = torch.tensor(rest, dtype=torch.float64)
        for number, (_, state) in enumerate(self._others):
            several = state if isinstance(state, list) else [state]
            found.update((f"{OTHER}.{number}.{place}", one) for place, one in enumerate(several))
        return found

    def with_tensors(self, kept: Mapping[str, Tensor]) -> "GeneratorStates":
        """These, but as they were kept; those of devices that were not there stay."""
        self._cpu = kept["torch"]
        follows = kept["python.next"].item()
        next_number = None if follows != follows else follows
        self._python = (self._python[0], array("I", kept["python"].tolist()), next_number)
        if "numpy" in kept:
            place, has_next, number = kept["numpy.rest"].tolist()
            keys = kept["numpy"].numpy().astype(np.uint32)
            self._numpy = (NUMPY_KIND, keys, int(place), int(has_next), number)
        self._others = [(put, _kept_like(state, kept, number)) for number, (put, state) in enumerate(self._others)]
        return self


def _kept_like(state: Any, kept: Mapping[str, Tensor], number: int) -> Any:
    """What was kept in place of a state."""
    if isinstance(state, list):
        return [kept.get(f"{OTHER}.{number}.{place}", one) for place, one in enumerate(state)]
    return kept.get(f"{OTHER}.{number}.0", state)


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
