"""A screen reader's view of a program: what is told on the accessibility bus (AT-SPI), read from outside by busctl."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

NEEDED = ("dbus-daemon", "busctl")
ACCESSIBLE = "org.a11y.atspi.Accessible"
ACTION = "org.a11y.atspi.Action"
SELECTED = 23
"""A bit of the states, as AT-SPI numbers them."""


def missing() -> list[str]:
    """The programs that a screen reader's bus needs and that are not installed."""
    return [name for name in NEEDED if not shutil.which(name)]


class Refused(AssertionError):
    """The bus, or who was asked on it, gave no answer."""


@dataclass(frozen=True)
class Told:
    """One thing as a screen reader meets it: who tells it on which bus, and where."""

    address: str
    owner: str
    path: str

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self._property("Name"))

    @property
    def description(self) -> str:
        """What is told of it besides."""
        return str(self._property("Description"))

    @property
    def role(self) -> str:
        """What it is."""
        return str(self._call(ACCESSIBLE, "GetRoleName")[0])

    @property
    def interfaces(self) -> list[str]:
        """What can be asked of it."""
        return [str(name) for name in self._call(ACCESSIBLE, "GetInterfaces")[0]]

    @property
    def is_selected(self) -> bool:
        """Whether it says that it is selected."""
        low, high = self._call(ACCESSIBLE, "GetState")[0]
        return bool((low | high << 32) >> SELECTED & 1)

    def children(self) -> list["Told"]:
        """What it holds."""
        return [Told(self.address, owner, path) for owner, path in self._call(ACCESSIBLE, "GetChildren")[0]]

    def press(self) -> bool:
        """Do the first thing that can be done with it."""
        return bool(self._call(ACTION, "DoAction", "i", "0")[0])

    def below(self, closed: tuple[str, ...] = ()) -> Iterator["Told"]:
        """It and everything in it, but not what is inside of things with these roles."""
        yield self
        if self.role not in closed:
            for child in self.children():
                yield from child.below(closed)

    def find(self, role: str, name: str, closed: tuple[str, ...] = ()) -> "Told":
        """The first with this role and name in it.

        Raises:
            Refused: there is none.
        """
        for each in self.below(closed):
            if each.name == name and each.role == role:
                return each
        raise Refused(f"no {role} {name!r} is told")

    def _call(self, interface: str, method: str, *arguments: str) -> list[Any]:
        return asked(self.address, "call", self.owner, self.path, interface, method, *arguments)

    def _property(self, name: str) -> object:
        return asked(self.address, "get-property", self.owner, self.path, ACCESSIBLE, name)


def asked(address: str, verb: str, *words: str) -> Any:
    """What busctl answers.

    Raises:
        Refused: nothing, and why.
    """
    command = ["busctl", f"--address={address}", "--json=short", verb, *words]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise Refused(f"{' '.join(words)}: {answer.stderr.strip()}")
    return json.loads(answer.stdout)["data"] if answer.stdout.strip() else []


class Bus:
    """A session bus of its own with an accessibility bus beside it, there while it is entered.

    Attributes:
        environment: what a program needs to speak there.
    """

    def __init__(self, folder: Path) -> None:
        """Its sockets stand in a folder; its path must be short."""
        self._folder, self._address = folder, ""
        self.environment: dict[str, str] = {}

    def __enter__(self) -> "Bus":
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self._folder)}
        command = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
        self._daemon = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._daemon.stdout is not None
        session = self._daemon.stdout.readline().strip()
        self.environment = {"DBUS_SESSION_BUS_ADDRESS": session, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
        try:
            words = ("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")
            self._address = asked(session, "call", *words)[0]
        except Refused:
            self._address = ""  # at-spi2-core is not installed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._daemon.terminate()
        self._daemon.wait()
        assert self._daemon.stdout is not None
        self._daemon.stdout.close()

    @property
    def has_readers(self) -> bool:
        """Whether there is an accessibility bus."""
        return bool(self._address)

    def programs(self) -> list[Told]:
        """The programs that speak there."""
        root = Told(self._address, "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        return root.children()
