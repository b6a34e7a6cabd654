"""Versions of the packages that are installed, and the devices that an engine has."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.errors import EngineDied
from gradstudio.protocol.messages.events import Device

Json = dict[str, Any]
OF_KERNEL = ("Landlock", "seccomp")
"""Walls that not every system offers."""


def engine_info() -> Json:
    """Versions and devices as the engine has them."""
    names = ("torch", "numpy", "PySide6-Essentials", "networkx", "pyqtgraph", "msgspec", "safetensors", "psutil")
    facts: Json = {name: installed_version(name) for name in names}
    facts["catalogue"] = f"{len(catalogue.load())} operators of torch {catalogue.load().torch_version}"
    try:
        with EngineProcess() as engine:
            hello = engine.wait_until_ready()
    except EngineDied as error:
        return {**facts, "engine": str(error)}
    facts |= {"torch": hello.torch, "devices": [device_text(d) for d in hello.devices]}
    facts |= {"walls": list(hello.walls), "not used": [name for name in OF_KERNEL if name not in hello.walls]}
    return {**facts, "absent": list(hello.absent)} if hello.absent else facts


def catalogue_notice() -> str:
    """A sentence when torch is installed in another version than the catalogue was made from, else ""."""
    made, installed = catalogue.load().torch_version, str(installed_version("torch")).partition("+")[0]
    if installed == made or not installed[:1].isdigit():
        return ""
    lacks = "gradstudio info tells what it lacks."
    return f"The operators are those of torch {made}; torch {installed} is installed: {lacks}"


def installed_version(name: str) -> str:
    """The version of a package, or that it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def device_text(device: Device) -> str:
    """Its name, title and memory."""
    size = f", {device.total_bytes / 2**30:.1f} GiB" if device.total_bytes else ""
    return f"{device.name} ({device.title}{size})"
