"""The porter of a host: the process between the line and the engine there. It computes nothing and never waits.

It keeps stored tensors, so that they travel once, and ends the engine when the line ends or falls silent. Frames that
are not for it pass as they are. It knows neither torch nor the rest of the protocol, and starts the engine before all
else.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from typing import IO, Final, cast

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import FrameCutter, encode, framed
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.hosts.tensor_stock import Arrival, TensorStock
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.hosting import Beat, Lacking, Needs, Piece, PorterRequest
from gradstudio.protocol.parent_death import end_with_parent
from gradstudio.protocol.process_group import COMMAND, end_group

QUIET_S: Final = 8
"""A line on which nobody was heard for so long, after somebody was, is broken."""
LOOK_S: Final = 1.0
END_S: Final = 2
"""So long an engine may take to end by itself."""
BROKEN: Final = 5
OF_SIGNAL: Final = 128
"""What was ended by a signal is told as a shell tells it."""
OURS: Final = {kind.__name__ for kind in (Beat, Needs, Piece)}
AT_ONCE: Final = {"Stop", "Answer", "Watch"}
"""What waits for no stored tensor."""


class _Kind(msgspec.Struct):
    """The tag of any message."""

    type: str


_KINDS: Final = msgspec.msgpack.Decoder(_Kind)
_REQUESTS: Final = msgspec.msgpack.Decoder(PorterRequest)


class TensorDesk:
    """Gives the engine the stored tensors that its requests need; requests wait while one is on its way."""

    def __init__(self, stock: TensorStock) -> None:
        """Nothing was asked for."""
        self._stock = stock
        self._given: set[str] = set()
        self._coming: dict[str, Arrival] = {}

    @property
    def waits(self) -> bool:
        """Whether a tensor is on its way."""
        return bool(self._coming)

    def look(self, needs: Needs) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """What is here for the engine, and what is to be sent."""
        found = {}
        for digest, size in needs.tensors.items():
            if digest in self._given:
                continue
            data = self._stock.get(digest)
            if data is None:
                self._coming[digest] = Arrival(digest, size)
            else:
                self._given.add(digest)
                found[digest] = data
        return found, tuple(self._coming)

    def take(self, piece: Piece) -> tuple[dict[str, bytes], str]:
        """What is whole by this piece, and why it is not kept; "" when it is.

        Raises:
            BrokenFrame: it is something else than was asked for.
        """
        arrival = self._coming.get(piece.digest)
        if arrival is None:
            return {}, ""
        arrival.add(piece)
        if not piece.is_last:
            return {}, ""
        del self._coming[piece.digest]
        data = arrival.whole()
        self._given.add(piece.digest)
        return {piece.digest: data}, self._stock.put(piece.digest, data)


class Porter:
    """Passes frames between a line and an engine."""

    def __init__(self, options: list[str], source: int = 0, target: int = 1) -> None:
        """Start the engine with these options for whoever is on the line."""
        self._command = (*COMMAND, *options)
        pipe = subprocess.PIPE
        self._engine = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, bufsize=0)
        self._selector = selectors.DefaultSelector()
        self._line = Channel(self._selector, source, target)
        self._pipe = Channel(self._selector, _number(self._engine.stdout), _number(self._engine.stdin))
        self._desk = TensorDesk(TensorStock())
        self._requests, self._events = FrameCutter(), FrameCutter()
        self._held: deque[bytes] = deque()
        self._heard_s: float | None = None
        self._is_over = False

    def run(self) -> int:
        """Serve until the engine or the line ends; the exit code."""
        self._line.listen(self._on_line)
        self._pipe.listen(self._on_engine)
        while not self._is_over:
            for key, _ in self._selector.select(LOOK_S):
                key.data()
            self._pipe.listen(None if self._line.is_full else self._on_engine)
            if self._heard_s is not None and time.monotonic() - self._heard_s > QUIET_S:
                self._is_over = True
        return self._end()

    def leave(self, *_: object) -> None:
        """Whoever started this is gone."""
        self._is_over = True

    def _on_line(self, data: bytes) -> None:
        if not data:
            self._is_over = True
            return
        try:
            for body in self._requests.cut(data):
                self._take(body)
        except (BrokenFrame, msgspec.MsgspecError) as error:
            sys.stderr.write(f"{error}\n")
            self._is_over = True

    def _take(self, body: bytes) -> None:
        kind = _KINDS.decode(body).type
        if kind == "Beat":
            self._heard_s = time.monotonic()
        elif kind == "Piece":
            self._take_piece(_REQUESTS.decode(body))
        elif self._desk.waits and kind not in AT_ONCE:
            self._held.append(body)
        elif kind in OURS:
            self._look(_REQUESTS.decode(body))
        else:
            self._pipe.write(framed(body))

    def _look(self, needs: PorterRequest) -> None:
        assert isinstance(needs, Needs)
        found, lacking = self._desk.look(needs)
        self._give(found)
        if lacking:
            self._tell(Lacking(digests=lacking))

    def _take_piece(self, piece: PorterRequest) -> None:
        assert isinstance(piece, Piece)
        found, why_not_kept = self._desk.take(piece)
        self._give(found)
        if why_not_kept:
            from gradstudio.protocol.messages.events import Log  # seldom, and with it all other messages

            self._tell(Log(level="warning", text=f"A stored tensor is not kept on the host: {why_not_kept}."))
        while self._held and not self._desk.waits:
            self._take(self._held.popleft())

    def _give(self, tensors: dict[str, bytes]) -> None:
        if not tensors:
            return
        from gradstudio.protocol.messages.requests import Take  # and with it all other messages

        for digest, data in tensors.items():  # a frame each: none is larger than one may be
            self._pipe.write(encode(Take(tensors={digest: data})))

    def _tell(self, message: Message) -> None:
        self._line.write(encode(message))

    def _on_engine(self, data: bytes) -> None:
        if not data:
            self._is_over = True
            return
        for body in self._events.cut(data):
            self._line.write(framed(body))

    def _end(self) -> int:
        """End the engine if it has not; what it said is still said. The exit code."""
        self._pipe.close()
        cast(IO[bytes], self._engine.stdin).close()
        try:
            code = self._engine.wait(END_S)
        except subprocess.TimeoutExpired:
            end_group(self._engine.pid, self._command)
            self._engine.kill()
            code = self._engine.wait()
        deadline = time.monotonic() + END_S
        while self._line.waiting and time.monotonic() < deadline:
            for key, _ in self._selector.select(LOOK_S):
                key.data()
        return code if code >= 0 else OF_SIGNAL - code


def _number(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()


def main() -> None:
    """Serve whoever started this, with the options of the engine."""
    with contextlib.suppress(OSError):
        os.setsid()  # what ends a terminal does not end it: the end of the line does
    porter = Porter(sys.argv[1:])
    signal.signal(signal.SIGTERM, porter.leave)
    end_with_parent(by=signal.SIGTERM)
    os._exit(porter.run())


if __name__ == "__main__":
    main()
