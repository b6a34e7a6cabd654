"""How much memory there is for a program, on whatever device."""

from pathlib import Path

import psutil
import torch

_CONTAINER_LIMITS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def free_bytes(device: torch.device) -> int | None:
    """Bytes that can still be allocated on the device; None where nobody knows (meta).

    On an accelerator what torch has reserved and not handed out counts as free.
    """
    if device.type == "cpu":
        available = int(psutil.virtual_memory().available)
        return min([available, *(limit - used for limit, used in _containers())])
    if device.type in ("cuda", "xpu"):
        free, _ = torch.accelerator.get_memory_info(device)
        return int(free) + torch.accelerator.memory_reserved(device) - torch.accelerator.memory_allocated(device)
    if device.type == "mps":
        return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    return None


def memory_limit(total: int) -> int:
    """`total`, or the container's limit when that is lower; bytes."""
    return min([total, *(limit for limit, _ in _containers())])


def _containers() -> list[tuple[int, int]]:
    """(limit, used) of the control groups that limit us, files that can be dropped not counted as used."""
    found = []
    for folder, limit, used in _CONTAINER_LIMITS:
        try:
            in_use = int((Path(folder) / used).read_text()) - _droppable(Path(folder) / "memory.stat")
            found.append((int((Path(folder) / limit).read_text()), in_use))
        except (OSError, ValueError):
            continue
    return found


def _droppable(stat: Path) -> int:
    rows = (line.split() for line in stat.read_text().splitlines())
    return next((int(bytes_) for name, bytes_ in rows if name == "inactive_file"), 0)
