"""The hosts of this person, in a small file of its own among the settings; it holds command lines, and no secret."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Final

import msgspec

from gradstudio.document.atomic_write import read_private, write_private
from gradstudio.document.errors import CannotSave
from gradstudio.protocol.errors import BadHost
from gradstudio.protocol.messages.events import Device

FILE: Final = "hosts.json"
MOST_BYTES: Final = 1_000_000
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"
ENGINE: Final = "{engine}"
"""In a command line: where the start of the engine stands, as one word of a shell; behind it where this is missing."""


class Host(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A machine, a container or a job with a Python of its own.

    Attributes:
        name: what it is called here.
        destination: as `ssh` takes it, `[user@]host` or a name of its configuration; "" where `command` leads there.
        command: a line that ends in a process with two pipes: ``docker exec -i box``, ``srun -n1``, ``sh -c {engine}``.
        python: what starts Python there; for ssh a shell's text (``~/venv/bin/python``).
        devices: those that the last check found.
    """

    name: str
    destination: str = ""
    command: str = ""
    python: str = "python3"
    devices: tuple[Device, ...] = ()

    @property
    def where(self) -> str:
        """How it is reached, in a few words."""
        return f"ssh {self.destination}" if self.destination else self.command


class _Hosts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file holds."""

    hosts: tuple[Host, ...] = ()


def settings_folder() -> Path:
    """Where this person's settings are, as the window has it (`ui.state.settings`), without asking Qt."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "gradstudio"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Preferences" / "gradstudio"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "gradstudio"


class HostBook:
    """The hosts in a folder of settings; read anew each time, for the command line may have added one."""

    def __init__(self, folder: Path | None = None) -> None:
        """Kept in that folder; without one, where this person's settings are."""
        self.path = (folder or settings_folder()) / FILE

    def hosts(self) -> tuple[Host, ...]:
        """All of them, in the order in which they were added.

        Raises:
            BadHost: the file cannot be read, is none of ours, or others may write it.
        """
        try:
            found = msgspec.json.decode(read_private(self.path, MOST_BYTES), type=_Hosts).hosts
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, RecursionError) as error:  # also what msgspec refuses
            raise BadHost(f"{self.path} is not read, and no host is known by it: {error}") from error
        for host in found:
            _check(host)
        return found

    def find(self, name: str) -> Host:
        """The host of that name.

        Raises:
            BadHost: there is none; with the names there are.
        """
        hosts = self.hosts()
        for host in hosts:
            if host.name == name:
                return host
        names = ", ".join(host.name for host in hosts)
        known = f"Known are: {names}." if names else "None was added yet."
        raise BadHost(f"There is no host “{name}”. {known} Add it: gradstudio hosts add {name} [user@]host")

    def add(self, host: Host) -> None:
        """Keep a host.

        Raises:
            BadHost: its name is taken, it is none, or the file cannot be written.
        """
        _check(host)
        hosts = self.hosts()
        if any(other.name == host.name for other in hosts):
            raise BadHost(f"There is a host “{host.name}” already: gradstudio hosts remove {host.name} takes it away.")
        self._write((*hosts, host))

    def put(self, host: Host) -> None:
        """Keep what is known now of a host that is there.

        Raises:
            BadHost: as `add`.
        """
        self._write(tuple(host if other.name == host.name else other for other in self.hosts()))

    def remove(self, name: str) -> Host:
        """Forget a host.

        Raises:
            BadHost: there is none of that name, or the file cannot be written.
        """
        host = self.find(name)
        self._write(tuple(other for other in self.hosts() if other.name != name))
        return host

    def _write(self, hosts: tuple[Host, ...]) -> None:
        try:
            write_private(self.path, msgspec.json.format(msgspec.json.encode(_Hosts(hosts))))
        except (OSError, CannotSave) as error:
            raise BadHost(f"{self.path} could not be written: {error}") from error


def _check(host: Host) -> None:
    if not re.fullmatch(_NAME, host.name):
        raise BadHost(f"“{host.name}” is no name of a host: letters, digits, dots and dashes, 63 at most.")
    if bool(host.destination) == bool(host.command):
        raise BadHost(f"Say how “{host.name}” is reached: by [user@]host, or by --command, one of both.")
    if host.destination.startswith("-") or any(sign.isspace() for sign in host.destination):
        raise BadHost(f"“{host.destination}” is no destination of ssh: [user@]host, or a name of its configuration.")
    try:
        is_empty = not shlex.split(host.python) or (not host.destination and not shlex.split(host.command))
    except ValueError as error:
        raise BadHost(f"The line of “{host.name}” cannot be read: {error}") from error
    if is_empty:
        raise BadHost(f"“{host.name}” has an empty command.")
