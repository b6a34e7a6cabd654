"""The memory plot: samples from a thread, on whatever device the program uses.

On a CPU torch has no allocator counter: "tensors" are the storages the program has named, weighed
when first seen and dropped when torch frees them; "gradients" and "optimizer" are `.grad` and optimizer
state (`training_bytes`); "kept" are recorded gradients, which are there only to be shown; "process" is
the resident size.
"""

import gc
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from functools import cache

import psutil
import torch
from torch import Tensor, nn

from gradstudio.engine.audit_wall import wall
from gradstudio.engine.memory.sample_filter import SampleFilter
from gradstudio.engine.value.lazy_modules import tensors_of
from gradstudio.engine.value.tensor_shards import held_part
from gradstudio.engine.value.value_records import device_name
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Memory

CPU = "cpu"
_STRIDED = torch.strided
NOBODY = ItemId("")


class Storage(weakref.ref[torch.UntypedStorage]):
    """A storage that was seen, as long as it is there.

    Attributes:
        key: torch's address of it.
        node: whose results brought it into being, at `step`; "" when not known.
    """

    __slots__ = ("device", "key", "node", "size_bytes", "step")
    key: int
    size_bytes: int
    device: str
    node: ItemId
    step: int


class LiveBytes:
    """The storages that were seen and are still there: each counted once, however many views of it are seen.

    What GradStudio alone still holds for showing is among them: only `memory_usage.memory_by_node` tells it apart.

    Attributes:
        step: the statement under way; what is let go now is let go behind it.
    """

    def __init__(self) -> None:
        """None seen yet."""
        self.step = 0
        self._total = 0
        self._freed: dict[ItemId, int] = {}
        self._gone: deque[Storage] = deque()
        self._storages: dict[int, Storage] = {}
        self._counts: dict[ItemId, int] = {}
        self._beyond_reach = 0

    @property
    def total(self) -> int:
        """Bytes of those on the CPU; any thread may ask."""
        if not self._gone:
            return self._total
        gone = list(self._gone)  # at once: the program's own thread may let go of more
        return self._total - sum([one.size_bytes for one in gone if one.device == CPU and self._is_counted(one)])

    @property
    def freed(self) -> dict[ItemId, int]:
        """Of nodes whose storages are all gone, the step behind which the last went."""
        self._settle()
        return self._freed

    def begin_step(self, step: int) -> None:
        """The statement of that number is under way."""
        if self._gone:
            self._settle()
        self.step = step

    def see(self, tensor: Tensor, node: ItemId = NOBODY, step: int = 0) -> int:
        """Count the tensor's storage; its bytes when it is new, else 0."""
        if tensor.layout is not _STRIDED or tensor.is_nested or tensor.is_meta:
            return 0
        storage = held_part(tensor).untyped_storage()
        return self.see_storage(storage, storage.nbytes(), device_name(tensor.device), node, step)

    def see_storage(self, storage: torch.UntypedStorage, size: int, device: str, node: ItemId, step: int) -> int:
        """Count a storage of `size` bytes; its bytes when it is new, else 0."""
        key, storages = storage._cdata, self._storages
        known = storages.get(key)
        if known is not None:
            if known() is storage:
                return 0
            self._forget(known)
        seen = storages[key] = Storage(storage, self._gone.append)
        seen.key, seen.size_bytes, seen.device, seen.node, seen.step = key, size, device, node, step
        if device == CPU:
            self._total += size
        counts = self._counts
        counts[node] = counts.get(node, 0) + 1
        if self._freed:
            self._freed.pop(node, None)
        return size

    def see_all(self, value: object, node: ItemId, step: int) -> int:
        """Count the storages of a result: a tensor, those in lists, a module's parameters and buffers; new bytes."""
        if isinstance(value, Tensor):
            return self.see(value, node, step)
        if isinstance(value, list | tuple):
            return sum(self.see_all(item, node, step) for item in value)
        if isinstance(value, nn.Module):
            return sum(self.see(tensor, node, step) for tensor in tensors_of(value))
        return 0

    def of(self, tensor: Tensor) -> Storage | None:
        """What is known of the tensor's storage."""
        is_strided = tensor.layout is torch.strided
        known = self._storages.get(held_part(tensor).untyped_storage()._cdata) if is_strided else None
        return known if known is not None and known() is not None else None

    def collect(self) -> None:
        """Nothing live holds a storage: what is still there is in a ring of references, unless it was there before.

        Python collects rings by how many objects there are, and a tensor is one, whatever its size.
        """
        self._settle()
        if len(self._storages) > self._beyond_reach:
            gc.collect()
            self._settle()
            self._beyond_reach = len(self._storages)

    def storages(self) -> list[tuple[int, Storage]]:
        """Every storage that is still there, by torch's address of it."""
        self._settle()
        return list(self._storages.items())

    def begin(self) -> None:
        """A run begins from nothing: steps count anew, and what older runs let go is no longer told."""
        self._settle()
        self.step = 0
        self._freed.clear()

    def _is_counted(self, one: Storage) -> bool:
        return self._storages.get(one.key) is one

    def _settle(self) -> None:
        """Count what is gone no more: Python notes it while tensors are let go, where each call of ours would cost."""
        gone = self._gone
        while gone:
            one = gone.popleft()
            if self._storages.get(one.key) is one:
                self._forget(one)

    def _forget(self, known: Storage) -> None:
        node = known.node
        del self._storages[known.key]
        if known.device == CPU:
            self._total -= known.size_bytes
        left = self._counts[node] - 1
        if left:
            self._counts[node] = left
        else:
            del self._counts[node]
            self._freed[node] = max(self.step, known.step)


class MemorySampler:
    """Sends a `Memory` every so often while it is asked to, seldom while all stays as it is."""

    def __init__(
        self,
        send: Callable[[Message], None],
        live: LiveBytes,
        beyond: Callable[[], dict[str, int]],
        beside: Callable[[], None] | None = None,
    ) -> None:
        """Sample nothing until `every` is called.

        Args:
            beyond: bytes by series that are held beyond those of `live`.
            beside: what else is looked at that often, on the same thread.
        """
        self._send = send
        self._live = live
        self._beyond = beyond
        self._beside = beside
        self._process = psutil.Process()
        self._wanted = threading.Event()
        self._interval_s = 0.0
        self._thread: threading.Thread | None = None
        self._filters: dict[str, SampleFilter] = {}
        self._sending = threading.Lock()  # the thread's samples and those with a mark come from two sides

    def every(self, milliseconds: int) -> None:
        """Sample that often; 0 stops it."""
        self._interval_s = max(milliseconds, 10) / 1000
        if milliseconds <= 0:
            self._wanted.clear()
            return
        with self._sending:
            self._filters.clear()
        self._wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="memory", daemon=True)
            self._thread.start()

    def mark(self, text: str) -> None:
        """Send one sample with a mark, if samples are wanted."""
        if self._wanted.is_set():
            self.sample(text)

    def sample(self, mark: str = "") -> None:
        """Send one sample of each device, where it says something new."""
        now = time.monotonic()
        series = {"tensors": self._live.total, **self._beyond(), "process": int(self._process.memory_info().rss)}
        found = {CPU: series, **accelerator_series()}
        with self._sending:
            for device, figures in found.items():
                chosen = self._filters.setdefault(device, SampleFilter())
                for one in chosen.pass_on(Memory(time_s=now, device=device, series=figures, mark=mark)):
                    self._send(one)

    def _loop(self) -> None:
        wall.free_this_thread()
        while True:
            self._wanted.wait()
            self.sample()
            if self._beside is not None:
                self._beside()
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


def allocated_bytes() -> tuple[int, ...]:
    """What torch's allocator has handed out on each accelerator device; () where there is none, or none in use."""
    kind = _accelerator()
    if kind == "":
        return ()
    if kind == "mps":
        return (torch.mps.current_allocated_memory(),)
    if not torch.get_device_module(kind).is_initialized():
        return ()
    return tuple(torch.accelerator.memory_allocated(i) for i in range(torch.accelerator.device_count()))


def alive_bytes(outputs: tuple[object, ...], seen: LiveBytes, allocated: tuple[int, ...]) -> int:
    """What is alive on the device of a statement's results: on a CPU what was seen, else the allocator's figure."""
    device = next((value.device for value in outputs if isinstance(value, Tensor)), None)
    if device is None or device.type == CPU or not allocated:
        return seen.total
    index = device.index or 0
    return allocated[index] if index < len(allocated) else 0


def has_accelerator() -> bool:
    """Whether torch has one."""
    return _accelerator() != ""


@cache
def _accelerator() -> str:
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return "" if found is None else found.type


def _series(kind: str, index: int) -> dict[str, int]:
    """Figures of torch's own allocator; the total is the device's, asked without waking it."""
    return {
        "allocated": torch.accelerator.memory_allocated(index),
        "reserved": torch.accelerator.memory_reserved(index),
        "peak": torch.accelerator.max_memory_allocated(index),
        "total": int(torch.get_device_module(kind).get_device_properties(index).total_memory),
    }
