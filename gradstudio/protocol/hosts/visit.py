"""What a visitor does on a host, of engines that stay there: join one, list them, end one. Runs there."""

import contextlib
import os
import selectors
import shutil
import socket
import sys
from typing import Final

import msgspec

from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.hosts.host_failures import GONE, LET_GO
from gradstudio.protocol.hosts.left_record import forget_old_records, forget_record, hand_over, record_head
from gradstudio.protocol.hosts.meeting_place import connect, meeting_folder
from gradstudio.protocol.messages.hosting import Ask, Leave, Staying

ANSWER_S: Final = 5
_READ_BYTES: Final = 1 << 16


def visit(words: list[str]) -> int:
    """Carry out ``list``, ``join NAME`` or ``end NAME``; the exit code."""
    verb, *names = words
    if verb == "list":
        return _list()
    try:
        connection = connect(names[0])
    except OSError:
        found = forget_record(names[0]) if verb == "end" else hand_over(names[0])
        if not found:
            sys.stderr.write("No engine of that name stays here; it has ended.\n")
        return 0 if found and verb == "end" else GONE
    if verb == "end":
        connection.settimeout(ANSWER_S)
        with contextlib.suppress(OSError):
            connection.sendall(encode(Leave()))
            connection.recv(_READ_BYTES)  # its end
        return 0
    _join(connection)
    return LET_GO if _is_met(names[0]) else GONE


def _list() -> int:
    folder = meeting_folder()
    forget_old_records()
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        if (found := _ask(name)) is not None:
            sys.stdout.write(f"{msgspec.json.encode(found).decode()}\n")
    sys.stdout.flush()
    return 0


def _ask(name: str) -> Staying | None:
    """What one says, or its record; what was left by one that was killed is taken away."""
    if (head := record_head(name)) is not None:
        return head.staying
    decoder = Decoder(Staying)
    try:
        connection = connect(name)
    except ConnectionRefusedError:
        shutil.rmtree(meeting_folder() / name, ignore_errors=True)
        return None
    except OSError:
        return None
    with connection, contextlib.suppress(OSError):
        connection.settimeout(ANSWER_S)
        connection.sendall(encode(Ask()))
        while data := connection.recv(_READ_BYTES):
            for found in decoder.feed(data):
                return found
    return None


def _is_met(name: str) -> bool:
    """Whether an engine is still there."""
    try:
        connect(name).close()
    except OSError:
        return False
    return True


def _join(connection: socket.socket) -> None:
    """Pass on what is said in both directions, until one end ends."""
    selector = selectors.DefaultSelector()
    source = connection.detach()
    line, there = Channel(selector, 0, 1), Channel(selector, source, os.dup(source))
    ends: list[bool] = []
    line.listen(lambda data: there.write(data) if data else ends.append(True))

    def come(data: bytes) -> None:
        if data:
            line.write(data)
        else:
            ends.append(True)

    while not ends:
        there.listen(None if line.is_full else come)
        for key, _ in selector.select():
            key.data()
    while line.waiting:
        for key, _ in selector.select():
            key.data()
