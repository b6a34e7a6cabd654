"""Devices that can be chosen, of a host; those of this machine stand before them."""

from typing import TYPE_CHECKING, NamedTuple

from gradstudio.ui.state.run.engine_line import EngineLine

if TYPE_CHECKING:
    from gradstudio.protocol.hosts.host_book import Host


class DeviceChoice(NamedTuple):
    """A device that can be chosen.

    Attributes:
        text: as it stands in a list.
        place: the name of its host; "": this machine.
        device: what the document's device becomes; "": it stays.
        tip: more words.
    """

    text: str
    place: str
    device: str
    tip: str


def choices_of(engine: EngineLine, host: "Host", wanted: str) -> list[DeviceChoice]:
    """Those of a host, as the engine knows them, if it is there, else as they were found; `wanted`: the document's."""
    is_chosen = host.name == engine.place
    devices = engine.devices if is_chosen and engine.ready else host.devices
    names = {"auto": "cuda where there is one, else the CPU"} if devices or is_chosen else {}
    names |= {device.name: device.title for device in devices}
    if is_chosen:
        names.setdefault(wanted, wanted)
    if not names:
        return [DeviceChoice(host.name, host.name, "", host.where)]
    return [
        DeviceChoice(text_there(host.name, name), host.name, name, f"{tip} · {host.where}")
        for name, tip in names.items()
    ]


def text_there(place: str, device: str) -> str:
    """A device of a host, as it stands in a list."""
    return f"{place} · {device}"
