"""The frames of a host, as they come and go, without what a window makes of them."""

import subprocess
from typing import IO, cast

from gradstudio.protocol.framing import encode
from gradstudio.protocol.hosts.engine_bundle import bundle_key
from gradstudio.protocol.hosts.far_frames import FarDecoder
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.hosts.host_command import start_command
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Event


class HostLine:
    """A line to a host.

    Attributes:
        process: what leads there.
        said: all that came, in order.
    """

    def __init__(self, host: Host, *options: str) -> None:
        pipe, command = subprocess.PIPE, start_command(host, bundle_key(), *options)
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0)
        self.decoder, self.said = FarDecoder(str), list[Event]()
        self._looked = 0

    def say(self, *messages: Message) -> None:
        self.write(b"".join(map(encode, messages)))

    def write(self, data: bytes) -> None:
        cast(IO[bytes], self.process.stdin).write(data)

    def hear(self, *kinds: type[Message]) -> Event:
        """The next of these kinds."""
        while True:
            while self._looked < len(self.said):
                self._looked += 1
                if isinstance(event := self.said[self._looked - 1], kinds):
                    return event
            data = cast(IO[bytes], self.process.stdout).read(1 << 20)
            assert data, "the host has ended"
            self.said += self.decoder.feed(data)

    def close(self) -> int:
        """End the line as whoever leaves does; the exit code."""
        self.process.communicate()
        return self.process.returncode

    def cut(self) -> None:
        """The line breaks: what leads there is killed."""
        self.process.kill()
        self.process.communicate()


def is_alive(process: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
