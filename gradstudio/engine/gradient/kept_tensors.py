"""What is held only for showing: tensors of values that the program may have let go, and the gradients that came."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from gradstudio.engine.gradient.tensor_watch import Value

_STRIDED = torch.strided


class KeptTensors:
    """Counts them, and lets go of the oldest where they are more than there is room for.

    Attributes:
        grad_bytes: of the gradients; the program itself never holds those.
    """

    def __init__(self, budget: Callable[[], int]) -> None:
        """Nothing is held; `budget` says how many bytes may be, once there is something."""
        self.grad_bytes = 0
        self._budget = budget
        self._entries: dict[int, Value] = {}
        self._bytes, self._allowed = 0, -1

    def keep_tensor(self, value: Value, tensor: Tensor) -> None:
        """A value's own tensor is held from now on."""
        size = value.kept_bytes = tensor.nbytes if tensor.layout is _STRIDED and not tensor.is_nested else 0
        self._entries[2 * value.serial] = value
        self._bytes += size
        if self._bytes > self._allowed:
            self._make_room()

    def keep_grad(self, value: Value, grad: Tensor) -> None:
        """A gradient that came to a value is held from now on, and none before it."""
        entry = 2 * value.serial + 1
        if entry in self._entries:
            self._drop(entry)
        size = value.grad_bytes = grad.nbytes if grad.layout is _STRIDED and not grad.is_nested else 0
        self._entries[entry] = value
        self._bytes += size
        self.grad_bytes += size
        if self._bytes > self._allowed:
            self._make_room()

    def drop(self, value: Value) -> None:
        """Nothing of a value is held any more."""
        self._drop(2 * value.serial)
        self._drop(2 * value.serial + 1)

    def keep_only(self, values: Iterable[Value]) -> None:
        """Of all that is held keep what belongs to these."""
        before = self._entries
        entries = [(entry, value) for value in values for entry in (2 * value.serial, 2 * value.serial + 1)]
        self._entries = {entry: value for entry, value in entries if entry in before}
        self._bytes = sum([_counted(entry, value) for entry, value in self._entries.items()])
        self.grad_bytes = sum([value.grad_bytes for entry, value in self._entries.items() if entry % 2])

    def _make_room(self) -> None:
        if self._allowed < 0:
            self._allowed = self._budget()
        while self._bytes > self._allowed and len(self._entries) > 1:
            oldest, value = next(iter(self._entries.items()))
            self._drop(oldest)
            if oldest % 2:
                value.grad = value.told = None
            else:
                value.tensor = None

    def _drop(self, entry: int) -> None:
        value = self._entries.pop(entry, None)
        if value is None:
            return
        self._bytes -= _counted(entry, value)
        if entry % 2:
            self.grad_bytes -= value.grad_bytes


def _counted(entry: int, value: Value) -> int:
    return value.grad_bytes if entry % 2 else value.kept_bytes
