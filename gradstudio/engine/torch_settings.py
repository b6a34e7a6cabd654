"""torch's settings that a program may change for the whole process, and how they are put back (semantics §9)."""

from typing import Any, NamedTuple

import numpy as np
import torch

_CUDNN = ("deterministic", "benchmark", "enabled", "allow_tf32")

_HERE = torch.device("cpu")
"""Where tensors are made by default: no device is set for that, as one that is looks at every call of torch."""


class Settings(NamedTuple):
    """What `set_default_dtype`, `set_printoptions` and their kin change; not whether gradients are recorded."""

    dtype: torch.dtype
    device: torch.device
    printing: dict[str, Any]
    threads: int
    deterministic: tuple[bool, bool]
    precision: str
    anomaly: tuple[bool, bool]
    cudnn: tuple[bool, bool, bool, bool]
    numpy_printing: dict[str, Any]

    def restore(self) -> None:
        """Set what is not so already."""
        now = settings()
        if now.dtype != self.dtype:
            torch.set_default_dtype(self.dtype)
        if self.device == _HERE:
            torch.set_default_device(None)
        elif now.device != self.device:
            torch.set_default_device(self.device)
        if now.printing != self.printing:
            torch.set_printoptions(**self.printing)  # type: ignore[no-untyped-call]  # torch has no types for it
        if now.threads != self.threads:
            torch.set_num_threads(self.threads)
        if now.deterministic != self.deterministic:
            torch.use_deterministic_algorithms(self.deterministic[0], warn_only=self.deterministic[1])
        if now.precision != self.precision:
            torch.set_float32_matmul_precision(self.precision)
        if now.anomaly != self.anomaly:
            torch.autograd.set_detect_anomaly(*self.anomaly)
        if now.cudnn != self.cudnn:
            for name, value in zip(_CUDNN, self.cudnn, strict=True):
                setattr(torch.backends.cudnn, name, value)
        if now.numpy_printing != self.numpy_printing:
            np.set_printoptions(**self.numpy_printing)


def settings() -> Settings:
    """The settings now."""
    options = torch._tensor_str.PRINT_OPTS
    names = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    return Settings(
        dtype=torch.get_default_dtype(),
        device=torch.get_default_device(),
        printing={name: getattr(options, name) for name in names},
        threads=torch.get_num_threads(),
        deterministic=(
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        precision=torch.get_float32_matmul_precision(),
        anomaly=(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        cudnn=tuple(getattr(torch.backends.cudnn, name) for name in _CUDNN),
        numpy_printing=dict(np.get_printoptions()),
    )
