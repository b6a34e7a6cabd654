"""What torch can compute on here."""

import platform

import psutil
import torch

from gradstudio.engine.device_memory import memory_limit
from gradstudio.protocol.messages.events import Device


def devices() -> tuple[Device, ...]:
    """The CPU, then every device of the accelerator torch was built for and finds."""
    found = [
        Device("cpu", platform.processor() or platform.machine() or "CPU", memory_limit(psutil.virtual_memory().total))
    ]
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if accelerator is not None:
        found.extend(_device(accelerator.type, index) for index in range(torch.accelerator.device_count()))
    return tuple(found)


def _device(kind: str, index: int) -> Device:
    if kind == "mps":
        return Device("mps", "Apple GPU", int(torch.mps.recommended_max_memory()))
    module = torch.get_device_module(kind)
    properties = module.get_device_properties(index)
    return Device(f"{kind}:{index}", str(properties.name), int(properties.total_memory))
