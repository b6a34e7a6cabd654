"""Where an engine that stays can be met: a Unix socket of its own folder, for its owner alone."""

import contextlib
import os
import selectors
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import FrameCutter, decoded, encode, framed
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.hosts.tensor_stock import OWNER, cache_folder
from gradstudio.protocol.messages.hosting import Ask, Join, Leave, PorterRequest, Stay, Staying

SOCKET: Final = "line"
OWNER_FILE: Final = 0o600
_REQUESTS: Final = msgspec.msgpack.Decoder(PorterRequest)


def meeting_folder() -> Path:
    """Where the folders of engines that stay are."""
    return cache_folder() / "kept"


def connect(name: str) -> socket.socket:
    """A connection to the engine of that name; the working directory is its folder then.

    Raises:
        OSError: there is none.
    """
    os.chdir(meeting_folder() / name)  # a path in full may be longer than the address of a socket
    made = socket.socket(socket.AF_UNIX)
    made.connect(SOCKET)
    return made


class MeetingPlace:
    """Listens for whoever comes.

    Attributes:
        stay: under which name.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        stay: Stay,
        answer: Callable[[], Staying],
        join: Callable[[Channel, Join], None],
        take: Callable[[bytes], None],
        end: Callable[[], None],
    ) -> None:
        """Be there from now on.

        Raises:
            OSError: the folder or its socket cannot be made.
        """
        self.stay = stay
        self._selector, self._answer, self._join, self._take, self._end = selector, answer, join, take, end
        self._folder = meeting_folder() / stay.name
        self._folder.mkdir(OWNER, parents=True)
        os.chdir(self._folder)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(SOCKET)
        os.chmod(SOCKET, OWNER_FILE)
        self._socket.listen()
        self._socket.setblocking(False)
        selector.register(self._socket, selectors.EVENT_READ, self._accept)

    def close(self) -> None:
        """Nobody is met here any more."""
        self._selector.unregister(self._socket)
        self._socket.close()
        with contextlib.suppress(OSError):
            (self._folder / SOCKET).unlink()
            self._folder.rmdir()

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:  # who came is gone
            return
        source = connection.detach()
        visitor, requests = Channel(self._selector, source, os.dup(source)), FrameCutter()

        def hear(data: bytes) -> None:
            try:
                bodies = list(requests.cut(data))
                for place, body in enumerate(bodies):
                    request = decoded(_REQUESTS, body)
                    self._meet(visitor, request)
                    if isinstance(request, Join):
                        self._take(b"".join(map(framed, bodies[place + 1 :])) + requests.take_rest())
                        return
            except BrokenFrame:
                data = b""
            if not data:
                visitor.hang_up()

        visitor.listen(hear)

    def _meet(self, visitor: Channel, request: PorterRequest) -> None:
        match request:
            case Join():
                self._join(visitor, request)
            case Ask():
                visitor.write(encode(self._answer()))
            case Leave():
                self._end()
            case _:
                raise BrokenFrame("A visitor begins with something else.")
