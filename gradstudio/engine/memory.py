"""The memory plot: samples from a thread, on whatever device the program uses.

On a CPU torch has no allocator counter: "tensors" are the storages the program has named, weighed
when first seen and dropped when torch frees them; "process" is the resident size.
"""

import threading
import time
import weakref
from collections.abc import Callable

import psutil
import torch
from torch import Tensor

from gradstudio.protocol.message import Message
from gradstudio.protocol.messages import Memory


class LiveBytes:
    """Bytes of the CPU storages that were seen and are still there."""

    def __init__(self) -> None:
        """None seen yet."""
        self.total = 0
        self._storages: dict[int, tuple[weakref.ref[torch.UntypedStorage], int]] = {}

    def see(self, tensor: Tensor) -> None:
        """Count the tensor's storage, once however many views of it are seen."""
        if tensor.layout is not torch.strided or tensor.device.type != "cpu" or tensor.is_nested:
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        known = self._storages.get(key)
        if known is not None and known[0]() is storage:
            return
        size = storage.nbytes()
        self._storages[key] = (weakref.ref(storage, lambda gone: self._freed(key, gone)), size)
        self.total += size - (known[1] if known is not None else 0)

    def _freed(self, key: int, gone: "weakref.ref[torch.UntypedStorage]") -> None:
        known = self._storages.get(key)
        if known is not None and known[0] is gone:
            del self._storages[key]
            self.total -= known[1]


class MemorySampler:
    """Sends a `Memory` every so often while it is asked to."""

    def __init__(self, send: Callable[[Message], None], live: LiveBytes) -> None:
        """Sample nothing until `every` is called."""
        self._send, self._live = send, live
        self._process = psutil.Process()
        self._wanted = threading.Event()
        self._interval_s = 0.0
        self._thread: threading.Thread | None = None

    def every(self, milliseconds: int) -> None:
        """Sample that often; 0 stops it."""
        self._interval_s = max(milliseconds, 10) / 1000
        if milliseconds <= 0:
            self._wanted.clear()
            return
        self._wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="memory", daemon=True)
            self._thread.start()

    def mark(self, text: str) -> None:
        """Send one sample with a mark, if samples are wanted."""
        if self._wanted.is_set():
            self.sample(text)

    def sample(self, mark: str = "") -> None:
        """Send one sample of each device."""
        now = time.monotonic()
        series = {"tensors": self._live.total, "process": int(self._process.memory_info().rss)}
        self._send(Memory(time_s=now, device="cpu", series=series, mark=mark))
        for device, figures in accelerator_series().items():
            self._send(Memory(time_s=now, device=device, series=figures, mark=mark))

    def _loop(self) -> None:
        while True:
            self._wanted.wait()
            self.sample()
            time.sleep(self._interval_s)


def accelerator_series() -> dict[str, dict[str, int]]:
    """Allocated, reserved, peak and total bytes of each accelerator device that torch has begun to use."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator is None:
        return {}
    if accelerator.type == "mps":
        allocated, reserved = torch.mps.current_allocated_memory(), torch.mps.driver_allocated_memory()
        total = torch.mps.recommended_max_memory()
        return {"mps": {"allocated": allocated, "reserved": reserved, "total": total}}
    if not torch.get_device_module(accelerator.type).is_initialized():
        return {}
    return {f"{accelerator.type}:{i}": _series(accelerator.type, i) for i in range(torch.accelerator.device_count())}


def _series(kind: str, index: int) -> dict[str, int]:
    """Figures of torch's own allocator; the total is the device's, asked without waking it."""
    return {
        "allocated": torch.accelerator.memory_allocated(index),
        "reserved": torch.accelerator.memory_reserved(index),
        "peak": torch.accelerator.max_memory_allocated(index),
        "total": int(torch.get_device_module(kind).get_device_properties(index).total_memory),
    }
