"""A place outside the program's modes, where the engine computes for itself (semantics §9)."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, ClassVar

import torch

_is_inference_mode = torch.is_inference_mode_enabled
_is_any_autocast: Callable[[], bool] = torch._C._is_any_autocast_enabled
_is_grad_enabled = torch.is_grad_enabled
_set_grad_enabled: Callable[[bool], object] = torch._C._set_grad_enabled


class clean_modes(AbstractContextManager[None]):  # noqa: N801 - used like torch.no_grad
    """Neither gradients nor inference mode nor autocast, whatever the paused program stands in.

    Only what is switched on is switched off: it is entered around every hook of a backward.
    """

    __slots__ = ("_grad", "_left")
    entered: ClassVar[list[None]] = []
    """As many as are entered; a warning that comes within is none of the program's."""

    def __enter__(self) -> None:
        """Leave the modes."""
        clean_modes.entered.append(None)
        self._left: Sequence[AbstractContextManager[Any]] = ()
        if _is_inference_mode():
            self._leave(torch.inference_mode(False))
        if _is_any_autocast():
            self._leave_autocast()
        self._grad = _is_grad_enabled()
        if self._grad:
            _set_grad_enabled(False)  # what `no_grad` does

    def __exit__(self, *_: object) -> None:
        """Enter them again."""
        clean_modes.entered.pop()
        if self._grad:
            _set_grad_enabled(True)
        if self._left:
            for context in reversed(self._left):
                context.__exit__(None, None, None)

    def _leave_autocast(self) -> None:
        for device_type in _device_types():
            if torch.is_autocast_enabled(device_type):
                self._leave(torch.autocast(device_type, enabled=False))

    def _leave(self, context: AbstractContextManager[Any]) -> None:
        context.__enter__()
        self._left = (*self._left, context)


@cache
def _device_types() -> tuple[str, ...]:
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return ("cpu",) if accelerator is None else ("cpu", accelerator.type)
